import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { describe, expect, it } from "vitest"
import * as Actor from "../../src/actors/kernel/Actor.ts"
import type { Ask } from "../../src/actors/kernel/Message.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import {
  campaign,
  check,
  describeViolation,
  exhaust,
  type MakeProgram,
  narrate,
  run,
  type RunOptions,
  shrink
} from "../../src/testing/index.ts"

/** So many fibers that add to one cell in a read step and a write step; all of them must count. */
const race =
  (fibers: number): MakeProgram<unknown, unknown> =>
  () => {
    let cell = 0
    const add = Effect.gen(function* () {
      const read = cell
      yield* Effect.yieldNow
      cell = read + 1
    })
    const effect = Effect.gen(function* () {
      const forked = yield* Effect.forEach(Array.from({ length: fibers }), () => Effect.forkChild(add))
      yield* Fiber.joinAll(forked)
    })
    return {
      effect,
      violations: () => (cell === fibers ? [] : [`${cell} of ${fibers}`]),
      reached: () => (cell === fibers ? ["all counted"] : ["one lost"])
    }
  }

const deadlock: MakeProgram<unknown, unknown> = () => {
  const [a, b] = [Semaphore.makeUnsafe(1), Semaphore.makeUnsafe(1)]
  const both = (first: Semaphore.Semaphore, second: Semaphore.Semaphore) =>
    first.withPermits(1)(Effect.andThen(Effect.yieldNow, second.withPermits(1)(Effect.void)))
  return {
    effect: Effect.gen(function* () {
      yield* Fiber.joinAll([yield* Effect.forkChild(both(a, b)), yield* Effect.forkChild(both(b, a))])
    })
  }
}

describe("exhaust", () => {
  it("runs every schedule of a small program, once each", () => {
    const { complete, runs, violations } = exhaust(race(2))
    // Two reads and two writes, each read before its write.
    expect({ complete, runs }).toEqual({ complete: true, runs: 6 })
    expect(violations.map(({ what }) => what)).toEqual(Array(4).fill("1 of 2"))
  })

  it("finds the orders that end in a deadlock, and they happen again", () => {
    const { complete, violations } = exhaust(deadlock)
    expect(complete).toBe(true)
    expect(violations.length).toBeGreaterThan(0)
    for (const { options } of violations) expect(run(deadlock(options).effect, options).exit).toBe("deadlock")
  })

  it("says that it is not complete when there are more schedules than it may run", () => {
    expect(exhaust(race(3), { maxRuns: 5 })).toMatchObject({ complete: false, runs: 5 })
  })

  it("draws time against everything else", () => {
    const late: Array<string> = []
    const timed: MakeProgram<unknown, unknown> = () => ({
      effect: Effect.map(
        Effect.raceFirst(Effect.as(Effect.yieldNow, "work"), Effect.as(Effect.sleep("1 hour"), "time")),
        (first) => late.push(first)
      )
    })
    expect(exhaust(timed).complete).toBe(true)
    expect(new Set(late)).toEqual(new Set(["work", "time"]))
  })
})

describe("campaign", () => {
  it("is the same again for the same options, and another one for another seed", () => {
    const trace = (seed: number) => {
      const seen: Array<unknown> = []
      campaign(race(3), { runs: 24, seed, observe: ({ result }, options) => seen.push([options, result.trace]) })
      return seen
    }
    expect(trace(1)).toEqual(trace(1))
    expect(trace(1)).toHaveLength(24)
    expect(trace(1)).not.toEqual(trace(4))
  })

  it("runs whole and split stretches, and interrupts at steps that there are", () => {
    const seen: Array<RunOptions> = []
    const { reached, runs, steps, violations } = campaign(race(2), { runs: 80, observe: (_, made) => seen.push(made) })
    expect(runs).toBe(80)
    expect(steps).toBeGreaterThan(80)
    expect(violations.length).toBeGreaterThan(0)
    expect(reached).toEqual(new Set(["all counted", "one lost"]))
    expect(seen.some(({ yieldProbability }) => yieldProbability === 0.1)).toBe(true)
    expect(new Set(seen.map(({ interruptAt }) => interruptAt)).size).toBeGreaterThan(3)
    for (const options of seen) {
      const { steps: ran } = check(race(2)(options), { ...options, interruptAt: -1 }).result
      expect(options.interruptAt ?? 0).toBeLessThanOrEqual(ran * 3)
    }
  })

  it("ends at the violation that is enough", () => {
    const { runs, violations } = campaign(race(3), { runs: 1000, isEnough: ({ what }) => what.includes("of 3") })
    expect(runs).toBeLessThan(100)
    expect(violations.at(-1)?.what).toMatch(/of 3/)
  })
})

describe("shrink", () => {
  /** Fails when the third fiber overtakes the first two; there is much else to choose. */
  const overtaken: MakeProgram<unknown, unknown> = () => {
    const order: Array<number> = []
    const noise = Effect.repeat(Effect.yieldNow, { times: 10 })
    const fiber = (n: number) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => order.push(n))
      )
    return {
      effect: Effect.gen(function* () {
        const forked = [...(yield* Effect.forEach([1, 2, 3], (n) => Effect.forkChild(fiber(n))))]
        const others = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(noise))
        yield* Fiber.awaitAll([...forked, ...others])
      }),
      violations: () => (order[0] === 3 ? ["3 is first"] : [])
    }
  }

  it("keeps the violation, with few choices that matter", () => {
    const { violations } = campaign(overtaken, { runs: 400, isEnough: ({ what }) => what === "3 is first" })
    const found = violations.at(-1)!
    expect(found.what).toBe("3 is first")
    const shrunk = shrink(overtaken, found)
    expect(shrunk.what).toBe("3 is first")
    expect(check(overtaken(shrunk.options), shrunk.options).violations[0]?.what).toBe("3 is first")
    const matters = (shrunk.options.choices ?? []).filter((pick) => pick > 0)
    expect(matters.length).toBeGreaterThan(0)
    expect(matters.length).toBeLessThanOrEqual(4)
    expect(shrunk.options.choices?.at(-1)).not.toBe(0)
  })

  it("stays within its runs, and gives what it got when it may do nothing", () => {
    let made = 0
    const counted: MakeProgram<unknown, unknown> = (options) => {
      made++
      return overtaken(options)
    }
    const { violations } = campaign(overtaken, { runs: 400, isEnough: ({ what }) => what === "3 is first" })
    const found = violations.at(-1)!
    expect(shrink(counted, found, { maxRuns: 0 })).toEqual(found)
    made = 0
    shrink(counted, found, { maxRuns: 10 })
    expect(made).toBeLessThanOrEqual(11)
  })
})

describe("a violation that is described", () => {
  const greeter: Actor.Options<Ask<"greet", {}, string>, never, never> = {
    name: "greeter",
    mailbox: { capacity: 1, policy: "suspend" },
    stopWithin: "1 second",
    behaviour: Effect.succeed({ greet: () => Effect.as(Effect.yieldNow, "hello") })
  }
  const program: MakeProgram<unknown, unknown> = () => ({
    effect: Effect.gen(function* () {
      const ref = yield* Actor.spawn(greeter)
      yield* narrate(() => "the host greets")
      yield* ref.ask({ _tag: "greet" })
    }).pipe(Effect.scoped, Effect.provide(Registry.layer)),
    violations: () => ["planted"]
  })

  it("names what is wrong, who ran and what they handled, and shows it again", () => {
    const [violation] = check(program({}), { seed: 3 }).violations
    const text = describeViolation(program, violation!, { command: (options) => JSON.stringify(options) })
    const lines = text.split("\n")
    expect(lines[0]).toBe("planted")
    expect(lines).toContain("  the host greets")
    expect(lines).toContain("  /greeter greet")
    const options: RunOptions = JSON.parse(lines.at(-1)!.replace("again: ", ""))
    expect(check(program(options), options).violations[0]?.what).toBe("planted")
  })

  it("shows the last lines of a long story, and says how many were before", () => {
    const [violation] = check(program({}), { seed: 3 }).violations
    const lines = describeViolation(program, violation!, { maxLines: 1 }).split("\n")
    expect(lines[1]).toMatch(/^ {2}\(\d+ lines before\)$/)
    expect(lines).toHaveLength(4)
  })
})

describe("a program that runs and runs", () => {
  it("while time stands still is a livelock, at the bound and not before it", () => {
    const hot = Effect.repeat(Effect.yieldNow, { times: 99 })
    // At the last step it has ended.
    const { steps } = run(hot)
    expect(run(hot, { maxStepsAtOnce: steps - 1 }).exit).toMatchObject({ _tag: "Success" })
    expect(run(hot, { maxStepsAtOnce: steps - 2 }).exit).toBe("livelock")
    const patient = Effect.repeat(Effect.sleep(1), { times: 99 })
    expect(run(patient, { maxStepsAtOnce: 5 }).exit).toMatchObject({ _tag: "Success" })
  })

  it("leaves a sleep that nobody ends in the count of timers", () => {
    const leaky = Effect.forkDetach(Effect.sleep("1 hour"))
    expect(run(leaky)).toMatchObject({ live: 1, timers: 1 })
  })
})
