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
