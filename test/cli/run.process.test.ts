import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { faultyCommand } from "../../fixtures/agents/faultyCommand.ts"
import type { Script } from "../../fixtures/agents/script.ts"
import { validateEvent } from "../../src/schema/prp/event.ts"
import { commandLine, greenroom, lastLineOf, endWorld, makeWorld, type World } from "./greenroom.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const faulty = (script: Script): ReadonlyArray<string> => {
  const { command, args } = faultyCommand(script)
  return ["--agent-command", commandLine([command, ...args])]
}

const eventsIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => {
      const event = validateEvent(JSON.parse(line))
      if (Result.isFailure(event)) throw new Error(event.failure.issue)
      return event.success
    })

describe("greenroom run without a terminal", { timeout: 60_000 }, () => {
  it("has the answer alone on stdout and the last line on stderr", async () => {
    const run = await greenroom(world, ["run", "say hello there"])
    expect(run.stdout).toBe("hello there\n")
    expect(lastLineOf(run.stderr)).toMatch(
      /^greenroom: completed in [\d.]+ s; requests: 0 asked, 0 allowed, 0 denied; processes: \d+ started, all gone$/
    )
    expect(run.stderr).not.toContain("\u001b")
    expect(run.code).toBe(0)
  })

  it("rejects what would be asked once, and says so", async () => {
    const run = await greenroom(world, ["run", 'add "x" to notes.txt'])
    expect(run.stderr).toContain("Edit notes.txt: denied, because there is no terminal to ask on")
    expect(run.stdout).toContain("it was rejected")
    expect(lastLineOf(run.stderr)).toContain("requests: 1 asked, 0 allowed, 1 denied;")
    expect(existsSync(join(world.workspace, "notes.txt"))).toBe(false)
    expect(run.code).toBe(0)
  })

  it("edits and runs under approve-all, and shows the diff and the output", async () => {
    writeFileSync(join(world.workspace, "notes.txt"), "one\n")
    const run = await greenroom(world, [
      "run",
      "--policy",
      "approve-all",
      'add "two" to notes.txt run: wc -l notes.txt'
    ])
    expect(readFileSync(join(world.workspace, "notes.txt"), "utf8")).toBe("one\ntwo\n")
    expect(run.stderr).toContain("+two")
    expect(run.stderr).toContain("2 notes.txt")
    expect(lastLineOf(run.stderr)).toContain("requests: 2 asked, 2 allowed, 0 denied;")
    expect(run.stdout).not.toContain("+two")
    expect(run.code).toBe(0)
  })

  it("takes the prompt from stdin", async () => {
    const run = await greenroom(world, ["run", "-"], { input: "say from a pipe\n" })
    expect(run.stdout).toBe("from a pipe\n")
  })

  it("sends images, links and files along", async () => {
    writeFileSync(join(world.workspace, "dot.png"), Buffer.from("\u0089PNG\r\n\u001a\nrest", "latin1"))
    writeFileSync(join(world.workspace, "text.txt"), "some text")
    const files = ["--image", "dot.png", "--file", "text.txt", "--embed", "text.txt", "--embed", "dot.png"]
    const run = await greenroom(world, ["run", ...files, "say done"])
    expect(run.stdout).toContain("I see an image (image/png, 12 bytes).")
    expect(run.stdout).toContain(`You point to text.txt (file://${world.workspace}/text.txt).`)
    expect(run.stdout).toContain("text.txt (unknown type, 9 bytes).")
    expect(run.stdout).toContain("dot.png (unknown type, 12 bytes).")
  })

  it("shows no control characters of the agent, on either stream", async () => {
    const evil = "\u001b]0;title\u0007\u001b[2Jshown\u202e\u0085"
    const run = await greenroom(world, [
      "run",
      "--policy",
      "approve-all",
      ...faulty({
        on: {
          "session/prompt": [
            { do: "text", text: evil },
            { do: "update", update: { sessionUpdate: "tool_call", toolCallId: "t", title: evil, status: "completed" } }
          ]
        }
      }),
      "go"
    ])
    expect(run.stdout).toContain("shown")
    expect(run.stderr).toContain("shown")
    expect(run.stdout + run.stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  it("records the raw traffic in both directions, for its owner only", async () => {
    await greenroom(world, ["run", "--record", "traffic.jsonl", "say hello"])
    const file = join(world.workspace, "traffic.jsonl")
    const lines = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({ dir: "c2a", msg: { method: "initialize" } })
    expect(lines[1]).toMatchObject({ dir: "a2c", msg: { result: { protocolVersion: 1 } } })
    expect(lines.some(({ dir, msg }) => dir === "a2c" && msg.result?.stopReason === "end_turn")).toBe(true)
    expect(lines.at(-1)).toMatchObject({ dir: "mark", note: "exit code=0 signal=null" })
    expect(lines.every(({ t }, index) => t >= (lines[index - 1]?.t ?? 0))).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})

describe("greenroom run --json", { timeout: 60_000 }, () => {
  it("has one valid event on each line, in sequence from the first of the session to its last", async () => {
    const run = await greenroom(world, ["run", "--json", "--policy", "approve-all", 'add "x" to a.txt run: cat a.txt'])
    const events = eventsIn(run.stdout)
    expect(events.map(({ sourceSeq }) => sourceSeq)).toEqual(events.map((_, index) => index + 1))
    const types = events.map(({ eventType }) => eventType)
    expect(types[0]).toBe("harness.ready")
    expect(types.at(-1)).toBe("session.closed")
    for (const type of ["session.started", "turn.started", "item.delta", "plan.updated", "workspace.change.updated"])
      expect(types).toContain(type)
    expect(types.filter((type) => /^turn\.(?:completed|failed|interrupted|cancelled)$/.test(type))).toEqual([
      "turn.completed"
    ])
    expect(types.filter((type) => type === "runtime_request.created")).toHaveLength(2)
    expect(types.filter((type) => type === "runtime_request.resolved")).toHaveLength(2)
    expect(lastLineOf(run.stderr)).toMatch(/^greenroom: completed/)
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1)
    expect(run.code).toBe(0)
  })

  it("has every event of a flood", async () => {
    const script = faulty({ on: { "session/prompt": [{ do: "text", times: 20_000, bytes: 100 }] } })
    const run = await greenroom(world, ["run", "--json", "--policy", "approve-all", ...script, "go"])
    const events = eventsIn(run.stdout)
    expect(events.filter(({ eventType }) => eventType === "item.delta")).toHaveLength(20_000)
    expect(events.at(-1)?.sourceSeq).toBe(events.length)
  })

  it("says on stderr what was rejected", async () => {
    const run = await greenroom(world, ["run", "--json", 'add "x" to a.txt'])
    expect(run.stderr).toContain("denied, because there is no terminal to ask on")
  })
})

describe("the exit code of greenroom", { timeout: 60_000 }, () => {
  it("is 1 when the turn fails, and the reason is said", async () => {
    const run = await greenroom(world, ["run", "crash"])
    expect(run.code).toBe(1)
    expect(lastLineOf(run.stderr)).toMatch(/^greenroom: failed \(connection_closed\).*all gone$/)
  })

  it("is 1 when the agent ends before it is ready, with the end of its stderr", async () => {
    const script = faulty({
      on: {
        initialize: [
          { do: "stderr", bytes: 20 },
          { do: "exit", code: 3 }
        ]
      }
    })
    const run = await greenroom(world, ["run", "--policy", "approve-all", ...script, "go"])
    expect(run.code).toBe(1)
    expect(run.stderr).toContain("greenroom: stderr: ")
  })

  for (const [what, args] of [
    ["an unknown option", ["run", "--nope", "x"]],
    ["no prompt", ["run"]],
    ["two prompts", ["run", "say", "hello"]],
    ["an unknown command", ["walk"]],
    ["an unknown policy", ["run", "--policy", "maybe", "x"]],
    ["two agents", ["run", "--agent", "bundled", "--agent-command", "cat", "x"]],
    ["a model for the agent that has none", ["run", "--demo-model", "x"]],
    ["a model for the agent that has none, by its name", ["run", "--demo-model", "--agent", "bundled", "x"]],
    ["a workspace that is none", ["run", "--cwd", "no/such/folder", "x"]],
    ["a timeout that is none", ["run", "--timeout", "soon", "x"]],
    ["an MCP server that is no JSON", ["run", "--mcp", "{", "x"]],
    ["a recording that cannot be made", ["run", "--record", "no/such/folder", "x"]],
    ["a command with an open quote", ["run", "--agent-command", "'", "x"]]
  ] as const) {
    it(`is 2 for ${what}, with nothing on stdout`, async () => {
      const run = await greenroom(world, args)
      expect(run.code).toBe(2)
      expect(run.stdout).toBe("")
      expect(run.stderr).toMatch(/^greenroom: /)
    })
  }

  it("is 3 when the policy cannot be kept, before any process is started", async () => {
    const pidFile = join(world.folder, "started")
    const run = await greenroom(world, ["run", "--policy", "deny-all", "--agent-command", `touch ${pidFile}`, "x"])
    expect(run.code).toBe(3)
    expect(run.stderr).toContain("the policy deny-all cannot be kept with command")
    expect(lastLineOf(run.stderr)).toContain("processes: none started")
    expect(existsSync(pidFile)).toBe(false)
  })

  it("is 3 when the agent refuses", async () => {
    const script = faulty({ on: { "session/prompt": [{ do: "respond", result: { stopReason: "refusal" } }] } })
    expect((await greenroom(world, ["run", "--policy", "approve-all", ...script, "x"])).code).toBe(3)
  })

  it("is 3 when a file beside the prompt cannot be read", async () => {
    const run = await greenroom(world, ["run", "--embed", "missing.txt", "x"])
    expect(run.code).toBe(3)
    expect(run.stderr).toContain("--embed missing.txt: not a readable file")
  })

  it("is 4 when there is no such agent, or its command is not there", async () => {
    const unknown = await greenroom(world, ["run", "--agent", "nobody", "x"])
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining("known agents: bundled")])
    const missing = await greenroom(world, ["run", "--policy", "approve-all", "--agent-command", "/no/such/agent", "x"])
    expect(missing.code).toBe(4)
  })

  it("is 124 when the turn takes too long", async () => {
    const run = await greenroom(world, ["run", "--timeout", "4s", "wait"])
    expect(run.code).toBe(124)
    expect(lastLineOf(run.stderr)).toMatch(/^greenroom: timed out.*all gone$/)
  })

  it("is 124 when the agent is not ready in time", async () => {
    const script = faulty({ on: { initialize: [{ do: "never" }] } })
    const run = await greenroom(world, ["run", "--timeout", "2s", "--policy", "approve-all", ...script, "x"])
    expect(run.code).toBe(124)
    expect(lastLineOf(run.stderr)).toMatch(/^greenroom: timed out before the prompt.*all gone$/)
  })
})

describe("greenroom run --agent-command", { timeout: 60_000 }, () => {
  it("names what is missing by the word that was typed, and takes no relative path", async () => {
    const missing = await greenroom(world, ["run", "--agent-command", "no-such-agent --acp", "x"])
    expect(missing.stderr).toContain("greenroom: the agent no-such-agent is missing\n")
    expect(missing.stderr).toContain("greenroom: --agent-command takes an executable on PATH, or an absolute path\n")
    expect(missing.code).toBe(4)
    const relative = await greenroom(world, ["run", "--agent-command", "./agent.sh", "x"])
    expect(relative.stderr).toContain("the path in --agent-command must be absolute")
    expect(relative.code).toBe(4)
  })
})

describe("greenroom setup", { timeout: 60_000 }, () => {
  it("has nothing to fetch for the bundled agent", async () => {
    const run = await greenroom(world, ["setup", "bundled"])
    expect(run.stderr).toContain("the bundled agent is here already")
    expect(run.code).toBe(2)
  })
})

describe("greenroom run --demo-model", { timeout: 60_000 }, () => {
  it("ends the model when the agent cannot be given one", async () => {
    const agent = ["--policy", "approve-all", "--agent-command", "cat"]
    const run = await greenroom(world, ["run", "--demo-model", ...agent, "say hello"])
    expect(run.stderr).toContain("this agent cannot be given a model server")
    expect(lastLineOf(run.stderr)).toMatch(/processes: [1-9]\d* started, all gone$/)
    expect(run.code).toBe(1)
  })
})

describe("greenroom agents and doctor", { timeout: 60_000 }, () => {
  it("list the built-in agents and the user's own as JSON", async () => {
    const config = join(world.folder, "home", ".config", "greenroom")
    mkdirSync(config, { recursive: true })
    writeFileSync(
      join(config, "greenroom.json"),
      JSON.stringify({ agents: { mine: { command: ["my-agent", "acp"] } } })
    )
    const run = await greenroom(world, ["agents", "--json"])
    const { agents } = JSON.parse(run.stdout)
    expect(agents.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(["bundled", "copilot", "mine"]))
    expect(agents.find(({ id }: { id: string }) => id === "bundled")).toMatchObject({
      found: true,
      gate: { edit: "asks" }
    })
    expect(agents.find(({ id }: { id: string }) => id === "mine")).toMatchObject({ found: false, command: null })
    expect(run.code).toBe(0)
  })

  it("refuse a file of agents that is wrong, with its place", async () => {
    const config = join(world.folder, "home", ".config", "greenroom")
    mkdirSync(config, { recursive: true })
    writeFileSync(join(config, "greenroom.json"), JSON.stringify({ agents: { mine: { command: [] } } }))
    const run = await greenroom(world, ["agents"])
    expect([run.code, run.stdout]).toEqual([2, ""])
    expect(run.stderr).toContain("agents.mine.command")
    expect((await greenroom(world, ["run", "--agent", "mine", "x"])).code).toBe(2)
  })

  it("say which backends work here", async () => {
    const run = await greenroom(world, ["doctor", "--json"])
    const { backends, hosts } = JSON.parse(run.stdout)
    expect(backends.map(({ backend }: { backend: string }) => backend)).toEqual(["namespace", "marked"])
    expect(hosts).toEqual([])
    expect(run.code).toBe(0)
  })
})
