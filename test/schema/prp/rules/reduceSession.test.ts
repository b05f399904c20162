import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import { emptySession, reduceSession, type ReplayedEvent } from "../../../../src/schema/prp/rules/reduceSession.ts"
import { goldenText } from "../../../../src/schema/prp/rules/sessionSnapshot.ts"
import { fixture, fixtureNames } from "./fixtures.ts"

const { name, identity, capabilities } = fixture("whole-run")
const start = emptySession(name, identity, capabilities)

const event = (eventType: string, payload: unknown, sourceSeq: number): ReplayedEvent => ({
  sourceEventId: `event-${sourceSeq}`,
  sourceSeq,
  sourceKind: "runner",
  sourceInstanceId: "runner-1",
  eventType,
  emittedAt: "2026-01-02T03:04:05Z",
  payload
})

const after = (...events: ReadonlyArray<readonly [string, unknown]>) =>
  reduceSession(
    start,
    events.map(([eventType, payload], index) => event(eventType, payload, index + 1))
  )

describe("reduceSession", () => {
  it("takes a run in any batches to the same end", () => {
    for (const run of fixtureNames.filter((each) => each !== "version-3")) {
      const { events } = fixture(run)
      const whole = reduceSession(start, events)
      const single = events.reduce((snapshot, one) => reduceSession(snapshot, [one]), start)
      expect(goldenText({ ...single, duplicateEventIds: [] })).toBe(goldenText({ ...whole, duplicateEventIds: [] }))
    }
  })

  it("keeps which events came more than once in a batch before", () => {
    const twice = [event("turn.started", {}, 2), event("turn.started", {}, 2), event("turn.started", {}, 1)]
    const once = reduceSession(start, twice)
    const { duplicateEventIds, outOfOrderEventIds } = reduceSession(once, [...twice.slice(2), ...twice.slice(2)])
    expect(once.duplicateEventIds).toEqual(["event-2"])
    expect(duplicateEventIds).toEqual(["event-1", "event-2"])
    expect(outOfOrderEventIds).toEqual(["event-1"])
  })

  it("lets an item be of the kind that was told last", () => {
    const item = (eventType: string, payload: unknown, seq: number) => ({
      ...event(eventType, payload, seq),
      itemId: "i"
    })
    const kinds = [{ kind: "reasoning" }, { kind: "command" }, {}].map((_, index, all) => {
      const events = all.slice(0, index + 1).map((payload, at) => item("item.delta", payload, at + 1))
      return reduceSession(start, events).items[0]?.kind
    })
    expect(kinds).toEqual(["reasoning", "command", "command"])
  })

  it("knows no turn by an event that names none, and no request without an id", () => {
    const turn = { ...event("turn.started", {}, 1), turnId: "turn-1" }
    expect(reduceSession(start, [turn]).activeTurnId).toBe("turn-1")
    expect(reduceSession(start, [turn, event("turn.started", {}, 2)]).activeTurnId).toBeNull()
    expect(after(["runtime_request.created", { prompt: "p" }]).requests).toEqual([])
  })

  it("does not change what it is given", () => {
    const before = reduceSession(start, fixture("whole-run").events.slice(0, 20))
    const text = goldenText(before)
    reduceSession(before, fixture("whole-run").events)
    expect(goldenText(before)).toBe(text)
  })

  it("lets the last of several terminals win, and keeps requests that wait", () => {
    const { terminal, requests, runPhase } = after(
      ["runtime_request.created", { requestId: "r" }],
      ["runtime_request.created", { requestId: "r", prompt: "another" }],
      ["run.terminal", { runTerminalState: "failed" }],
      ["turn.interrupted", {}],
      ["run.terminal", { runTerminalState: "succeeded" }]
    )
    expect(terminal).toEqual({ runTerminalState: "succeeded" })
    expect(runPhase).toBe("terminal")
    expect(requests).toEqual([
      { requestId: "r", requestKind: "runtime", type: "runtime", status: "pending", prompt: "" }
    ])
  })

  it("takes a payload of any shape", () => {
    const shapes = [null, 1, "text", [], { phase: 1, text: null, request: "r", requestId: [] }, { request: null }]
    const types = [...new Set(fixture("whole-run").events.map(({ eventType }) => eventType))]
    for (const shape of shapes) {
      const events = types.map((type) => [type, shape] as const)
      expect(after(...events).timeline).toHaveLength(types.length)
    }
  })

  const pool = fixtureNames.filter((each) => each !== "version-3").flatMap((run) => fixture(run).events)

  const Choice = Schema.Struct({
    index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: pool.length - 1 })),
    seq: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
    id: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
  })

  it.effect.prop(
    "is total on events of the contract in any order, and idempotent on what comes again",
    { choices: Schema.Array(Choice) },
    ({ choices }) =>
      Effect.sync(() => {
        const events = choices.flatMap(({ index, seq, id }) => {
          const changed = { ...pool[index], sourceSeq: seq, sourceEventId: `event-${id}` }
          return Result.match(decodePrp("event", changed), { onSuccess: (one) => [one], onFailure: () => [] })
        })
        expect(events).toHaveLength(choices.length)
        const once = reduceSession(start, events)
        const again = reduceSession(once, events)
        const known = { ...once, duplicateEventIds: again.duplicateEventIds }
        expect(goldenText(again)).toBe(goldenText(known))
        expect(new Set(once.processedEventIds).size).toBe(once.processedEventIds.length)
        expect(once.timeline.map(({ position }) => position)).toEqual(once.timeline.map((_, index) => index + 1))
        expect(once.integrity === "complete").toBe(once.gaps.length + once.outOfOrderEventIds.length === 0)
      }),
    { arbitrary: { runs: 300 } }
  )
})
