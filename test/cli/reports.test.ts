import { describe, expect, it } from "vitest"
import { agentFact, agentLines, type AgentRow } from "../../src/cli/agents.ts"
import { verdictOf } from "../../src/cli/doctor.ts"
import { plain } from "../../src/cli/paint.ts"
import * as Effect from "effect/Effect"

const row = (located: AgentRow["located"]): AgentRow => ({
  located,
  provider: {
    id: "mine",
    name: "My\u001b agent",
    traits: {
      gate: { edit: "asks", execute: "asks", fetch: "silent", mcp: "unknown" },
      toolKindTrusted: false,
      closesToolsOnCancel: false
    },
    locate: () => Effect.succeed(located),
    launch: () => Effect.never
  }
})

describe("the report of an agent", () => {
  const found = row({ _tag: "Found", command: "/bin/agent", args: ["acp"], version: undefined })
  const missing = row({ _tag: "Missing", hint: "install it" })

  it("says how it starts, or what is missing, and what it asks before doing", () => {
    expect(agentLines(found, plain)).toEqual([
      "✓ mine My\ufffd agent of unknown version",
      "  starts: /bin/agent acp",
      "  gate: asks: edit, execute; silent: fetch; unknown: mcp"
    ])
    expect(agentLines(missing, plain).slice(0, 2)).toEqual(["✗ mine My\ufffd agent", "  missing: install it"])
  })

  it("has null for what is not known", () => {
    expect(agentFact(found)).toMatchObject({ found: true, version: null, command: ["/bin/agent", "acp"], hint: null })
    expect(agentFact(missing)).toMatchObject({ found: false, version: null, command: null, hint: "install it" })
  })
})

describe("the verdict of the doctor", () => {
  const identity = { pid: 8, startTime: "1", bootId: "b", pidNamespace: "n" }
  const host = {
    path: "/l",
    host: identity,
    gone: true,
    reason: "no such process",
    launches: 1,
    processes: [identity],
    homes: []
  }
  const ledger = { host: identity, hostGone: true, reason: "no such process", path: "/l", entries: [], homes: [] }
  const broken = { backend: "namespace", usable: false, reason: "not allowed" } as const
  const backends = [broken, { backend: "marked", usable: true, reason: "works" } as const]

  it("is good when one backend works and no dead host has left anything", () => {
    expect(verdictOf({ backends, hosts: [] }, undefined)).toBe(0)
    expect(verdictOf({ backends, hosts: [{ ...host, processes: [] }] }, undefined)).toBe(0)
    expect(verdictOf({ backends, hosts: [{ ...host, gone: false }] }, undefined)).toBe(0)
  })

  it("is a failure when no backend works", () => {
    expect(verdictOf({ backends: [broken], hosts: [] }, undefined)).toBe(1)
  })

  it("is not clean while something of a dead host is left", () => {
    expect(verdictOf({ backends, hosts: [host] }, undefined)).toBe(5)
    expect(verdictOf({ backends, hosts: [host] }, [{ ledger, survivors: [], keptHomes: [] }])).toBe(0)
    expect(verdictOf({ backends, hosts: [host] }, [{ ledger, survivors: [identity], keptHomes: [] }])).toBe(5)
  })

  it("is not clean while a private home of a dead host is left", () => {
    const homes = ["/homes/a"]
    const kept = { path: "/homes/a", reason: "EACCES" }
    expect(verdictOf({ backends, hosts: [{ ...host, processes: [], homes }] }, undefined)).toBe(5)
    expect(verdictOf({ backends, hosts: [{ ...host, gone: false, processes: [], homes }] }, undefined)).toBe(0)
    expect(verdictOf({ backends, hosts: [] }, [{ ledger, survivors: [], keptHomes: [kept] }])).toBe(5)
  })
})
