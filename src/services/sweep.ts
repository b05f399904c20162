/**
 * Looks for what is left of a launch until two looks in a row find nothing: a look at the process table is not atomic, and a
 * process in the middle of an `exec` shows no environment.
 *
 * Guarantees: never more than the caller's bound; what is still there at the bound is returned, never forgotten.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { limits } from "../schema/limits.ts"
import type { Os, ProcessIdentity } from "./Os.ts"

type OsService = Os["Service"]

/** A look at what is alive. */
export type Look = Effect.Effect<ReadonlyArray<ProcessIdentity>>

/** Completes when two looks in a row found nothing. Unbounded by itself. If interrupted: no effect. */
export const untilNoneLeft: (
  look: Look,
  onFound?: (found: ReadonlyArray<ProcessIdentity>) => Effect.Effect<void>
) => Effect.Effect<void> = Effect.fnUntraced(function* (look, onFound = () => Effect.void) {
  let pauseMs: number = limits.sweepPauseMsMin
  let empty = 0
  for (;;) {
    const found = yield* look
    empty = found.length === 0 ? empty + 1 : 0
    if (empty === 2) return
    if (found.length > 0) yield* onFound(found)
    yield* Effect.sleep(pauseMs)
    pauseMs = Math.min(pauseMs * 2, limits.sweepPauseMsMax)
  }
})

/**
 * Sends SIGKILL to everything that the look shows until nothing is left, or `boundMs` are over. Returns what is left.
 * `onKill` runs before each round of signals.
 */
export const sweep = (
  os: Pick<OsService, "signal">,
  look: Look,
  boundMs: number,
  onKill: Effect.Effect<void> = Effect.void
): Look =>
  untilNoneLeft(look, (found) =>
    Effect.andThen(
      onKill,
      Effect.forEach(found, (identity) => os.signal(identity, "SIGKILL"), { discard: true })
    )
  ).pipe(
    Effect.timeoutOption(boundMs),
    Effect.flatMap((done) => (Option.isSome(done) ? Effect.succeed([]) : look))
  )
