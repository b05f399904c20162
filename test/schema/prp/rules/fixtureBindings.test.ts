import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { limits } from "../../../../src/schema/limits.ts"
import type { Path } from "../contract/places.ts"
import { withAt } from "../contract/places.ts"
import { fixtureText, validated } from "./fixtures.ts"

const parsed = (name: string): { readonly events: ReadonlyArray<object>; readonly [key: string]: unknown } =>
  JSON.parse(fixtureText(name))

const judged = (value: unknown) => {
  const result = validated(JSON.stringify(value))
  return Result.isSuccess(result)
    ? "taken"
    : { code: result.failure.code, places: result.failure.issues.map(({ path }) => path) }
}

const mismatch = (...places: ReadonlyArray<string>) => ({ code: "binding_mismatch", places })

const run = parsed("tool-calls")
const changed = (path: Path, value: unknown) => judged(withAt(run, path, value))
const call = (index: number, ...path: Path) => ["events", String(index), "payload", "semantic_tool", ...path]

describe("validateFixture", () => {
  it("tells the four reasons apart, and judges versions before shapes", () => {
    expect(Result.isFailure(validated("{")) && validated("{")).toMatchObject({ failure: { code: "invalid_json" } })
    expect(changed(["name"], 1)).toMatchObject({ code: "schema_validation", places: ["/name"] })
    expect(judged({ ...run, fixtureVersion: 2, name: 1 })).toMatchObject({ code: "unsupported_required_version" })
    expect(judged({ ...run, events: run.events.slice(0, -1) })).toEqual(mismatch("/events"))
  })

  it("judges versions where the schema leaves them open, too", () => {
    const event = { ...run.events[0], schema: "paperclip.prp.event.v2", schemaVersion: 2 }
    const refused = (changes: object) => judged({ ...run, ...changes })
    const unsupported = (place: string) => ({ code: "unsupported_required_version", places: [place] })
    const later = { schemaVersion: 2 }
    for (const name of ["semantic_tool", "stopReason"]) {
      for (const one of [run.events[0], event]) {
        const events = [{ ...one, payload: { [name]: later } }, ...run.events.slice(1)]
        expect(refused({ events }), name).toEqual(unsupported(`/events/0/payload/${name}/schemaVersion`))
      }
    }
    const { capabilities } = parsed("goal-run")
    expect(refused({ capabilities: { ...Object(capabilities), semanticTools: later } })).toEqual(
      unsupported("/capabilities/semanticTools/schemaVersion")
    )
  })

  it("holds events to the run and the session of the identity", () => {
    expect(changed(["events", "0", "runId"], "run-x")).toEqual(mismatch("/events/0/runId"))
    expect(changed(["events", "1", "normalizedSessionId"], "s")).toEqual(mismatch("/events/1/normalizedSessionId"))
  })

  it("takes a call of an event that names no session as one of the identity's", () => {
    const events = run.events.map((event) =>
      Object.fromEntries(Object.entries(event).filter(([name]) => name !== "normalizedSessionId"))
    )
    expect(judged({ ...run, events })).toBe("taken")
    const other = withAt({ ...run, events }, call(2, "correlation", "normalizedSessionId"), "other")
    expect(judged(other)).toMatchObject({
      places: expect.arrayContaining(["/events/2/payload/semantic_tool/correlation/normalizedSessionId"])
    })
  })

  it("takes an event again only if it is the same, whatever the order of its properties", () => {
    const [first = {}] = run.events
    const again = Object.fromEntries(Object.entries(first).toReversed())
    expect(judged({ ...run, events: [...run.events, again] })).toBe("taken")
    expect(judged({ ...run, events: [...run.events, { ...again, later: 1 }] })).toEqual(
      mismatch(`/events/${run.events.length}`)
    )
  })

  it("wants commands without a gap", () => {
    const { commands } = parsed("whole-run")
    const other = { ...parsed("whole-run"), commands: Array.isArray(commands) ? commands.slice(1) : [] }
    expect(judged(other)).toEqual(mismatch(...[0, 1, 2, 3].map((index) => `/commands/${index}/controllerSeq`)))
  })

  it("wants the ids of a call to be those of its event", () => {
    for (const name of ["runId", "normalizedSessionId", "turnId", "itemId"]) {
      const path = `/events/2/payload/semantic_tool/correlation/${name}`
      expect(changed(call(2, "correlation", name), "other"), name).toMatchObject({
        places: expect.arrayContaining([path])
      })
    }
    expect(changed(["events", "2", "turnId"], "turn-2")).toMatchObject({ code: "binding_mismatch" })
  })

  it("wants one input and one end of each call, about the same", () => {
    const without = (index: number) => judged({ ...run, events: run.events.filter((_, at) => at !== index) })
    expect(judged(run)).toBe("taken")
    expect(without(2)).toEqual(mismatch("/events/2/payload/semantic_tool"))
    expect(without(6)).toEqual(mismatch("/events/5/payload/semantic_tool"))
    expect(changed(call(6, "callId"), "call-1")).toEqual(
      mismatch("/events/2/payload/semantic_tool", "/events/5/payload/semantic_tool")
    )
    expect(changed(call(6, "operationId"), "other")).toEqual(mismatch("/events/6/payload/semantic_tool/operationId"))
    expect(changed(call(6, "idempotencyKey"), "key")).toEqual(
      mismatch("/events/6/payload/semantic_tool/idempotencyKey")
    )
    expect(changed(call(2, "correlation", "requestId"), "r")).toEqual(
      mismatch("/events/3/payload/semantic_tool/correlation")
    )
  })

  it("wants a reconciled call to have the ids of its input, and no request", () => {
    const [input, end] = [5, 6]
    expect(changed(call(input, "correlation", "requestId"), "request-1")).toBe("taken")
    expect(changed(call(end, "correlation", "requestId"), "request-1")).toBe("taken")
    const place = `/events/${end}/payload/semantic_tool/correlation/turnId`
    expect(changed(call(end, "correlation", "turnId"), "turn-x")).toEqual(mismatch(place, place))
  })

  it("wants one result, which is that of the fixture, and one terminal", () => {
    const last = run.events.length - 1
    expect(changed(["result", "summary"], "Another.")).toEqual(mismatch(`/events/${last - 2}/payload`))
    const second = { ...run.events[last], sourceEventId: "event-second", sourceSeq: 99 }
    expect(judged({ ...run, events: [...run.events, second] })).toEqual(mismatch("/events"))
    expect(judged({ ...run, events: run.events.slice(0, 2) })).toEqual(mismatch("/events", "/events"))
  })

  it("names at most prpIssuesMax places", () => {
    const events = Array.from({ length: limits.prpIssuesMax + 1 }, () => ({ ...run.events[0], runId: "run-x" }))
    expect(judged({ ...run, events })).toEqual(mismatch(...events.slice(1).map((_, index) => `/events/${index}/runId`)))
  })
})
