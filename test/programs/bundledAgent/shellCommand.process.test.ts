import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { describe, expect, it } from "vitest"
import { runCommand } from "../../../src/programs/bundledAgent/shellCommand.ts"
import { limits } from "../../../src/schema/limits.ts"

const run = (command: string, signal = new AbortController().signal, onOutput: (output: string) => void = ignore) =>
  runCommand(command, tmpdir(), signal, onOutput)

const ignore = (): void => undefined

/** Resolves once the process is gone or a zombie, within 15 s. */
const gone = async (pid: number): Promise<void> => {
  const deadline = performance.now() + 15_000
  while (commandLineOf(pid) !== "") {
    if (performance.now() > deadline) throw new Error(`${pid} is still there`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}

const max = limits.bundledAgentOutputCharactersMax

describe("a command of the bundled agent", () => {
  it("tells its exit code or its signal, and both outputs", async () => {
    expect(await run("echo a; exit 3")).toEqual({ code: 3, signal: null, output: "a\n" })
    expect(await run("echo b >&2; kill -9 $$")).toEqual({ code: null, signal: "SIGKILL", output: "b\n" })
  })

  it("keeps the end of an output that is longer than the bound", async () => {
    expect((await run(`printf %${max}s end`)).output).toBe("end".padStart(max))
    expect((await run(`printf x; printf %${max}s end`)).output).toBe("end".padStart(max))
  })

  it("ends although something that it left behind holds its output", async () => {
    const { code, output } = await run("sleep 20 & echo $!")
    process.kill(Number(output), "SIGKILL")
    expect(code).toBe(0)
  })

  it("is killed with its process group by an abort", async () => {
    const stop = new AbortController()
    const end = await run("sleep 60 & echo $!; wait", stop.signal, () => stop.abort())
    expect(end).toMatchObject({ code: null, signal: "SIGKILL" })
    await gone(Number(end.output))
  })

  it("is killed when the abort came first", async () => {
    expect(await run("sleep 60", AbortSignal.abort())).toMatchObject({ code: null, signal: "SIGKILL" })
  })

  it("says why it could not start", async () => {
    const end = await runCommand("true", "/no/such/folder", new AbortController().signal, ignore)
    expect(end).toMatchObject({ code: null, signal: null, output: expect.stringContaining("ENOENT") })
  })
})
