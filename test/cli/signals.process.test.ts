import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { faultyCommand } from "../../fixtures/agents/faultyCommand.ts"
import type { Script } from "../../fixtures/agents/script.ts"
import {
  commandLine,
  greenroom,
  lastLineOf,
  endWorld,
  makeWorld,
  processesOf,
  program,
  type Running,
  start,
  until,
  type World
} from "./greenroom.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const faulty = (script: Script): ReadonlyArray<string> => {
  const { command, args } = faultyCommand(script)
  return ["run", "--policy", "approve-all", "--agent-command", commandLine([command, ...args])]
}

/** Hears no cancel, no end of input and no SIGTERM, and has a child in a session of its own. */
const deaf = faulty({
  cancelAnswer: "ignore",
  ignoreEof: true,
  ignoreTerm: true,
  on: {
    "session/prompt": [
      { do: "child", group: "session", ignoreTerm: true },
      { do: "text", text: "listening" },
      { do: "never" }
    ]
  }
})

const said = (running: Running, text: string) =>
  until(`said: ${text}`, () => running.stdout().includes(text) || running.stderr().includes(text))

/** Nobody takes what is written, so nothing moves any more. */
const standstill = async (running: Running): Promise<void> => {
  const ticks: Array<string> = []
  await until("everything stands still", () => {
    ticks.push(ticksOf(processesOf(world)))
    return (running.child.stdout?.readableLength ?? 0) > 0 && new Set(ticks.slice(-20)).size === 1
  })
}

/** The processor time of these processes. */
const ticksOf = (pids: ReadonlyArray<number>): string =>
  pids
    .map((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
        return stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).join("+")
      } catch {
        return "gone"
      }
    })
    .join(" ")

describe("a signal to greenroom run", { timeout: 60_000 }, () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`${signal} cancels the turn, ends the agent and exits with 130`, async () => {
      const running = start(world, ["run", "wait"])
      await said(running, "waiting")
      expect(processesOf(world).length).toBeGreaterThan(1)
      running.child.kill(signal)
      const ended = await running.ended
      expect([ended.code, ended.signal]).toEqual([130, null])
      expect(lastLineOf(ended.stderr)).toMatch(/^greenroom: cancelled in .*all gone$/)
    })
  }

  it("SIGINT again kills an agent that hears nothing, and what it has started", async () => {
    const running = start(
      world,
      ["--json", ...deaf, "go"].toSorted((a, b) => Number(b === "run") - Number(a === "run"))
    )
    await said(running, "listening")
    running.child.kill("SIGINT")
    await said(running, "cancelling")
    await until("the second one is obeyed", () => {
      running.child.kill("SIGINT")
      return running.stderr().includes("killing the agent")
    })
    const ended = await running.ended
    expect(ended.code).toBe(130)
    expect(lastLineOf(ended.stderr)).toMatch(/all gone$/)
    const closed = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .find(({ eventType }) => eventType === "session.closed")
    expect(closed.payload.cleanup.steps).not.toContain("SIGTERM")
  })

  it("SIGTERM again does not kill: the graces of the agent hold", async () => {
    const running = start(world, [...deaf, "--json", "go"])
    await said(running, "listening")
    running.child.kill("SIGTERM")
    await said(running, "cancelling")
    running.child.kill("SIGTERM")
    const ended = await running.ended
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([130, expect.stringMatching(/all gone$/)])
    const closed = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .find(({ eventType }) => eventType === "session.closed")
    expect(closed.payload.cleanup.steps).toEqual(["eof", "SIGTERM", "SIGKILL"])
  })

  it("before the agent is ready ends it and exits with 130", async () => {
    const running = start(world, [
      ...faulty({ on: { initialize: [{ do: "stderr", bytes: 1 }, { do: "never" }] } }),
      "go"
    ])
    await until("the agent runs", () => processesOf(world).length > 1)
    running.child.kill("SIGINT")
    const ended = await running.ended
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([
      130,
      expect.stringMatching(/^greenroom: cancelled before the prompt.*(?:all gone|none started)$/)
    ])
  })

  it("while the prompt is typed ends the command", async () => {
    const running = start(world, ["run", "-"])
    // More than a pipe holds: it is taken once the command reads.
    await new Promise((resolve) => running.child.stdin?.write("x".repeat(1024 * 1024), resolve))
    running.child.kill("SIGINT")
    const ended = await running.ended
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([130, expect.stringContaining("processes: none started")])
  })
})

describe("the reader of stdout", { timeout: 60_000 }, () => {
  it("that is gone ends the run quietly", async () => {
    const shell = spawn(
      "/bin/bash",
      [
        "-c",
        `"$0" "$1" run wait 2>"$2/stderr" | head -c 1; echo " code \${PIPESTATUS[0]}"; cat "$2/stderr"`,
        process.execPath,
        program,
        world.folder
      ],
      { cwd: world.workspace, env: world.env, stdio: ["ignore", "pipe", "inherit"] }
    )
    let output = ""
    shell.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
    await new Promise((resolve) => shell.on("close", resolve))
    const [first, ...stderr] = output.trimEnd().split("\n")
    expect(first).toBe("w code 130")
    expect(stderr.join("\n")).not.toMatch(/EPIPE|Error|cancelling/)
  })

  it("that does not read makes the agent wait, and still gets everything", async () => {
    const script = faulty({
      on: {
        "session/prompt": [
          { do: "text", times: 60_000, bytes: 200 },
          { do: "stderr", bytes: 1 }
        ]
      }
    })
    const running = start(world, [...script, "--json", "go"])
    running.child.stdout?.pause()
    await standstill(running)
    running.child.stdout?.resume()
    const ended = await running.ended
    const events = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(events.filter(({ eventType }) => eventType === "item.delta")).toHaveLength(60_000)
    expect(events.map(({ sourceSeq }) => sourceSeq)).toEqual(events.map((_, index) => index + 1))
    expect(ended.code).toBe(0)
  })

  it("that never reads does not hold up a cancelled run", async () => {
    const script = faulty({ on: { "session/prompt": [{ do: "text", times: "forever", bytes: 200 }] } })
    const running = start(world, [...script, "--json", "go"])
    running.child.stdout?.pause()
    await standstill(running)
    running.child.kill("SIGTERM")
    await until("the command has ended", () => running.child.exitCode !== null)
    running.child.stdout?.resume()
    const ended = await running.ended
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([
      130,
      expect.stringMatching(/^greenroom: cancelled.*all gone$/)
    ])
  })
})

describe("greenroom run with a timeout", { timeout: 60_000 }, () => {
  it("ends an agent that hears nothing, and what it has started", async () => {
    const ended = await greenroom(world, [...deaf, "--timeout", "3s", "go"])
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([
      124,
      expect.stringMatching(/^greenroom: timed out.*all gone$/)
    ])
  })
})
