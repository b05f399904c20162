import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import type { ForeignLedger, KeptHome, ProcessIdentity } from "../../src/services/Os.ts"
import { reap } from "../../src/services/reap.ts"
import { identityOf } from "./fakeLaunch.ts"

const ledgerOf = (
  path: string,
  hostGone: boolean,
  markers: ReadonlyArray<string>,
  homes: ReadonlyArray<string> = []
): ForeignLedger => ({
  host: identityOf(1),
  hostGone,
  reason: "",
  path,
  entries: markers.map((marker) => ({ marker, backend: "marked", command: "x", identity: undefined })),
  homes
})

/** Reaps where these processes carry these markers; one of them may be immortal, and no home may be deleted. */
const reapWhere = (
  ledgers: ReadonlyArray<ForeignLedger>,
  carried: Record<string, ReadonlyArray<number>>,
  { immortal = 0, keptHomes = [] }: { readonly immortal?: number; readonly keptHomes?: ReadonlyArray<KeptHome> } = {}
) =>
  Effect.gen(function* () {
    const alive = new Map(Object.entries(carried).map(([marker, pids]) => [marker, new Set(pids)]))
    const forgotten: Array<string> = []
    const signal = ({ pid }: ProcessIdentity) =>
      Effect.sync(() => {
        if (pid !== immortal) for (const pids of alive.values()) pids.delete(pid)
        return true
      })
    const fiber = yield* Effect.forkChild(
      reap({
        signal,
        census: (marker) => Effect.sync(() => [...(alive.get(marker) ?? [])].map((pid) => identityOf(pid))),
        ledger: {
          add: () => Effect.void,
          remove: () => Effect.void,
          foreign: Effect.succeed(ledgers),
          forget: ({ path }) =>
            Effect.sync(() => {
              forgotten.push(`${path} with ${[...alive.values()].flatMap((pids) => [...pids]).length} processes`)
              return keptHomes
            })
        }
      })
    )
    for (let turn = 0; turn < 100; turn++) yield* TestClock.adjust(100)
    const reaped = yield* Fiber.join(fiber)
    return { reaped, forgotten, left: Object.fromEntries([...alive].map(([marker, pids]) => [marker, [...pids]])) }
  })

describe("reaping", () => {
  it.effect("ends what a dead host left, and forgets its ledger", () =>
    Effect.gen(function* () {
      const { forgotten, left } = yield* reapWhere([ledgerOf("dead", true, ["a", "b"])], { a: [10, 11], b: [12] })
      expect(left).toEqual({ a: [], b: [] })
      expect(forgotten).toEqual(["dead with 0 processes"])
    })
  )

  it.effect("touches nothing of a host that is not proven gone", () =>
    Effect.gen(function* () {
      const { forgotten, left, reaped } = yield* reapWhere([ledgerOf("live", false, ["a"])], { a: [10] })
      expect([left, forgotten, reaped]).toEqual([{ a: [10] }, [], []])
    })
  )

  it.effect("keeps the ledger of a host of which something is still there, and reports it", () =>
    Effect.gen(function* () {
      const { forgotten, reaped } = yield* reapWhere([ledgerOf("dead", true, ["a"])], { a: [10, 66] }, { immortal: 66 })
      expect(forgotten).toEqual([])
      expect(reaped[0]?.survivors.map(({ pid }) => pid)).toEqual([66])
    })
  )

  it.effect("keeps the homes of a host of which a process is still there", () =>
    Effect.gen(function* () {
      const dead = ledgerOf("dead", true, ["a"], ["/homes/a"])
      const { forgotten, reaped } = yield* reapWhere([dead], { a: [66] }, { immortal: 66 })
      expect(forgotten).toEqual([])
      expect(reaped[0]?.keptHomes).toEqual([{ path: "/homes/a", reason: "a process of its host is left" }])
    })
  )

  it.effect("reports the homes that could not be deleted", () =>
    Effect.gen(function* () {
      const keptHomes = [{ path: "/homes/a", reason: "EACCES" }]
      const { reaped } = yield* reapWhere([ledgerOf("dead", true, [], ["/homes/a", "/homes/b"])], {}, { keptHomes })
      expect(reaped).toMatchObject([{ survivors: [], keptHomes }])
    })
  )
})
