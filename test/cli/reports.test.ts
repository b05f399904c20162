import { describe, expect, it } from "vitest"
import { agentFact, agentLines, type AgentRow } from "../../src/cli/agents.ts"
import { type Diagnosis, diagnosisLines, verdictOf } from "../../src/cli/doctor.ts"
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

describe("the report of the doctor", () => {
  const diagnosis: Diagnosis = {
    node: "v24.0.0",
    platform: "linux",
    backends: [
      { backend: "namespace", usable: false, reason: "not allowed\u001b" },
      { backend: "marked", usable: true, reason: "works" }
    ],
    hosts: [],
    reaped: false
  }
  const host = { pid: 7, isGone: true, reason: "no such process", ledger: "/l", launches: 2, left: [8, 9] }

  it("names the backends and why", () => {
    expect(diagnosisLines(diagnosis, plain)).toEqual([
      "node v24.0.0 on linux",
      "✗ backend namespace: not allowed\ufffd",
      "✓ backend marked: works",
      "no other host has a ledger here"
    ])
  })

  it("names what is left of a dead host, and what to do", () => {
    expect(diagnosisLines({ ...diagnosis, hosts: [host] }, plain).at(-1)).toBe(
      "✗ host 7 (no such process), 2 launches: processes left: 8, 9; end them with --reap"
    )
    expect(diagnosisLines({ ...diagnosis, hosts: [host], reaped: true }, plain).at(-1)).toContain("could not be ended")
    expect(diagnosisLines({ ...diagnosis, hosts: [{ ...host, isGone: false, left: [] }] }, plain).at(-1)).toContain(
      "not touched"
    )
  })

  it("is a failure when nothing works here, and not clean when something is left", () => {
    expect(verdictOf(diagnosis)).toBe(0)
    expect(verdictOf({ ...diagnosis, backends: diagnosis.backends.slice(0, 1) })).toBe(1)
    expect(verdictOf({ ...diagnosis, hosts: [host] })).toBe(5)
    expect(verdictOf({ ...diagnosis, hosts: [{ ...host, left: [] }] })).toBe(0)
  })
})
