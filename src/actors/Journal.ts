/**
 * The one sequencer of events: drafts come in, full envelopes go out, to every subscriber in the same order. The layer of this
 * file keeps nothing; `durableJournal.ts` has the one that does.
 *
 * Guarantees: sequence numbers are contiguous from 1 in the order of the events; a subscriber gets every event of its filter
 * or makes the appender wait; only an append that may drop (a turn that is being cancelled) leaves something out, and says
 * how much; what is forced (a terminal) always fits. Bounds: the queue of each subscriber.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { TurnsRefused } from "../schema/errors.ts"
import { envelope, type Event, type EventDraft } from "../schema/prp/event.ts"
import { Ids } from "../services/Ids.ts"
import type { StoredRecord } from "../services/JournalStore.ts"
import { deliver, type Filter, makeSubscribers, type Subscription } from "./journalSubscribers.ts"

export type { Filter, Subscription } from "./journalSubscribers.ts"

/** Events that happened together, in order. */
export interface Entry {
  readonly runId: string
  readonly sessionId: string
  readonly turnId?: string
  readonly drafts: ReadonlyArray<EventDraft>
  /** Size on the wire of what the drafts were made from: what they count in a subscriber's bound. */
  readonly bytes: number
  /** Kept in the commit of the last event, by a journal that keeps anything. */
  readonly records?: ReadonlyArray<StoredRecord>
}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Sequences and delivers. Waits for subscribers that are full, unless `draining` is open or opens meanwhile: then what does
     * not fit is left out for them. Answers how many events some subscriber did not get.
     * If interrupted: everything is sequenced, what was not yet delivered counts as left out. A journal that keeps events also
     * leaves out, and counts, what it has no room for, and sequences nothing that it was not yet keeping when interrupted.
     */
    readonly append: (entry: Entry, draining: Latch.Latch) => Effect.Effect<number>
    /** Sequences and delivers at once, whatever the bounds say. */
    readonly force: (entry: Entry) => Effect.Effect<void>
    /** Everything that is appended from now on. Ends with the scope; one to a single turn already behind its terminal. */
    readonly subscribe: (filter: Filter) => Effect.Effect<Subscription, never, Scope.Scope>
    /** The number of the last event. */
    readonly sequence: () => number
    /** Fails while the events of a new turn could not be kept. */
    readonly admitsTurns: Effect.Effect<void, TurnsRefused>
  }
>()("greenroom/actors/Journal") {}

export const layer: Layer.Layer<Journal, never, Ids> = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const ids = yield* Ids
    const source = newSource(yield* ids.next("runner"))
    const subscribers = makeSubscribers()

    const append = Effect.fnUntraced(function* (entry: Entry, draining: Latch.Latch) {
      if (entry.drafts.length === 0) return 0
      const events = source.sequenced(entry, yield* Clock.currentTimeMillis)
      // Sequencing and offering are one synchronous step: no other append comes between.
      const waiting = subscribers.publish(entry, events, entry.bytes / events.length)
      return waiting.length === 0 ? 0 : yield* deliver(waiting, draining)
    })

    const force = (entry: Entry) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => subscribers.force(entry, source.sequenced(entry, nowMs)))

    return Journal.of({
      append,
      force,
      subscribe: subscribers.subscribe,
      sequence: source.sequence,
      admitsTurns: Effect.void
    })
  })
)

/** Numbers events, contiguously from 1. */
export const newSource = (sourceInstanceId: string) => {
  let sequence = 0
  const sequencedAt = (entry: Entry, emittedAt: string): ReadonlyArray<Event> =>
    entry.drafts.map((draft) => eventOf(draft, entry, sourceInstanceId, ++sequence, emittedAt))
  return {
    sequence: () => sequence,
    sequencedAt,
    sequenced: (entry: Entry, nowMs: number) => sequencedAt(entry, instantOf(nowMs))
  }
}

/** RFC 3339. */
export const instantOf = (nowMs: number): string => DateTime.formatIso(DateTime.makeUnsafe(nowMs))

export const eventOf = (
  draft: EventDraft,
  { runId, sessionId }: Pick<Entry, "runId" | "sessionId">,
  sourceInstanceId: string,
  sourceSeq: number,
  emittedAt: string
): Event =>
  envelope(draft, {
    sourceEventId: `${sourceInstanceId}:${sourceSeq}`,
    sourceSeq,
    sourceInstanceId,
    runId,
    emittedAt,
    normalizedSessionId: sessionId
  })
