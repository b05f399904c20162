/**
 * Peers that read the log and acknowledge it. What a peer has not acknowledged is kept for it.
 *
 * Guarantees: an acknowledgement goes forward, and not beyond what was produced; it is stored when it returns. Bounds: peers.
 */
import * as Effect from "effect/Effect"
import { AcknowledgementRefused, type JournalFailed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Change } from "../services/JournalStore.ts"

export interface Peers {
  /** From now on events are kept for it. Answers what it has acknowledged; a new one begins with the oldest that is there. */
  readonly register: (peer: string) => Effect.Effect<number, AcknowledgementRefused | JournalFailed>
  /** Everything up to this event. If interrupted it is done all the same. */
  readonly acknowledge: (peer: string, through: number) => Effect.Effect<void, AcknowledgementRefused | JournalFailed>
  /** Nothing is kept for it any more. */
  readonly forget: (peer: string) => Effect.Effect<void, JournalFailed>
  readonly acknowledged: () => ReadonlyMap<string, number>
}

export const makePeers = (
  known: ReadonlyMap<string, number>,
  produced: () => number,
  prunedThrough: () => number,
  persist: (changes: ReadonlyArray<Change>) => Effect.Effect<void, JournalFailed>
): Peers => {
  const cursors = new Map(known)

  const refused = (code: AcknowledgementRefused["code"], peer: string, through: number) =>
    new AcknowledgementRefused({
      code,
      peer,
      through,
      acknowledged: cursors.get(peer) ?? 0,
      produced: produced()
    })

  const move = (peer: string, through: number) =>
    Effect.suspend(() => {
      cursors.set(peer, through)
      return persist([{ _tag: "Peer", peer, acknowledged: through }])
    })

  return {
    register: Effect.fnUntraced(function* (peer) {
      const acknowledged = cursors.get(peer)
      if (acknowledged !== undefined) return acknowledged
      if (cursors.size >= limits.journalPeersMax) return yield* refused("too_many_peers", peer, 0)
      const first = prunedThrough()
      yield* move(peer, first)
      return first
    }),
    acknowledge: Effect.fnUntraced(function* (peer, through) {
      const acknowledged = cursors.get(peer)
      if (acknowledged === undefined) return yield* refused("peer_unknown", peer, through)
      if (through < acknowledged) return yield* refused("ack_backward", peer, through)
      if (through > produced()) return yield* refused("ack_beyond_produced", peer, through)
      if (through > acknowledged) yield* move(peer, through)
    }),
    forget: (peer) =>
      Effect.suspend(() =>
        cursors.delete(peer) ? persist([{ _tag: "Peer", peer, acknowledged: undefined }]) : Effect.void
      ),
    acknowledged: () => new Map(cursors)
  }
}
