import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import { describe, expect, it } from "vitest"
import { run, sweepInterrupts, victim } from "../../src/testing/index.ts"

/** Two fibers that add to one cell in a read step and a write step. */
const race = Effect.gen(function* () {
  let cell = 0
  const add = Effect.gen(function* () {
    const read = cell
    yield* Effect.yieldNow
    cell = read + 1
  })
  const fibers = [yield* Effect.forkChild(add), yield* Effect.forkChild(add)]
  yield* Fiber.joinAll(fibers)
  return cell
})

const seeds = Array.from({ length: 50 }, (_, index) => index)

describe("run", () => {
  it("draws every order that suspensions allow", () => {
    const results = new Set(seeds.map((seed) => String(run(race, { seed }).exit)))
    expect(results).toEqual(new Set([String(Exit.succeed(1)), String(Exit.succeed(2))]))
  })

  it("is the same for the same seed, and for the picks of its trace under any other", () => {
    for (const seed of seeds.slice(0, 10)) {
      const first = run(race, { seed })
      expect(run(race, { seed })).toEqual(first)
      const choices = first.trace.map((choice) => choice.pick)
      expect(run(race, { seed: seed + 1000, choices })).toEqual(first)
    }
  })

  it("splits synchronous stretches only with a yield probability", () => {
    const stretch = Effect.gen(function* () {
      let inside = 0
      let overlap = false
      const enter = Effect.gen(function* () {
        inside++
        for (let n = 0; n < 10; n++) if (yield* Effect.sync(() => inside > 1)) overlap = true
        inside--
      })
      yield* Fiber.joinAll([yield* Effect.forkChild(enter), yield* Effect.forkChild(enter)])
      return overlap
    })
    const overlaps = (yieldProbability: number) =>
      seeds.filter((seed) => String(run(stretch, { seed, yieldProbability }).exit) === String(Exit.succeed(true)))
        .length
    expect(overlaps(0)).toBe(0)
    expect(overlaps(0.1)).toBeGreaterThan(0)
  })

  it("lets time pass while something can still run, and costs no time", () => {
    const timed = Effect.gen(function* () {
      const work = Effect.as(Effect.repeat(Effect.yieldNow, { times: 5 }), "work")
      return yield* Effect.raceFirst(work, Effect.as(Effect.sleep("1 hour"), "time"))
    })
    const results = new Set(seeds.map((seed) => String(run(timed, { seed }).exit)))
    expect(results).toEqual(new Set([String(Exit.succeed("work")), String(Exit.succeed("time"))]))
  })

  it("lets time pass as seldom as asked for, never before nothing else can run for 0", () => {
    const timed = Effect.gen(function* () {
      const work = Effect.as(Effect.repeat(Effect.yieldNow, { times: 5 }), "work")
      return yield* Effect.raceFirst(work, Effect.as(Effect.sleep("1 hour"), "time"))
    })
    const inTime = (timeProbability: number) =>
      seeds.filter((seed) => String(run(timed, { seed, timeProbability }).exit) === String(Exit.succeed("work"))).length
    expect(inTime(0)).toBe(seeds.length)
    expect(inTime(1)).toBe(0)
    expect(inTime(0.1)).toBeGreaterThan(inTime(0.5))
    const first = run(timed, { seed: 3, timeProbability: 0.2 })
    const choices = first.trace.map((choice) => choice.pick)
    expect(run(timed, { seed: 4, timeProbability: 0.2, choices })).toEqual(first)
  })

  it("advances time to the earliest sleeper", () => {
    const order: Array<number> = []
    const sleep = (ms: number) =>
      Effect.andThen(
        Effect.sleep(ms),
        Effect.sync(() => order.push(ms))
      )
    const result = run(Effect.forEach([30, 10, 20], sleep, { concurrency: "unbounded", discard: true }))
    expect(order).toEqual([10, 20, 30])
    expect(result.now).toBe(30)
  })

  it("gives random numbers by seed", () => {
    expect(run(Random.next, { seed: 7 }).exit).toEqual(run(Random.next, { seed: 7 }).exit)
    expect(run(Random.next, { seed: 7 }).exit).not.toEqual(run(Random.next, { seed: 8 }).exit)
  })

  it("reports a deadlock, a used-up budget, and fibers left alive", () => {
    expect(run(Effect.flatMap(Deferred.make<void>(), Deferred.await)).exit).toBe("deadlock")
    expect(run(Effect.forever(Effect.yieldNow), { maxSteps: 100 })).toMatchObject({ exit: "budget", steps: 100 })
    expect(run(Effect.forkDetach(Effect.never)).live).toBe(1)
    expect(run(Effect.forkDetach(Effect.sleep(10))).live).toBe(1)
    expect(run(race).live).toBe(0)
  })

  it("does not lose an interrupt that comes before the fiber's first run", () => {
    for (const seed of seeds) {
      const program = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Effect.never)
        yield* Fiber.interrupt(fiber)
      })
      expect(run(program, { seed, yieldProbability: 0.15 }).exit).toEqual(Exit.void)
    }
  })

  it("interrupts the victim and leaves the rest of the program alone", () => {
    const program = Effect.map(victim(Effect.forever(Effect.yieldNow)), Exit.isFailure)
    const result = run(program, { interruptAt: 5 })
    expect(result.exit).toEqual(Exit.succeed(true))
  })
})

describe("sweepInterrupts", () => {
  const resource = (leaky: boolean) => () => {
    let open = 0
    const acquire = Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => open++)
    )
    const release = Effect.sync(() => open--)
    const use = Effect.repeat(Effect.yieldNow, { times: 3 })
    const effect = leaky
      ? Effect.andThen(acquire, Effect.andThen(Effect.yieldNow, Effect.ensuring(use, release)))
      : Effect.scoped(
          Effect.andThen(
            Effect.acquireRelease(acquire, () => release),
            use
          )
        )
    return { effect, violations: () => (open === 0 ? [] : [`${open} open`]) }
  }

  it("finds nothing in code that owns what it opens", () => {
    expect(sweepInterrupts(resource(false), { seeds }).violations).toEqual([])
  })

  it("finds the one step between acquiring and owning", () => {
    const { violations } = sweepInterrupts(resource(true), { seeds: [1], yieldProbabilities: [0] })
    expect(violations.map(({ what }) => what)).toContain("1 open")
  })

  it("reports a fiber that outlives the program, a hang and a defect", () => {
    const what = (effect: Effect.Effect<unknown>) =>
      sweepInterrupts(() => ({ effect }), { seeds: [1], yieldProbabilities: [0] }).violations[0]?.what
    expect(what(Effect.forkDetach(Effect.never))).toBe("1 live fibers")
    expect(what(Effect.never)).toBe("deadlock")
    expect(what(Effect.die(new Error("planted")))).toContain("planted")
  })
})
