/**
 * The one sequencer of events: drafts come in, full envelopes go out, to every subscriber in the same order. This one keeps
 * nothing on disk.
 *
 * Guarantees: sequence numbers are contiguous from 1 in the order of the appends; a subscriber gets every event of its filter
 * or makes the appender wait; only an append that may drop (a turn that is being cancelled) leaves something out, and says
 * how much; what is forced (a terminal) always fits. Bounds: the queue of each subscriber.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Cause from "effect/Cause"
import type * as Scope from "effect/Scope"
import { envelope, type Event, type EventDraft } from "../schema/prp/event.ts"
import { limits } from "../schema/limits.ts"
import { isTurnTerminal } from "../schema/prp/terminals.ts"
import { Ids } from "../services/Ids.ts"
import { makeOrderedQueue, type Offer, type OrderedQueue } from "./orderedQueue.ts"

/** Events that happened together, in order. */
export interface Entry {
  readonly runId: string
  readonly sessionId: string
  readonly turnId?: string
  readonly drafts: ReadonlyArray<EventDraft>
  /** Size on the wire of what the drafts were made from: what they count in a subscriber's bound. */
  readonly bytes: number
}

export interface Filter {
  readonly sessionId?: string
  readonly turnId?: string
}

export interface Subscription {
  /** The next events, at least one; `undefined` at the end. One consumer. If interrupted nothing is lost. */
  readonly take: Effect.Effect<ReadonlyArray<Event> | undefined>
  readonly events: Stream.Stream<Event>
  /** No further event; what is queued is still taken. */
  readonly end: () => void
}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Sequences and delivers. Waits for subscribers that are full, unless `draining` is open or opens meanwhile: then what does
     * not fit is left out for them. Answers how many events some subscriber did not get.
     * If interrupted: everything is sequenced, what was not yet delivered counts as left out.
     */
    readonly append: (entry: Entry, draining: Latch.Latch) => Effect.Effect<number>
    /** Sequences and delivers at once, whatever the bounds say. */
    readonly force: (entry: Entry) => Effect.Effect<void>
    /** Everything that is appended from now on. Ends with the scope; one to a single turn already behind its terminal. */
    readonly subscribe: (filter: Filter) => Effect.Effect<Subscription, never, Scope.Scope>
    readonly sequence: () => number
  }
>()("greenroom/actors/Journal") {}

interface Subscriber {
  readonly filter: Filter
  readonly queue: OrderedQueue<Event>
}

export const layer: Layer.Layer<Journal, never, Ids> = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const ids = yield* Ids
    const sourceInstanceId = yield* ids.next("runner")
    const subscribers = new Set<Subscriber>()
    let sequence = 0

    const sequenced = (entry: Entry, nowMs: number): ReadonlyArray<Event> => {
      const emittedAt = DateTime.formatIso(DateTime.makeUnsafe(nowMs))
      return entry.drafts.map((draft) => {
        const sourceSeq = ++sequence
        return envelope(draft, {
          sourceEventId: `${sourceInstanceId}:${sourceSeq}`,
          sourceSeq,
          sourceInstanceId,
          runId: entry.runId,
          emittedAt,
          normalizedSessionId: entry.sessionId
        })
      })
    }

    const append = Effect.fnUntraced(function* (entry: Entry, draining: Latch.Latch) {
      if (entry.drafts.length === 0) return 0
      const events = sequenced(entry, yield* Clock.currentTimeMillis)
      const size = entry.bytes / events.length
      const sizeOf = () => size
      // Sequencing and offering are one synchronous step: no other append comes between.
      const waiting: Array<Offer> = []
      for (const subscriber of subscribers) {
        if (!matches(subscriber.filter, entry)) continue
        const offer = subscriber.queue.offer(events, sizeOf)
        if (!offer.isAdmitted()) waiting.push(offer)
      }
      return waiting.length === 0 ? 0 : yield* deliver(waiting, draining)
    })

    const deliver = (waiting: ReadonlyArray<Offer>, draining: Latch.Latch) =>
      Effect.forEach(waiting, (offer) => Effect.raceFirst(offer.admitted, draining.await), {
        discard: true
      }).pipe(
        Effect.andThen(Effect.sync(() => abandonAll(waiting))),
        Effect.onInterrupt(() => Effect.sync(() => abandonAll(waiting)))
      )

    const force = (entry: Entry) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const events = sequenced(entry, nowMs)
        for (const subscriber of subscribers) {
          if (!matches(subscriber.filter, entry)) continue
          for (const event of events) subscriber.queue.force(event, 0)
          if (subscriber.filter.turnId !== undefined && events.some(isTurnTerminal)) end(subscriber)
        }
      })

    const end = (subscriber: Subscriber) => {
      subscribers.delete(subscriber)
      subscriber.queue.end()
    }

    const subscribe = (filter: Filter) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const subscriber: Subscriber = {
            filter,
            queue: makeOrderedQueue({ entriesMax: limits.subscriberEventsMax, bytesMax: limits.subscriberBytesMax })
          }
          subscribers.add(subscriber)
          return subscriber
        }),
        (subscriber) => Effect.sync(() => end(subscriber))
      ).pipe(Effect.map((subscriber) => subscriptionOf(subscriber.queue, () => end(subscriber))))

    return Journal.of({ append, force, subscribe, sequence: () => sequence })
  })
)

/** How many events the worst served subscriber does not get. */
const abandonAll = (offers: ReadonlyArray<Offer>): number =>
  offers.reduce((most, offer) => Math.max(most, offer.abandon()), 0)

const matches = (filter: Filter, entry: Entry): boolean =>
  (filter.sessionId === undefined || filter.sessionId === entry.sessionId) &&
  (filter.turnId === undefined || filter.turnId === entry.turnId)

const subscriptionOf = (queue: OrderedQueue<Event>, end: () => void): Subscription => {
  const take = Effect.map(queue.take, (batch) => batch?.entries)
  return {
    take,
    events: Stream.fromPull(
      Effect.succeed(Effect.flatMap(take, (events) => (isFilled(events) ? Effect.succeed(events) : Cause.done())))
    ),
    end
  }
}

const isFilled = <A>(events: ReadonlyArray<A> | undefined): events is readonly [A, ...Array<A>] =>
  events !== undefined && events.length > 0
