import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { faultyCommand } from "../../fixtures/agents/faultyCommand.ts"
import type { Script } from "../../fixtures/agents/script.ts"
import { commandLine, lastLineOf, endWorld, makeWorld, until, type World } from "./greenroom.ts"
import { screenOf, startOnTerminal, startShellOnTerminal, type Terminal } from "./terminal.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Terminal =>
  startOnTerminal(world, args, env)

const faulty = (script: Script): ReadonlyArray<string> => {
  const { command, args } = faultyCommand(script)
  return ["run", "--agent-command", commandLine([command, ...args])]
}

const shows = (terminal: Terminal, text: string) => until(`shown: ${text}`, () => terminal.screen().includes(text))

/** A key that comes too soon is not heard, so it is pressed until something happens. */
const pressUntil = async (terminal: Terminal, key: string, what: string, condition: () => boolean) => {
  let looks = 0
  await until(what, () => {
    if (looks++ % 20 === 0 && !condition()) terminal.press(key)
    return condition()
  })
}

const question = "The agent asks for permission"
const isAsked = (terminal: Terminal) => terminal.screen().includes(question)
const notes = () => readFileSync(join(world.workspace, "notes.txt"), "utf8")

describe("a question on the terminal", { timeout: 60_000 }, () => {
  it("shows what the agent wants to do to what, and is answered with one key", async () => {
    writeFileSync(join(world.workspace, "notes.txt"), "one\n")
    const terminal = start(["run", 'add "two" to notes.txt'])
    await shows(terminal, question)
    const card = terminal.screen()
    for (const text of ["Edit notes.txt", "edit · notes.txt", "+two", "[1] Allow", "[3] Reject"])
      expect(card).toContain(text)
    await pressUntil(terminal, "1", "the question is answered", () => terminal.screen().includes("allowed by you"))
    expect(await terminal.ended).toBe(0)
    expect(notes()).toBe("one\ntwo\n")
    expect(terminal.screen()).not.toContain(question)
    expect(lastLineOf(terminal.screen())).toContain("requests: 1 asked, 1 allowed, 0 denied;")
  })

  it("takes n for the plain no, and asks nothing further of an agent that gives up", async () => {
    const terminal = start(["run", 'add "two" to notes.txt run: ls'])
    await shows(terminal, question)
    await pressUntil(terminal, "n", "the question is answered", () => terminal.screen().includes("denied by you"))
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(world.workspace, "notes.txt"))).toBe(false)
  })

  it("is not answered by keys that were typed before it could be read", async () => {
    const terminal = start(["run", 'add "two" to notes.txt'])
    await shows(terminal, "starting")
    terminal.press("1")
    await shows(terminal, question)
    await pressUntil(terminal, "3", "the question is answered", () => terminal.screen().includes("by you"))
    expect(terminal.screen()).toContain("denied by you")
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(world.workspace, "notes.txt"))).toBe(false)
  })

  it("is over when Ctrl-C cancels the turn", async () => {
    const terminal = start(["run", 'add "two" to notes.txt'])
    await shows(terminal, question)
    terminal.press("\u0003")
    expect(await terminal.ended).toBe(130)
    expect(terminal.screen()).not.toContain(question)
    expect(terminal.screen()).toContain("because the turn was cancelled")
    expect(lastLineOf(terminal.screen())).toMatch(/^greenroom: cancelled in .*1 asked, 0 allowed, 1 denied.*all gone$/)
  })

  it("goes away when the agent takes it back", async () => {
    const terminal = start(
      faulty({
        on: {
          "session/prompt": [
            { do: "permission", kind: "edit", wait: false, ids: ["q"] },
            { do: "delay", ms: 1500 },
            { do: "withdraw", id: "q" },
            { do: "text", text: "never mind" }
          ]
        }
      }).concat("go")
    )
    await shows(terminal, question)
    await until("the question is gone", () => !isAsked(terminal))
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toContain("because the agent took it back")
  })

  it("is asked also when stdout is a file, which gets the answer alone", async () => {
    const terminal = startShellOnTerminal(world, '"$@" > answer.txt', ["run", 'add "two" to notes.txt'])
    await shows(terminal, question)
    await pressUntil(terminal, "y", "the question is answered", () => terminal.screen().includes("allowed by you"))
    expect(await terminal.ended).toBe(0)
    expect(readFileSync(join(world.workspace, "answer.txt"), "utf8")).toBe("I created notes.txt.\n")
  })

  it("leaves the terminal as it was", async () => {
    const terminal = startShellOnTerminal(world, '"$@"; stty -a', ["run", 'add "two" to notes.txt'])
    await shows(terminal, question)
    terminal.press("\u0003")
    await terminal.ended
    expect(terminal.output()).toMatch(/(?<!-)\bicanon\b/)
    expect(terminal.output()).toMatch(/(?<!-)\becho\b/)
  })
})

describe("Ctrl-C on the terminal", { timeout: 60_000 }, () => {
  it("once cancels the turn", async () => {
    const terminal = start(["run", "wait"])
    await shows(terminal, "waiting")
    terminal.press("\u0003")
    expect(await terminal.ended).toBe(130)
    expect(lastLineOf(terminal.screen())).toMatch(/^greenroom: cancelled in .*all gone$/)
  })

  it("twice kills an agent that does not listen", async () => {
    const script = { cancelAnswer: "ignore", ignoreEof: true, ignoreTerm: true } as const
    const terminal = start([
      ...faulty({ ...script, on: { "session/prompt": [{ do: "text", text: "deaf" }, { do: "never" }] } }),
      "go"
    ])
    await shows(terminal, "deaf")
    await pressUntil(terminal, "\u0003", "the agent is killed", () => terminal.screen().includes("killing the agent"))
    expect(await terminal.ended).toBe(130)
    expect(lastLineOf(terminal.screen())).toMatch(/^greenroom: cancelled in .*all gone$/)
  })
})

describe("colours", { timeout: 60_000 }, () => {
  // oxlint-disable-next-line no-control-regex -- colours are what it looks for
  const colour = /\u001b\[[0-9;]*m/

  it("are used on a terminal", async () => {
    const terminal = start(["run", "--policy", "approve-all", 'add "two" to notes.txt'])
    expect(await terminal.ended).toBe(0)
    expect(terminal.output()).toMatch(colour)
  })

  it("are not used against NO_COLOR", async () => {
    const terminal = start(["run", "--policy", "approve-all", 'add "two" to notes.txt'], { NO_COLOR: "1" })
    expect(await terminal.ended).toBe(0)
    expect(terminal.output()).not.toMatch(colour)
  })
})

describe("the screen of these tests", () => {
  it("knows lines, up and clear", () => {
    expect(screenOf("one\r\ntwo\r\n\u001b[2A\r\u001b[Jthree\r\nab\r\u001b[31mx\u001b[39m")).toBe("three\nxb")
  })
})
