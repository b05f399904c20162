/**
 * Events of PRP: the draft that the projection and the actors make, and the envelope that the journal mints around it, of v2
 * for what v1 does not have and of v1 for everything else.
 *
 * `EventEnvelope` is the contract, for events from anywhere: it refuses an unknown event type, a typed payload that is not of
 * its type, and every unknown property of one; unknown properties of open objects are kept. `EmittedEvent` is
 * narrower: what our own events hold besides.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { EventInvalid } from "../errors.ts"
import { AnyEvent, payloadOf } from "./contract/event.ts"
import { type Priority, priorityOf } from "./eventType.ts"
import { payloads, type EmittedEventType, type EventPayloads } from "./payload.ts"

/** One event without its place in a sequence. Values are shared, never copied: nobody may change them. */
export interface Draft<Type extends EmittedEventType> {
  readonly eventType: Type
  readonly turnId?: string
  readonly itemId?: string
  readonly priority: Priority
  readonly payload: EventPayloads[Type]
  /** Open. `native` is what the agent sent, whole. In process only: a wire bounds or drops it. */
  readonly debug?: Readonly<Record<string, unknown>>
}

/** Tells its payload by `eventType`. */
export type EventDraft = { readonly [Type in EmittedEventType]: Draft<Type> }[EmittedEventType]

/** Of the envelope. */
export type EventVersion = 1 | 2

/** A peer of v1 knows none of those that are told here. */
export const versionOf = (eventType: EmittedEventType): EventVersion =>
  eventType === "session.capabilities.updated" || eventType === "session.goal.snapshot" ? 2 : 1

/** Where the event stands in the sequence of its source. */
export interface Stamp {
  readonly sourceEventId: string
  readonly sourceSeq: number
  readonly sourceInstanceId: string
  readonly runId: string
  /** RFC 3339. */
  readonly emittedAt: string
  readonly normalizedSessionId: string
}

/** What the journal adds to a draft. */
export interface Sequenced extends Stamp {
  readonly schema: "paperclip.prp.event.v1" | "paperclip.prp.event.v2"
  readonly schemaVersion: EventVersion
  readonly sourceKind: "runner"
}

/** A full envelope. Tells its payload by `eventType`. */
export type Event = EventDraft & Sequenced

/**
 * The draft in its envelope. The draft is not looked at: whoever made it answers for its payload. Written out, the copy first:
 * every event of a flood passes here, and so it takes a third of the time.
 */
export const envelope = <Of extends EventDraft>(draft: Of, stamp: Stamp): Of & Sequenced => ({
  ...draft,
  schema: schemas[versionOf(draft.eventType)],
  schemaVersion: versionOf(draft.eventType),
  sourceKind: "runner",
  sourceEventId: stamp.sourceEventId,
  sourceSeq: stamp.sourceSeq,
  sourceInstanceId: stamp.sourceInstanceId,
  runId: stamp.runId,
  emittedAt: stamp.emittedAt,
  normalizedSessionId: stamp.normalizedSessionId
})

const schemas = { 1: "paperclip.prp.event.v1", 2: "paperclip.prp.event.v2" } as const

/** A draft with the priority of its type. */
export const draftOf = <Type extends EmittedEventType>(
  eventType: Type,
  payload: EventPayloads[Type],
  about: { readonly turnId?: string; readonly itemId?: string; readonly debug?: Readonly<Record<string, unknown>> } = {}
): Draft<Type> => ({ eventType, priority: priorityOf(eventType), payload, ...about })

/** An event of any type and any source, of either version. */
export const EventEnvelope = AnyEvent
export type EventEnvelope = typeof EventEnvelope.Type

/** An event as we make them. */
export const EmittedEvent = EventEnvelope.check(payloadOf(payloads))

const isEmitted = Schema.is(EmittedEvent)

/** One of ours, from anywhere. The check is that of its envelope and of its payload, which together are the type. */
export const isEmittedEvent = (value: unknown): value is Event =>
  isEmitted(value) && Object.hasOwn(payloads, value.eventType)

const decodeEvent = Schema.decodeUnknownResult(EventEnvelope)

/** The event, with unknown optional properties kept, or why it is none. */
export const validateEvent = (value: unknown): Result.Result<EventEnvelope, EventInvalid> =>
  Result.mapError(decodeEvent(value), (error) => new EventInvalid({ issue: error.message }))
