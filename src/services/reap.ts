/**
 * What a start does with the ledgers of other hosts, as a pure policy over `Os`: ends the processes that the dead ones left
 * behind, then deletes their private homes.
 *
 * Guarantees: a ledger is touched only when its own host is proven gone; processes are found by marker only, never by a
 * number that was written down; a ledger whose launches are not all proven gone stays, and their homes with it; so does one
 * of which a home could not be deleted.
 */
import * as Effect from "effect/Effect"
import { limits } from "../schema/limits.ts"
import type { ForeignLedger, KeptHome, Os, ProcessIdentity } from "./Os.ts"
import { sweep } from "./sweep.ts"

export interface Reaped {
  readonly ledger: ForeignLedger
  readonly survivors: ReadonlyArray<ProcessIdentity>
  /** Of the homes in `ledger`; the others are deleted. */
  readonly keptHomes: ReadonlyArray<KeptHome>
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
  const keptHomes = survivors.length === 0 ? yield* os.ledger.forget(ledger) : ledger.homes.map(inUse)
  return { ledger, survivors, keptHomes }
})

const inUse = (path: string): KeptHome => ({ path, reason: "a process of its host is left" })
