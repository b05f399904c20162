import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as durableJournal from "../../src/actors/durableJournal.ts"
import { Journal, layer, type Subscription } from "../../src/actors/Journal.ts"
import { limits } from "../../src/schema/limits.ts"
import { draftOf, type Event, type EventDraft } from "../../src/schema/prp/event.ts"
import { turnTerminal } from "../../src/schema/prp/projection.ts"
import * as Ids from "../../src/services/Ids.ts"
import * as memory from "../../src/layers/store/memory.ts"

/** Both journals are the same to whoever appends and subscribes. */
const journals = {
  "a journal": Layer.provide(layer, Ids.layer),
  "a journal that keeps": Layer.provide(durableJournal.layer(), [Ids.layer, memory.layer])
} as const

const started = (turnId = "t1"): EventDraft => draftOf("turn.started", {}, { turnId })

const times = (count: number): ReadonlyArray<EventDraft> => Array.from({ length: count }, () => started())

/** What happened together in session `s1`: so many events, from so many bytes of wire. */
const entry = (count: number, bytes = 0, about: { readonly sessionId?: string; readonly turnId?: string } = {}) => ({
  runId: "r1",
  sessionId: "s1",
  drafts: times(count),
  bytes,
  ...about
})

const neverDrains = () => Latch.makeUnsafe(false)

const sequences = (events: ReadonlyArray<Event> | undefined) => events?.map((event) => event.sourceSeq)

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

/** In one piece or several. */
const takeAll = Effect.fnUntraced(function* (subscription: Subscription, count: number) {
  const taken: Array<number> = []
  while (taken.length < count) taken.push(...((yield* takeSequences(subscription)) ?? []))
  return taken
})

const takeSequences = (subscription: Subscription) => Effect.map(subscription.take, sequences)

/** Forks the append and says whether it had to wait. */
const appending = Effect.fnUntraced(function* (what: ReturnType<typeof entry>, draining = neverDrains()) {
  const fiber = yield* Effect.forkChild((yield* Journal).append(what, draining), { startImmediately: true })
  return { fiber, isWaiting: () => fiber.pollUnsafe() === undefined }
})

for (const [name, journal] of Object.entries(journals)) {
  describe(`${name}: the sequence of a journal`, () => {
    it.effect("has no gap, whatever is appended and forced, and is stamped by the clock", () =>
      Effect.gen(function* () {
        const { append, force, sequence, subscribe } = yield* Journal
        const subscription = yield* subscribe({})
        yield* TestClock.setTime(1_000)
        expect(yield* append(entry(3), neverDrains())).toBe(0)
        expect(yield* append(entry(0), neverDrains())).toBe(0)
        yield* force(entry(2))
        yield* append(entry(1), neverDrains())
        const events = yield* subscription.take
        expect(sequences(events)).toEqual([1, 2, 3, 4, 5, 6])
        expect(sequence()).toBe(6)
        expect(new Set(events?.map((event) => event.sourceEventId)).size).toBe(6)
        expect(events?.[0]).toMatchObject({
          sourceKind: "runner",
          runId: "r1",
          normalizedSessionId: "s1",
          turnId: "t1",
          emittedAt: "1970-01-01T00:00:01.000Z"
        })
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("is the same for all subscribers, each with what its filter lets through", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const all = yield* subscribe({})
        const ofSession = yield* subscribe({ sessionId: "s1" })
        const ofTurn = yield* subscribe({ sessionId: "s1", turnId: "t2" })
        const places = [{}, { sessionId: "s2" }, { turnId: "t2" }, { sessionId: "s2", turnId: "t2" }, { turnId: "t2" }]
        yield* Effect.forEach(places, (place) => append(entry(1, 0, place), neverDrains()))
        expect(yield* takeSequences(all)).toEqual([1, 2, 3, 4, 5])
        expect(yield* takeSequences(ofSession)).toEqual([1, 3, 5])
        expect(yield* takeSequences(ofTurn)).toEqual([3, 5])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("begins for a subscriber with its subscription", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        yield* append(entry(2), neverDrains())
        const late = yield* subscribe({})
        yield* append(entry(1), neverDrains())
        expect(yield* takeSequences(late)).toEqual([3])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )
  })

  describe(`${name}: a subscriber that does not read`, () => {
    it.effect("holds as many events as the bound; the next append waits until it reads", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        expect(yield* append(entry(limits.subscriberEventsMax), neverDrains())).toBe(0)
        const next = yield* appending(entry(1))
        expect(next.isWaiting()).toBe(true)
        expect(yield* takeSequences(slow)).toEqual(upTo(limits.subscriberEventsMax))
        expect(yield* Fiber.join(next.fiber)).toBe(0)
        expect(yield* takeSequences(slow)).toEqual([limits.subscriberEventsMax + 1])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("holds as many bytes as the bound; one byte more waits until it reads", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        yield* append(entry(2, limits.subscriberBytesMax - 10), neverDrains())
        expect(yield* append(entry(2, 10), neverDrains())).toBe(0)
        expect(yield* takeSequences(slow)).toEqual([1, 2, 3, 4])
        yield* append(entry(2, limits.subscriberBytesMax - 10), neverDrains())
        const past = yield* appending(entry(1, 11))
        expect(past.isWaiting()).toBe(true)
        expect(yield* takeSequences(slow)).toEqual([5, 6])
        expect(yield* Fiber.join(past.fiber)).toBe(0)
        expect(yield* takeSequences(slow)).toEqual([7])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("takes one event that is larger than the bound, alone", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        expect(yield* append(entry(1, limits.subscriberBytesMax + 1), neverDrains())).toBe(0)
        const next = yield* appending(entry(1, 1))
        expect(next.isWaiting()).toBe(true)
        expect(yield* takeSequences(slow)).toEqual([1])
        expect(yield* Fiber.join(next.fiber)).toBe(0)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("makes several appenders wait, and gets their events in the order of their calls", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        const fast = yield* subscribe({})
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        yield* fast.take
        const waiting = [yield* appending(entry(2)), yield* appending(entry(1)), yield* appending(entry(2))]
        expect(waiting.every((one) => one.isWaiting())).toBe(true)
        const rest = upTo(limits.subscriberEventsMax + 5, limits.subscriberEventsMax + 1)
        expect(yield* takeAll(fast, rest.length)).toEqual(rest)
        yield* slow.take
        yield* Fiber.joinAll(waiting.map((one) => one.fiber))
        expect(yield* takeSequences(slow)).toEqual(rest)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("is waited for beside every other one that is full, and not by an append of nothing", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const subscriptions = [yield* subscribe({}), yield* subscribe({}), yield* subscribe({})]
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        const waiting = yield* appending(entry(1))
        expect(yield* append(entry(0), neverDrains())).toBe(0)
        for (const subscription of subscriptions) {
          expect(waiting.isWaiting()).toBe(true)
          yield* subscription.take
        }
        expect(yield* Fiber.join(waiting.fiber)).toBe(0)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("does not keep an append waiting that it does not match", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        yield* subscribe({ sessionId: "s1" })
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        expect(yield* append(entry(5, 0, { sessionId: "s2" }), neverDrains())).toBe(0)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("gets what is forced behind what waits, whatever its bounds say", () =>
      Effect.gen(function* () {
        const { append, force, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        yield* append(entry(limits.subscriberEventsMax, limits.subscriberBytesMax), neverDrains())
        const waiting = yield* appending(entry(2, 100))
        yield* force(entry(2))
        expect(yield* Fiber.join(waiting.fiber)).toBe(0)
        expect(yield* takeSequences(slow)).toEqual(upTo(limits.subscriberEventsMax + 4))
      }).pipe(Effect.scoped, Effect.provide(journal))
    )
  })

  describe(`${name}: an append that drains`, () => {
    it.effect("leaves out what does not fit, counts it, and goes on with what comes after", () =>
      Effect.gen(function* () {
        const { append, force, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        yield* append(entry(limits.subscriberEventsMax - 2), neverDrains())
        const draining = Latch.makeUnsafe(true)
        expect(yield* append(entry(5), draining)).toBe(3)
        yield* force(entry(1))
        const max = limits.subscriberEventsMax
        expect(yield* takeSequences(slow)).toEqual([...upTo(max), max + 4])
        expect(yield* append(entry(5), draining)).toBe(0)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("stops waiting when the draining begins", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        yield* subscribe({})
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        const draining = neverDrains()
        const waiting = yield* appending(entry(4), draining)
        expect(waiting.isWaiting()).toBe(true)
        draining.openUnsafe()
        expect(yield* Fiber.join(waiting.fiber)).toBe(4)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("counts for the subscriber that got least, and gives the others everything", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const full = yield* subscribe({})
        const half = yield* subscribe({ sessionId: "s1" })
        const empty = yield* subscribe({ turnId: "t1" })
        yield* append(entry(2, 0, { sessionId: "s2" }), neverDrains())
        yield* append(entry(limits.subscriberEventsMax - 2), neverDrains())
        const draining = Latch.makeUnsafe(true)
        expect(yield* append(entry(5, 0, { turnId: "t1" }), draining)).toBe(5)
        expect((yield* full.take)?.length).toBe(limits.subscriberEventsMax)
        expect((yield* half.take)?.length).toBe(limits.subscriberEventsMax)
        expect((yield* empty.take)?.length).toBe(5)
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("that is interrupted instead takes back what was not delivered", () =>
      Effect.gen(function* () {
        const { append, sequence, subscribe } = yield* Journal
        const slow = yield* subscribe({})
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        const waiting = yield* appending(entry(3))
        yield* Fiber.interrupt(waiting.fiber)
        yield* slow.take
        yield* append(entry(1), neverDrains())
        // What was not kept yet takes no number.
        const last = limits.subscriberEventsMax + (name === "a journal" ? 4 : 1)
        expect(sequence()).toBe(last)
        expect(yield* takeSequences(slow)).toEqual([last])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )
  })

  describe(`${name}: the end of a subscription`, () => {
    it.effect("comes with its scope: what is queued is taken, nobody waits for it any more", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const scope = yield* Scope.make()
        const subscription = yield* subscribe({}).pipe(Scope.provide(scope))
        yield* append(entry(limits.subscriberEventsMax), neverDrains())
        const waiting = yield* appending(entry(1))
        yield* Scope.close(scope, Exit.void)
        expect(yield* Fiber.join(waiting.fiber)).toBe(0)
        yield* append(entry(limits.subscriberEventsMax * 2), neverDrains())
        expect((yield* subscription.take)?.length).toBe(limits.subscriberEventsMax)
        expect(yield* subscription.take).toBeUndefined()
      }).pipe(Effect.provide(journal))
    )

    it.effect("may come before its scope ends, and ends the stream behind the last event", () =>
      Effect.gen(function* () {
        const { append, subscribe } = yield* Journal
        const subscription = yield* subscribe({})
        yield* append(entry(3), neverDrains())
        subscription.end()
        subscription.end()
        expect(yield* append(entry(limits.subscriberEventsMax * 2), neverDrains())).toBe(0)
        expect(sequences(yield* Stream.runCollect(subscription.events))).toEqual([1, 2, 3])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )

    it.effect("comes with the terminal, for a subscription to one turn", () =>
      Effect.gen(function* () {
        const { append, force, subscribe } = yield* Journal
        const ofTurn = yield* subscribe({ sessionId: "s1", turnId: "t1" })
        const all = yield* subscribe({})
        const outcome = { _tag: "Cancelled", by: "interrupt", acknowledged: false, written: false } as const
        yield* append(entry(1, 0, { turnId: "t1" }), neverDrains())
        yield* force({
          ...entry(0, 0, { turnId: "t1" }),
          drafts: [started(), turnTerminal("t1", { ...outcome, undeliveredEvents: 0 })]
        })
        yield* append(entry(1, 0, { turnId: "t1" }), neverDrains())
        expect(sequences(yield* Stream.runCollect(ofTurn.events))).toEqual([1, 2, 3])
        expect(yield* takeSequences(all)).toEqual([1, 2, 3, 4])
      }).pipe(Effect.scoped, Effect.provide(journal))
    )
  })
}
