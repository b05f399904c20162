/** Runs one shell command in a session of its own, as real agents do. */
import { spawn } from "node:child_process"
import { limits } from "../../schema/limits.ts"

export interface CommandEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The end of stdout and stderr, as they came. */
  readonly output: string
}

/** Resolves when the command has ended. An abort kills it and everything in its process group. */
export const runCommand = (
  command: string,
  cwd: string,
  signal: AbortSignal,
  onOutput: (output: string) => void
): Promise<CommandEnd> =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    const kill = (): void => {
      // Until its exit was seen, the number of the group is certainly the command's.
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      process.kill(-child.pid, "SIGKILL")
    }
    const end = (code: number | null, killedBy: string | null): void => {
      signal.removeEventListener("abort", kill)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ code, signal: killedBy, output })
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8")
      stream.on("data", (text: string) => {
        output = (output + text).slice(-limits.bundledAgentOutputCharactersMax)
        onOutput(output)
      })
    }
    child.on("error", (error) => {
      output = error.message
      end(null, null)
    })
    child.on("exit", (code, killedBy) => {
      const bound = setTimeout(() => end(code, killedBy), limits.bundledAgentDrainMs)
      child.on("close", () => {
        clearTimeout(bound)
        end(code, killedBy)
      })
    })
    signal.addEventListener("abort", kill)
    if (signal.aborted) kill()
  })
