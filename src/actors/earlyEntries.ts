/**
 * What an agent sends before it has answered `initialize`, kept for whoever gets the connection.
 *
 * Bounds: as for updates of a session that is not known yet. What does not fit is counted and told in one entry; a request
 * among it is answered safely.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { limits } from "../schema/limits.ts"
import type { Entry } from "./frameRouter.ts"

export interface EarlyEntries {
  /** The answers of requests that do not fit go out in the scope, and are not waited for. */
  readonly keep: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, never, Scope.Scope>
  /** What was kept, in order. */
  readonly entries: () => ReadonlyArray<Entry>
}

export const makeEarlyEntries = (): EarlyEntries => {
  const kept: Array<Entry> = []
  let bytes = 0
  let dropped = 0

  const keepOne = (entry: Entry): Effect.Effect<void, never, Scope.Scope> => {
    if (entry._tag === "Asked") return Effect.void
    const fits = kept.length < limits.unknownSessionFramesMax && bytes + entry.bytes <= limits.unknownSessionBytesMax
    if (fits) {
      kept.push(entry)
      bytes += entry.bytes
      return Effect.void
    }
    dropped++
    return entry._tag === "Request"
      ? Effect.asVoid(Effect.forkScoped(entry.slot.answerSafely, { startImmediately: true }))
      : Effect.void
  }

  return {
    keep: (entries) => Effect.forEach(entries, keepOne, { discard: true }),
    entries: () =>
      dropped === 0
        ? kept
        : [...kept, { _tag: "Anomaly", anomaly: "early_frames_dropped", detail: `${dropped} frames`, bytes: 0 }]
  }
}
