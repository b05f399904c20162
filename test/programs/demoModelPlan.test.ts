import { describe, expect, it } from "vitest"
import { plannedTurn } from "../../src/programs/demoModel/plan.ts"
import { parseScript } from "../../src/programs/demoModel/script.ts"
import { offerOf } from "../../src/programs/demoModel/wire.ts"
import type { ModelRequest } from "../../src/programs/demoModel/wire.ts"

const request = (fields: Partial<ModelRequest>): ModelRequest => ({
  model: "m",
  stream: true,
  tools: [],
  prompt: "run: ls",
  toolResult: undefined,
  images: [],
  commandsUntrusted: false,
  ...fields
})

const string = { type: "string" }
const tool = (name: string, properties: object, required: ReadonlyArray<string> = []) =>
  offerOf(name, { type: "object", properties, required })

const others = [...tool("read", { path: string }), ...tool("edit", { path: string })]

const agents: ReadonlyArray<readonly [string, Partial<ModelRequest>, object]> = [
  [
    "Copilot",
    {
      tools: [
        ...others,
        ...tool("bash", { command: string, description: string, mode: string, detach: { type: "boolean" } })
      ]
    },
    { name: "bash", args: { command: "ls", description: "Does what the prompt asks for", mode: "sync" } }
  ],
  [
    "opencode",
    { tools: tool("bash", { command: string, description: string, timeout: { type: "number" } }) },
    { name: "bash", args: { command: "ls", description: "Does what the prompt asks for" } }
  ],
  [
    "Claude",
    { tools: tool("Bash", { command: string, description: string }) },
    { name: "Bash", args: { command: "ls", description: "Does what the prompt asks for" } }
  ],
  ["Pi", { tools: tool("bash", { command: string }) }, { name: "bash", args: { command: "ls" } }],
  [
    "Codex",
    {
      tools: tool("exec_command", {
        cmd: string,
        yield_time_ms: {},
        sandbox_permissions: string,
        justification: string
      })
    },
    {
      name: "exec_command",
      args: {
        cmd: "ls",
        yield_time_ms: 10_000,
        sandbox_permissions: "require_escalated",
        justification: "Do you want this command to run outside of the sandbox?"
      }
    }
  ],
  [
    "Codex under the untrusted policy",
    { commandsUntrusted: true, tools: tool("exec_command", { cmd: string, sandbox_permissions: string }) },
    { name: "exec_command", args: { cmd: "ls" } }
  ],
  [
    "an agent whose command is a list",
    { tools: tool("shell", { command: { type: "array" } }) },
    { name: "shell", args: { command: ["bash", "-lc", "ls"] } }
  ],
  [
    "an agent that requires more",
    {
      tools: tool("run_shell_command", { command: string, is_background: { type: "boolean" } }, [
        "command",
        "is_background"
      ])
    },
    { name: "run_shell_command", args: { command: "ls", is_background: false } }
  ]
]

describe("the plan of the demo model", () => {
  for (const [agent, fields, call] of agents)
    it(`calls the shell of ${agent}`, () => {
      expect(plannedTurn(request(fields)).calls).toEqual([call])
    })

  it("does everything that the prompt asks for in one command", () => {
    const prompt = 'add "a" to x.md\nrun: cat x.md'
    const { calls } = plannedTurn(request({ prompt, tools: tool("bash", { command: string }) }))
    expect(calls?.[0]?.args).toEqual({ command: "printf '%s\\n' 'a' >> 'x.md' && cat x.md" })
  })

  it("says what it would run where there is no shell", () => {
    expect(plannedTurn(request({ tools: others }))).toEqual({ text: "There is no shell here. I would run: ls" })
  })

  it("hangs when it shall wait, and fails when it shall crash", () => {
    expect(plannedTurn(request({ prompt: "wait" }))).toEqual({ text: "waiting", hang: true })
    expect(plannedTurn(request({ prompt: "crash" }))).toEqual({ status: 500 })
  })

  it("repeats no more than 200 characters of a result", () => {
    const text = (length: number) => plannedTurn(request({ toolResult: "x".repeat(length) })).text
    expect(text(200)?.endsWith("x")).toBe(true)
    expect(text(201)?.endsWith("x…")).toBe(true)
  })
})

describe("a script of the demo model", () => {
  it("is an array of turns", () => {
    const turns = [{ text: "a", calls: [{ name: "x", args: {} }], hang: true, chunkDelayMs: 1 }, { status: 500 }, {}]
    expect(parseScript(JSON.stringify(turns))).toEqual(turns)
    for (const wrong of ["{}", "[1]", '[{"text":1}]', '[{"calls":[{}]}]', '[{"hang":"yes"}]'])
      expect(() => parseScript(wrong)).toThrow(/script/)
  })
})
