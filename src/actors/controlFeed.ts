/**
 * The events of one connection: read from the log where they are, written one after the other, as the peer takes them.
 *
 * Guarantees: each event that is for the peer comes once on a connection, in order, with the number of the one before; whoever
 * reads slowly is waited for. Nothing is kept for an observer, which is told when it was left behind. A named peer is not held
 * to what is not for it: that counts as acknowledged once everything else is. Bounds: what is read of the log at once.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { FrameChannelClosed } from "../schema/errors.ts"
import { ControlPlaneRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { decodePrpText } from "../schema/prp/contract/decode.ts"
import { eventForVersion, nothingMissed } from "../schema/prp/rules/downgrade.ts"
import { type Connection, eventFrameText } from "../schema/prp/transportText.ts"
import type { StoredEvent } from "../services/JournalStore.ts"
import type { DurableJournal } from "./durableJournal.ts"

export interface FeedOptions {
  readonly journal: DurableJournal["Service"]
  readonly connection: Connection
  /** The named peer and what it has acknowledged; `undefined`: an observer. */
  readonly peer: { readonly name: string; readonly acknowledged: number } | undefined
  readonly after: number
  readonly isVisible: (runId: string, seq: number) => boolean
  readonly write: (frame: string) => Effect.Effect<void, FrameChannelClosed>
}

export interface Feed {
  /** Writes events for as long as there are any. If interrupted: the event that was being written may arrive. */
  readonly pump: Effect.Effect<never, ControlPlaneRefused | FrameChannelClosed>
  /** Everything up to this number. If interrupted it is done all the same. */
  readonly acknowledge: (through: number) => Effect.Effect<void, ControlPlaneRefused>
}

export const openFeed = Effect.fnUntraced(function* (options: FeedOptions) {
  const { after, connection, isVisible, journal, peer, write } = options
  const reader = yield* Effect.catchTags(journal.follow({ after }), {
    CursorBeyond: ({ produced }) =>
      refused("cursor_beyond_produced", "no event has this number yet", {
        afterSourceSeq: after,
        producedSourceSeq: produced
      }),
    CursorExpired: ({ oldest }) =>
      refused("cursor_expired", "events behind the cursor are gone", {
        afterSourceSeq: after,
        oldestSourceSeq: oldest
      }),
    StoreFailed: journalRefused
  })
  /** The last event that was taken from us, and the last that was looked at. */
  let written = after
  let seen = after
  /** What the peer itself said, and what the journal was told. */
  let acknowledged = peer?.acknowledged ?? 0
  let told = acknowledged

  const overloaded = (oldest: number) =>
    refused("subscriber_overloaded", "the log went on without this observer", {
      afterSourceSeq: written,
      oldestSourceSeq: oldest
    })

  const tell = (name: string, through: number) =>
    Effect.suspend(() => {
      if (through <= told) return Effect.void
      told = through
      return Effect.catchTags(journal.peers.acknowledge(name, through), {
        // Of another connection of this peer, which was further.
        AcknowledgementRefused: ({ code, produced }) =>
          code === "ack_backward"
            ? Effect.void
            : refused(code, "the acknowledgement is not taken", { producedSourceSeq: produced }),
        JournalFailed: journalRefused
      })
    })

  const skip = Effect.suspend(() =>
    peer !== undefined && acknowledged >= written ? tell(peer.name, seen) : Effect.void
  )

  const writeEvent = Effect.fnUntraced(function* (stored: StoredEvent) {
    yield* write(eventFrameText(connection, forVersion(connection.version, stored), written))
    written = stored.seq
  })

  const writeAll = Effect.fnUntraced(function* (events: ReadonlyArray<StoredEvent>) {
    for (const stored of events) {
      if (isVisible(stored.runId, stored.seq)) yield* writeEvent(stored)
      seen = stored.seq
    }
  })

  const taken = (writing: ReturnType<typeof writeAll>) =>
    peer !== undefined
      ? writing
      : Effect.timeoutOrElse(writing, {
          duration: limits.observerWriteMs,
          orElse: () => Effect.flatMap(oldestOf(journal), overloaded)
        })

  const pump = reader.take.pipe(
    Effect.catchTags({
      CursorExpired: ({ oldest }) => overloaded(oldest),
      StoreFailed: journalRefused,
      JournalFailed: journalRefused
    }),
    Effect.flatMap((events) => taken(writeAll(events))),
    Effect.andThen(skip),
    Effect.forever
  )

  const acknowledge: Feed["acknowledge"] = (through) =>
    Effect.suspend((): Effect.Effect<void, ControlPlaneRefused> => {
      if (peer === undefined) return refused("peer_unknown", "an observer acknowledges nothing")
      if (through < acknowledged) {
        return refused("ack_backward", "more was acknowledged before", { ackedSourceSeq: acknowledged })
      }
      return tell(peer.name, through).pipe(
        Effect.tap(() => Effect.sync(() => void (acknowledged = Math.max(acknowledged, through)))),
        Effect.andThen(skip)
      )
    })

  const feed: Feed = { pump, acknowledge }
  return feed
})

export const refused = (
  code: ControlPlaneRefused["code"],
  reason: string,
  facts: Readonly<Record<string, unknown>> = {}
): Effect.Effect<never, ControlPlaneRefused> => Effect.fail(new ControlPlaneRefused({ code, reason, facts }))

/** The reason of a store may name places of the operator. */
export const journalRefused = ({
  code
}: {
  readonly code: "store_failed" | "p0_storage_exhausted" | "journal_closed"
}): Effect.Effect<never, ControlPlaneRefused> => refused(code, "the journal has failed")

const oldestOf = (journal: DurableJournal["Service"]) =>
  Effect.match(journal.follow({ after: 0 }), {
    onSuccess: () => 1,
    onFailure: (error) => (error._tag === "CursorExpired" ? error.oldest : 1)
  })

/** Only what may be of v2 is parsed. */
const forVersion = (version: number, stored: StoredEvent): StoredEvent => {
  if (version >= 2 || !stored.json.includes("paperclip.prp.event.v2")) return stored
  const event = decodePrpText("event", stored.json)
  return Result.isFailure(event)
    ? stored
    : { ...stored, json: JSON.stringify(eventForVersion(version, event.success, nothingMissed).event) }
}
