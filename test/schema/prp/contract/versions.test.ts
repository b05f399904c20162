import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import type { PrpKind } from "../../../../src/schema/prp/contract/kinds.ts"
import { samples } from "./samples.ts"
import { withAt } from "./places.ts"

const rejected = (kind: PrpKind, value: unknown) => {
  const decoded = decodePrp(kind, value)
  return Result.isFailure(decoded) ? [decoded.failure.code, ...decoded.failure.issues.map(({ path }) => path)] : []
}

const tool = samples["paperclip.prp.semantic_tool.v1"]
const event = samples["paperclip.prp.event.v1"]
const toolEvent = { ...event, eventType: "mcp_app.tool_result", payload: { semantic_tool: tool } }
const fixture = { ...samples["paperclip.prp.fixture.v1"], events: [toolEvent, event] }

describe("a required version", () => {
  const cases: ReadonlyArray<readonly [PrpKind, unknown, place: string, unsupported: unknown]> = [
    ["event", event, "schema", "paperclip.prp.event.v3"],
    ["paperclip.prp.event.v1", event, "schema", "paperclip.prp.event.v2"],
    ["event", event, "schemaVersion", 2],
    ["event", samples["paperclip.prp.event.v2"], "schemaVersion", 1],
    ["event", event, "payload/schema", "paperclip.prp.terminal.v2"],
    ["event", event, "payload/stopReason/schemaVersion", 2],
    ["event", event, "payload/stopReason/schema", "paperclip.prp.stop_reason.v12"],
    ["event", toolEvent, "payload/semantic_tool/schemaVersion", 2],
    ["event", toolEvent, "payload/semantic_tool/schema", "paperclip.prp.semantic_tool.v2"],
    ["command", samples["paperclip.prp.command.v1"], "schema", "paperclip.prp.command.v3"],
    ["capabilities", samples["paperclip.prp.capabilities.v1"], "schema", "paperclip.prp.capabilities.v3"],
    ["capabilities", samples["paperclip.prp.capabilities.v1"], "semanticTools/schemaVersion", 2],
    ["paperclip.prp.terminal.v1", samples["paperclip.prp.terminal.v1"], "stopReason/schemaVersion", 0],
    ["paperclip.prp.stop_reason.v1", samples["paperclip.prp.stop_reason.v1"], "schemaVersion", 2],
    ["paperclip.prp.semantic_tool.v1", tool, "schemaVersion", 2],
    ["request", samples["paperclip.runtime_request.v2"], "schema", "paperclip.runtime_request.v3"],
    ["paperclip.prp.fixture.v1", fixture, "protocolVersion", 3],
    ["paperclip.prp.fixture.v1", fixture, "fixtureVersion", 2],
    ["paperclip.prp.fixture.v1", fixture, "commands/1/schema", "paperclip.prp.command.v3"],
    ["paperclip.prp.fixture.v1", fixture, "events/0/payload/semantic_tool/schemaVersion", 7],
    ["paperclip.prp.fixture.v1", fixture, "events/1/schemaVersion", 2],
    ["paperclip.prp.fixture.v1", fixture, "capabilities/semanticTools/schemaVersion", 2]
  ]
  for (const [kind, value, place, unsupported] of cases) {
    const later = withAt(value, place.split("/"), unsupported)

    it(`is refused as such for a ${kind} with ${JSON.stringify(unsupported)} at ${place}`, () => {
      expect(rejected(kind, value)).toEqual([])
      expect(rejected(kind, later)).toEqual(["unsupported_required_version", `/${place}`])
    })

    it(`comes before whatever else is wrong with a ${kind} that has it at ${place}`, () => {
      const broken = withAt(withAt(later, ["runId"], 1), ["identity"], [])
      expect(rejected(kind, broken)).toEqual(["unsupported_required_version", `/${place}`])
    })
  }

  it("is none when it is missing, of another type or of another name", () => {
    const { schemaVersion: _, ...without } = event
    for (const [value, path] of [
      [without, "/schemaVersion"],
      [{ ...event, schemaVersion: "2" }, "/schemaVersion"],
      [{ ...event, schemaVersion: 1.5 }, "/schemaVersion"],
      [{ ...event, schema: "paperclip.prp.event.vX" }, "/schema"],
      [{ ...event, schema: "paperclip.prp.events.v2" }, "/schema"],
      [{ ...event, schema: 1 }, "/schema"]
    ] as const) {
      expect(rejected("event", value)).toEqual(["schema_validation", path])
    }
  })

  it("stands in a payload that the event type leaves open without being looked at", () => {
    const payload = { semantic_tool: { schemaVersion: 9 }, stopReason: { schemaVersion: 9 } }
    expect(rejected("event", { ...event, eventType: "item.delta", payload })).toEqual([])
  })
})

describe("a family", () => {
  it("is told apart by the value's own schema", () => {
    expect(rejected("event", event)).toEqual([])
    expect(rejected("event", samples["paperclip.prp.event.v2"])).toEqual([])
    expect(rejected("event", { ...event, eventType: "session.goal.snapshot", payload: {} })).toEqual([
      "schema_validation",
      "/eventType"
    ])
  })

  it("refuses goal commands of v1", () => {
    const goal = { ...samples["paperclip.prp.command.v1"], type: "session.goal.get" }
    expect(rejected("command", goal)).toEqual(["schema_validation", "/type"])
    expect(rejected("command", { ...goal, schema: "paperclip.prp.command.v2" })).toEqual([])
  })
})
