import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { describe, expect, it, vi } from "vitest"
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

/** Turns of the event loop until the condition holds, within 15 s. */
const turnsUntil = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 15_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${condition.toString()}`)
    await new Promise((resolve) => setImmediate(resolve))
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

  it("has its output read for a while after its end, when something that it left behind holds it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      let isEnded = false
      let said = ""
      const running = run("sleep 60 & echo $!", undefined, (output) => (said = output))
      void running.then(() => (isEnded = true))
      await turnsUntil(() => said !== "" && vi.getTimerCount() === 1)
      await vi.advanceTimersByTimeAsync(limits.bundledAgentDrainMs - 1)
      expect(isEnded).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      process.kill(Number((await running).output), "SIGKILL")
    } finally {
      vi.useRealTimers()
    }
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
