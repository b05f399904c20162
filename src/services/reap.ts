/**
 * What a start does with the ledgers of other hosts, as a pure policy over `Os`: ends what the dead ones left behind.
 *
 * Guarantees: a ledger is touched only when its own host is proven gone; processes are found by marker only, never by a
 * number that was written down; a ledger whose launches are not all proven gone stays.
 */
import * as Effect from "effect/Effect"
import { limits } from "../schema/limits.ts"
import type { ForeignLedger, Os, ProcessIdentity } from "./Os.ts"
import { sweep } from "./sweep.ts"

export interface Reaped {
  readonly ledger: ForeignLedger
  readonly survivors: ReadonlyArray<ProcessIdentity>
}

/** Ends the leftovers of every dead host, each launch within the grace of SIGKILL. If interrupted: the rest is left. */
export const reap: (os: Pick<Os["Service"], "signal" | "census" | "ledger">) => Effect.Effect<ReadonlyArray<Reaped>> =
  Effect.fnUntraced(function* (os) {
    const dead = (yield* os.ledger.foreign).filter((ledger) => ledger.hostGone)
    return yield* Effect.forEach(dead, (ledger) => reapLedger(os, ledger))
  })

const reapLedger = Effect.fnUntraced(function* (
  os: Pick<Os["Service"], "signal" | "census" | "ledger">,
  ledger: ForeignLedger
) {
  const left = yield* Effect.forEach(ledger.entries, (entry) => sweep(os, os.census(entry.marker), limits.killGraceMs))
  const survivors = left.flat()
  if (survivors.length === 0) yield* os.ledger.forget(ledger)
  return { ledger, survivors }
})
