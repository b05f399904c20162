import { assert, describe, it } from "@effect/vitest"
import { gateVerdict } from "../../src/services/gate.ts"
import type { GateTrait, Traits } from "../../src/services/Provider.ts"

const traits = (edit: GateTrait, execute: GateTrait, fetch: GateTrait = "asks"): Pick<Traits, "gate"> => ({
  gate: { edit, execute, fetch, mcp: fetch }
})

const gate = ["asks", "sandboxed", "silent", "unknown"] as const

/** What each policy says of an agent whose edits and commands are so. */
const table: ReadonlyArray<readonly [GateTrait, GateTrait, deny: string, ask: string]> = [
  ["asks", "asks", "Open", "Open"],
  ["asks", "sandboxed", "Open", "Open"],
  ["asks", "silent", "NotEnforceable execute", "NotEnforceable execute"],
  ["asks", "unknown", "NotEnforceable execute", "OpenUnverified execute"],
  ["sandboxed", "asks", "Open", "Open"],
  ["sandboxed", "sandboxed", "Open", "Open"],
  ["sandboxed", "silent", "NotEnforceable execute", "NotEnforceable execute"],
  ["sandboxed", "unknown", "NotEnforceable execute", "OpenUnverified execute"],
  ["silent", "asks", "NotEnforceable edit", "NotEnforceable edit"],
  ["silent", "sandboxed", "NotEnforceable edit", "NotEnforceable edit"],
  ["silent", "silent", "NotEnforceable edit,execute", "NotEnforceable edit,execute"],
  ["silent", "unknown", "NotEnforceable edit,execute", "NotEnforceable edit"],
  ["unknown", "asks", "NotEnforceable edit", "OpenUnverified edit"],
  ["unknown", "sandboxed", "NotEnforceable edit", "OpenUnverified edit"],
  ["unknown", "silent", "NotEnforceable edit,execute", "NotEnforceable execute"],
  ["unknown", "unknown", "NotEnforceable edit,execute", "OpenUnverified edit,execute"]
]

const verdict = (policy: Parameters<typeof gateVerdict>[0], of: Pick<Traits, "gate">): string => {
  const made = gateVerdict(policy, of)
  return made._tag === "Open" ? made._tag : `${made._tag} ${made.effects.join(",")}`
}

describe("gate", () => {
  it.each(table.map((row) => [...row] as const))(
    "edit %s, execute %s: deny-all %s, asking %s",
    (edit, execute, deny, ask) => {
      assert.strictEqual(verdict("deny-all", traits(edit, execute)), deny)
      assert.strictEqual(verdict("ask", traits(edit, execute)), ask)
      assert.strictEqual(verdict("approve-reads", traits(edit, execute)), ask)
      assert.strictEqual(verdict("approve-all", traits(edit, execute)), "Open")
    }
  )

  it("has a row for every pair", () => {
    assert.strictEqual(new Set(table.map(([edit, execute]) => `${edit} ${execute}`)).size, gate.length ** 2)
  })

  it("does not promise anything about fetches and MCP servers", () => {
    for (const fetch of gate) assert.strictEqual(verdict("deny-all", traits("asks", "sandboxed", fetch)), "Open")
  })
})
