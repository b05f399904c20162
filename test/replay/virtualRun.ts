/**
 * Runs a program as one synchronous call. Time passes only while nothing can run, so a recorded pause is a pause: whatever
 * was said before it has been dealt with. The order of everything that can run at the same time is drawn by the seed; seed 0
 * takes first come, first served.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import { seeded } from "../../src/testing/choices.ts"
import { SimClock } from "../../src/testing/SimClock.ts"
import { SimScheduler } from "../../src/testing/SimScheduler.ts"

const stepsMax = 5_000_000

export const virtualRun = <A, E>(effect: Effect.Effect<A, E>, seed: number): Exit.Exit<A, E> => {
  const clock = new SimClock()
  const scheduler = new SimScheduler(0, seeded(seed))
  const draw = seeded(seed + 1)
  const random = seeded(seed + 2)
  const context = Context.empty().pipe(
    Context.add(Clock.Clock, clock),
    Context.add(Random.Random, {
      nextDoubleUnsafe: random,
      nextIntUnsafe: () => Math.floor((random() * 2 - 1) * Number.MAX_SAFE_INTEGER)
    })
  )
  const fiber = Effect.runForkWith(context)(effect, { scheduler })
  for (let step = 0; step < stepsMax; step++) {
    const runnable = scheduler.tasks.length
    if (runnable > 0) scheduler.runTask(seed === 0 ? 0 : Math.floor(draw() * runnable))
    else {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      if (clock.isIdle) throw new Error("the replay waits for something that nobody will do")
      clock.advance()
    }
  }
  throw new Error("the replay does not come to an end")
}

/** Until nothing can run without time passing. */
export const idle: Effect.Effect<void> = Effect.sleep(0)
