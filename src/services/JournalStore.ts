/**
 * Where the durable journal keeps what must survive its process: events, acknowledgements, commands, open requests, records.
 *
 * An interface only. A store has one holder at a time. It keeps what it is given and judges none of it.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CursorExpired, StoreFailed } from "../schema/errors.ts"
import type { CommandEntry, CommandJournal } from "../schema/prp/rules/commandJournal.ts"

export interface StoredEvent {
  /** Contiguous from 1. */
  readonly seq: number
  readonly priority: number
  readonly runId: string
  readonly sessionId: string
  /** The envelope, as it goes over a wire. */
  readonly json: string
  /** Of `json` in UTF-8. */
  readonly bytes: number
}

export interface StoredRecord {
  readonly kind: "run" | "session" | "turn"
  readonly id: string
  /** JSON. */
  readonly value: unknown
}

export interface StoredRequest {
  readonly requestId: string
  /** JSON: the event that created the request. */
  readonly created: unknown
}

export type Change =
  /** The name of the source of all events. Once, before the first. */
  | { readonly _tag: "Source"; readonly sourceInstanceId: string }
  | ({ readonly _tag: "Event" } & StoredEvent)
  /** Events up to this one are not needed any more. Never of those that come with the same commit. */
  | { readonly _tag: "Pruned"; readonly through: number }
  /** `undefined`: the peer is forgotten. */
  | { readonly _tag: "Peer"; readonly peer: string; readonly acknowledged: number | undefined }
  /** One entry, new or changed; those up to `compactedThrough` are forgotten. */
  | {
      readonly _tag: "Command"
      readonly stream: string
      readonly entry: CommandEntry
      readonly compactedThrough: number
    }
  /** Nothing is known of its commands any more, as if there had been none. */
  | { readonly _tag: "CommandsForgotten"; readonly stream: string }
  /** `undefined`: it is not open any more. */
  | { readonly _tag: "Request"; readonly requestId: string; readonly created: unknown }
  /** `undefined`: removed. */
  | ({ readonly _tag: "Record" } & StoredRecord)

/** Everything but the events themselves. */
export interface Loaded {
  /** `undefined`: nothing was ever stored. */
  readonly sourceInstanceId: string | undefined
  readonly lastSeq: number
  readonly prunedThrough: number
  /** Of the events behind `prunedThrough`, in order. */
  readonly bytes: ReadonlyArray<number>
  readonly peers: ReadonlyMap<string, number>
  readonly commands: ReadonlyMap<string, CommandJournal>
  readonly requests: ReadonlyArray<StoredRequest>
  readonly records: ReadonlyArray<StoredRecord>
}

export interface ReadOptions {
  readonly after: number
  readonly eventsMax: number
  /** One larger event comes alone. */
  readonly bytesMax: number
}

export class JournalStore extends Context.Service<
  JournalStore,
  {
    readonly load: Effect.Effect<Loaded, StoreFailed>
    /** All of it or nothing, durable when it returns. One at a time. If interrupted: all of it or nothing. */
    readonly commit: (changes: ReadonlyArray<Change>) => Effect.Effect<void, StoreFailed>
    /** The events behind `after`, in order; none at the end. */
    readonly read: (options: ReadOptions) => Effect.Effect<ReadonlyArray<StoredEvent>, StoreFailed | CursorExpired>
  }
>()("greenroom/services/JournalStore") {}
