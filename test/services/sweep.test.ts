import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import type { ProcessIdentity } from "../../src/services/Os.ts"
import { sweep } from "../../src/services/sweep.ts"
import { identityOf } from "./fakeLaunch.ts"

/** Sweeps where each look shows the next of `looks`, and the last one for ever. */
const sweepOver = (looks: ReadonlyArray<ReadonlyArray<number>>, boundMs = 1_000) =>
  Effect.gen(function* () {
    const killed: Array<number> = []
    let count = 0
    const look = Effect.sync(() => (looks[Math.min(count++, looks.length - 1)] ?? []).map((pid) => identityOf(pid)))
    const signal = ({ pid }: ProcessIdentity) => Effect.sync(() => killed.push(pid) > 0)
    const fiber = yield* Effect.forkChild(sweep({ signal }, look, boundMs))
    for (let turn = 0; turn < 20; turn++) yield* TestClock.adjust(100)
    const left = yield* Fiber.join(fiber)
    return { killed, left: left.map(({ pid }) => pid), looks: count }
  })

describe("a sweep", () => {
  it.effect("is over after two looks in a row that show nothing", () =>
    Effect.gen(function* () {
      expect(yield* sweepOver([[]])).toEqual({ killed: [], left: [], looks: 2 })
      expect(yield* sweepOver([[1], []])).toEqual({ killed: [1], left: [], looks: 3 })
    })
  )

  it.effect("is not deceived by one look that shows nothing", () =>
    Effect.gen(function* () {
      expect(yield* sweepOver([[1], [], [2, 3], [], []])).toEqual({ killed: [1, 2, 3], left: [], looks: 5 })
    })
  )

  it.effect("pauses twice as long each time, from the first pause to the last", () =>
    Effect.gen(function* () {
      const { sweepPauseMsMax, sweepPauseMsMin } = limits
      const looks: Array<number> = []
      const look = Effect.map(Clock.currentTimeMillis, (nowMs) => (looks.push(nowMs), [identityOf(1)]))
      yield* Effect.forkChild(sweep({ signal: () => Effect.succeed(true) }, look, 1_000))
      for (let turn = 0; turn < 600; turn++) yield* TestClock.adjust(1)
      const pauses = looks.slice(1).map((atMs, index) => atMs - (looks[index] ?? 0))
      expect(pauses.slice(0, 3)).toEqual([sweepPauseMsMin, 2 * sweepPauseMsMin, 4 * sweepPauseMsMin])
      expect(pauses.slice(-3)).toEqual([sweepPauseMsMax, sweepPauseMsMax, sweepPauseMsMax])
      expect(Math.max(...pauses)).toBe(sweepPauseMsMax)
    })
  )

  it.effect("returns at its bound what is still there", () =>
    Effect.gen(function* () {
      const { killed, left } = yield* sweepOver([[7]])
      expect(left).toEqual([7])
      expect(killed.length).toBeGreaterThan(3)
    })
  )
})
