import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import { gracesOf, terminate } from "../../src/services/ladder.ts"
import type { Backend } from "../../src/services/Os.ts"
import { type FakeProcess, makeFakeLaunch } from "./fakeLaunch.ts"

const graces = { eofMs: 2_500, termMs: 2_000, killMs: 1_000 }

/** Runs the ladder over virtual time and tells how long it took. */
const climb = (processes: ReadonlyArray<FakeProcess>, backend: Backend = "marked", hurry = Latch.makeUnsafe()) =>
  Effect.gen(function* () {
    const launch = makeFakeLaunch(processes, backend)
    const started = yield* Clock.currentTimeMillis
    const timed = Effect.zip(terminate(launch.os, launch.process, graces, hurry), Clock.currentTimeMillis)
    const fiber = yield* Effect.forkChild(timed)
    for (let turn = 0; turn < 100; turn++) yield* TestClock.adjust(100)
    const [report, ended] = yield* Fiber.join(fiber)
    return { report, tookMs: ended - started, log: launch.log }
  })

describe("the termination ladder", () => {
  it.effect("ends with the end of input when that is enough", () =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([{ pid: 10, afterEof: 2_100 }])
      expect(report).toEqual({
        exit: { _tag: "Code", code: 0 },
        steps: ["eof"],
        proof: "marker",
        processesSeen: 1,
        survivors: []
      })
      expect(log).toEqual(["eof", "end 10"])
    })
  )

  it.effect("sends SIGTERM when the end of input is ignored, and only after its grace", () =>
    Effect.gen(function* () {
      const { report, tookMs } = yield* climb([{ pid: 10, afterTerm: 50 }])
      expect(report.steps).toEqual(["eof", "SIGTERM"])
      expect(report.exit).toEqual({ _tag: "Signal", signal: "SIGTERM", inferred: false })
      expect(tookMs).toBeGreaterThanOrEqual(graces.eofMs)
      expect(tookMs).toBeLessThan(graces.eofMs + graces.termMs)
    })
  )

  it.effect("sends SIGTERM to an agent that no look shows, for it dropped its marker", () =>
    Effect.gen(function* () {
      const { report, log } = yield* climb([{ pid: 10, bornAfter: Infinity, afterTerm: 50 }])
      expect(report).toMatchObject({ steps: ["eof", "SIGTERM"], survivors: [] })
      expect(log).toEqual(["eof", "SIGTERM 10", "end 10"])
    })
  )

  it.effect("sends SIGKILL when SIGTERM is ignored, too", () =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([{ pid: 10 }, { pid: 11 }])
      expect(report.steps).toEqual(["eof", "SIGTERM", "SIGKILL"])
      expect(report.survivors).toEqual([])
      expect(report.processesSeen).toBe(2)
      expect(log.filter((line) => line.startsWith("SIGKILL"))).toEqual(["SIGKILL 10", "SIGKILL 11"])
    })
  )

  it.effect("goes on when the agent has ended and others have not", () =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([
        { pid: 10, afterEof: 0 },
        { pid: 11, afterTerm: 0 }
      ])
      expect(report.steps).toEqual(["eof", "SIGTERM"])
      expect(log).not.toContain("SIGTERM 10")
    })
  )

  it.effect("gives the others of an agent that has ended the whole grace", () =>
    Effect.gen(function* () {
      const { report } = yield* climb([
        { pid: 10, afterEof: 0 },
        { pid: 11, afterEof: 2_100 }
      ])
      expect(report.steps).toEqual(["eof"])
    })
  )

  it.effect("finds what is forked at SIGTERM", () =>
    Effect.gen(function* () {
      const { report } = yield* climb([{ pid: 10, afterTerm: 0, forksAtTerm: { pid: 12 } }])
      expect(report.steps).toEqual(["eof", "SIGTERM", "SIGKILL"])
      expect(report.processesSeen).toBe(2)
      expect(report.survivors).toEqual([])
    })
  )

  it.effect("reports what outlives it and stays within its bound", () =>
    Effect.gen(function* () {
      const { report, tookMs } = yield* climb([{ pid: 10, immortal: true }])
      expect(report.survivors.map(({ pid }) => pid)).toEqual([10])
      expect(report.exit._tag).toBe("Unknown")
      expect(tookMs).toBeLessThanOrEqual(graces.eofMs + graces.termMs + 3 * graces.killMs + limits.sweepPauseMsMax)
    })
  )

  it.effect("takes no step when everything has ended by itself", () =>
    Effect.gen(function* () {
      const launch = makeFakeLaunch([{ pid: 10 }])
      launch.exit(10)
      const fiber = yield* Effect.forkChild(terminate(launch.os, launch.process, graces, Latch.makeUnsafe()))
      yield* TestClock.adjust(1_000)
      expect((yield* Fiber.join(fiber)).steps).toEqual([])
    })
  )

  it.effect("gives a grace to what the first look missed when the agent had ended by itself", () =>
    Effect.gen(function* () {
      const launch = makeFakeLaunch([{ pid: 10 }, { pid: 11, bornAfter: 1, afterEof: 100 }], "namespace")
      launch.exit(10)
      const fiber = yield* Effect.forkChild(terminate(launch.os, launch.process, graces, Latch.makeUnsafe()))
      for (let turn = 0; turn < 100; turn++) yield* TestClock.adjust(10)
      expect((yield* Fiber.join(fiber)).steps).toEqual(["eof"])
    })
  )

  it.effect.each(["marked", "namespace"] as const)("waits for an agent that is not born yet (%s)", (backend) =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([{ pid: 10, bornAfter: 40, afterEof: 100 }], backend)
      expect(report).toMatchObject({ exit: { _tag: "Code", code: 0 }, steps: ["eof"] })
      expect(log).toEqual(["eof", "end 10"])
    })
  )

  it.effect("skips all graces in a hurry", () =>
    Effect.gen(function* () {
      const { log, report, tookMs } = yield* climb([{ pid: 10, afterEof: 0 }], "marked", Latch.makeUnsafe(true))
      expect(report.steps).toEqual(["SIGKILL"])
      expect(log).not.toContain("eof")
      expect(tookMs).toBeLessThanOrEqual(limits.sweepPauseMsMax)
    })
  )

  it.effect("cuts a grace short when the hurry comes in its middle", () =>
    Effect.gen(function* () {
      const hurry = Latch.makeUnsafe()
      yield* Effect.forkChild(Effect.andThen(Effect.sleep(700), hurry.open))
      const { report, tookMs } = yield* climb([{ pid: 10 }], "marked", hurry)
      expect(report.steps).toEqual(["eof", "SIGKILL"])
      expect(tookMs).toBeLessThan(1_000)
    })
  )

  it.effect("ends a namespace by its anchor", () =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([{ pid: 10 }, { pid: 11 }], "namespace")
      expect(report.proof).toBe("namespace")
      expect(report.steps).toEqual(["eof", "SIGTERM", "SIGKILL"])
      expect(log.find((line) => line.startsWith("SIGKILL"))).toBe("SIGKILL 1000")
      expect(report.survivors).toEqual([])
    })
  )

  it.effect("does not signal an anchor whose launch ended by itself", () =>
    Effect.gen(function* () {
      const { log, report } = yield* climb([{ pid: 10, afterEof: 10 }], "namespace")
      expect(report.steps).toEqual(["eof"])
      expect(log).toEqual(["eof", "end 10"])
    })
  )

  it.effect("waits after the end of input for the grace of the house, and no longer", () =>
    Effect.gen(function* () {
      const launch = makeFakeLaunch([{ pid: 10, afterTerm: 0 }])
      const graces = gracesOf({})
      const fiber = yield* Effect.forkChild(terminate(launch.os, launch.process, graces, Latch.makeUnsafe()))
      yield* TestClock.adjust(limits.eofGraceMs - 1)
      expect(launch.log).toEqual(["eof"])
      yield* TestClock.adjust(1)
      expect(launch.log).toEqual(["eof", "SIGTERM 10", "end 10"])
      yield* TestClock.adjust(limits.termGraceMs)
      expect((yield* Fiber.join(fiber)).steps).toEqual(["eof", "SIGTERM"])
    })
  )

  it("takes from a launch only the graces that it names", () => {
    expect(gracesOf({ graces: { eofMs: 1 } })).toEqual({
      eofMs: 1,
      termMs: limits.termGraceMs,
      killMs: limits.killGraceMs
    })
    expect(gracesOf({ graces: { termMs: 1 } })).toEqual({
      eofMs: limits.eofGraceMs,
      termMs: 1,
      killMs: limits.killGraceMs
    })
  })
})
