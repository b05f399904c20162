/** What tests of the actors look at: frames that an agent got, and events that the runner gave. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Runner } from "../../src/actors/Runner.ts"
import { InvariantViolated } from "../../src/schema/errors.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"

/** Lets the other fibers run until the condition holds. What never holds is a failure, not a hang. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let turns = 0; turns < 20_000; turns++) {
      if (holds()) return
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new InvariantViolated({ invariant: "test.until", detail: what }))
  })

/** Lets the other fibers run for a while, to see that something does not happen. */
export const settle: Effect.Effect<void> = Effect.repeat(Effect.yieldNow, { times: 200 })

export interface Record {
  /** Everything so far, in order. */
  readonly events: ReadonlyArray<Event>
  readonly types: () => ReadonlyArray<string>
  readonly ofType: (eventType: string) => ReadonlyArray<Event>
  readonly ofTurn: (turnId: string) => ReadonlyArray<Event>
  /** The categories of the notices. */
  readonly notices: () => ReadonlyArray<string>
  readonly notice: (category: string) => Event | undefined
  readonly untilEvent: (eventType: string, count?: number) => Effect.Effect<void>
  readonly untilNotice: (category: string) => Effect.Effect<void>
}

/** Reads every event of the runner from now on. */
export const record: Effect.Effect<Record, never, Runner | Scope.Scope> = Effect.gen(function* () {
  const events: Array<Event> = []
  const subscription = yield* (yield* Runner).events()
  const read = Effect.gen(function* () {
    for (;;) {
      const batch = yield* subscription.take
      if (batch === undefined) return
      events.push(...batch)
    }
  })
  yield* Effect.forkScoped(read, { startImmediately: true })
  const ofType = (eventType: string) => events.filter((event) => event.eventType === eventType)
  const notices = () => ofType("provider.notice.recorded")
  const notice = (category: string) => notices().find((event) => valueAt(event.payload, "category") === category)
  return {
    events,
    types: () => events.map((event) => event.eventType),
    ofType,
    ofTurn: (turnId) => events.filter((event) => event.turnId === turnId),
    notices: () => notices().map((event) => String(valueAt(event.payload, "category"))),
    notice,
    untilEvent: (eventType, count = 1) => until(eventType, () => ofType(eventType).length >= count),
    untilNotice: (category) => until(category, () => notice(category) !== undefined)
  }
})

/** Ends the agent when the scope closes, before what was opened earlier: a failed test does not wait for a silent agent. */
export const exitAtEnd = (agent: FakeAgent | undefined): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() => agent?.exit({ _tag: "Code", code: 0 }) ?? Effect.void)

export const valueAt = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (found, key) => (typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined),
    value
  )

/** The texts of an agent's messages, piece by piece. */
export const deltas = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.flatMap((event) => (event.eventType === "item.delta" ? [String(valueAt(event.payload, "text"))] : []))

export const isPrompt = (frame: Json) => frame["method"] === "session/prompt"
export const isCancel = (frame: Json) => frame["method"] === "session/cancel"

/** What the agent got in answer to its own requests, in order, without the envelope. */
export const answers = (agent: FakeAgent): ReadonlyArray<Json> =>
  agent.written.filter((frame) => frame["method"] === undefined).map(withoutEnvelope)

const withoutEnvelope = (frame: Json): Json =>
  Object.fromEntries(Object.entries(frame).filter(([key]) => key !== "jsonrpc"))

export const untilWritten = (agent: FakeAgent, is: (frame: Json) => boolean, count = 1): Effect.Effect<void> =>
  until("written", () => agent.written.filter(is).length >= count)

export const untilAnswers = (agent: FakeAgent, count: number): Effect.Effect<void> =>
  until("answers", () => answers(agent).length >= count)

export const endTurn = (prompt: Json): Json => ({ id: prompt["id"], result: { stopReason: "end_turn" } })

export const cancelled = { outcome: { outcome: "cancelled" } }
export const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } })
