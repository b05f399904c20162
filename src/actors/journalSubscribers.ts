/**
 * Who listens to a journal in this process, each with a bounded queue of its own.
 *
 * Guarantees: all get the events of their filter in one order; who is full makes the publisher wait, or is left out; what is
 * forced always fits. A subscription to one turn ends behind its terminal.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Event } from "../schema/prp/event.ts"
import { limits } from "../schema/limits.ts"
import { isTurnTerminal } from "../schema/prp/terminals.ts"
import { makeOrderedQueue, type Offer, type OrderedQueue } from "./orderedQueue.ts"

export interface Filter {
  readonly sessionId?: string
  readonly turnId?: string
}

/** Where events belong. */
export interface Place {
  readonly sessionId: string
  readonly turnId?: string
}

export interface Subscription {
  /** The next events, at least one; `undefined` at the end. One consumer. If interrupted nothing is lost. */
  readonly take: Effect.Effect<ReadonlyArray<Event> | undefined>
  readonly events: Stream.Stream<Event>
  /** No further event; what is queued is still taken. */
  readonly end: () => void
}

export interface Subscribers {
  /** Whether anybody would get an event of that place. */
  readonly hear: (place: Place) => boolean
  /** To all that match, as far as they have room; what waits for room comes back. */
  readonly publish: (place: Place, events: ReadonlyArray<Event>, bytesEach: number) => ReadonlyArray<Offer>
  /** To all that match, whatever their bounds say. */
  readonly force: (place: Place, events: ReadonlyArray<Event>) => void
  readonly subscribe: (filter: Filter) => Effect.Effect<Subscription, never, Scope.Scope>
}

interface Subscriber {
  readonly filter: Filter
  readonly queue: OrderedQueue<Event>
}

export const makeSubscribers = (): Subscribers => {
  const subscribers = new Set<Subscriber>()

  const hear = (place: Place) => {
    for (const subscriber of subscribers) if (matches(subscriber.filter, place)) return true
    return false
  }

  const publish = (place: Place, events: ReadonlyArray<Event>, bytesEach: number): ReadonlyArray<Offer> => {
    const waiting: Array<Offer> = []
    const sizeOf = () => bytesEach
    for (const subscriber of subscribers) {
      if (!matches(subscriber.filter, place)) continue
      const offer = subscriber.queue.offer(events, sizeOf)
      if (!offer.isAdmitted()) waiting.push(offer)
    }
    return waiting
  }

  const force = (place: Place, events: ReadonlyArray<Event>) => {
    for (const subscriber of subscribers) {
      if (!matches(subscriber.filter, place)) continue
      for (const event of events) subscriber.queue.force(event, 0)
      if (subscriber.filter.turnId !== undefined && events.some(isTurnTerminal)) end(subscriber)
    }
  }

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

  return { hear, publish, force, subscribe }
}

/**
 * Waits until all are admitted, unless `draining` is open or opens meanwhile, and answers how many events the worst served
 * subscriber does not get. If interrupted: what was not admitted is taken back.
 */
export const deliver = (waiting: ReadonlyArray<Offer>, draining: Latch.Latch): Effect.Effect<number> =>
  Effect.forEach(waiting, (offer) => Effect.raceFirst(offer.admitted, draining.await), { discard: true }).pipe(
    Effect.andThen(Effect.sync(() => abandonAll(waiting))),
    Effect.onInterrupt(() => Effect.sync(() => abandonAll(waiting)))
  )

/** How many events the worst served subscriber does not get. */
export const abandonAll = (offers: ReadonlyArray<Offer>): number =>
  offers.reduce((most, offer) => Math.max(most, offer.abandon()), 0)

const matches = (filter: Filter, place: Place): boolean =>
  (filter.sessionId === undefined || filter.sessionId === place.sessionId) &&
  (filter.turnId === undefined || filter.turnId === place.turnId)

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
