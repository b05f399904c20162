import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import type { RunEnd } from "../../src/cli/exitCode.ts"
import { unlessGivenUp } from "../../src/cli/performRun.ts"
import type { Interrupts } from "../../src/cli/signals.ts"
import { limits } from "../../src/schema/limits.ts"

const interruptsOf = (cancelled: Interrupts["cancelled"]): Interrupts => ({
  raise: () => Effect.void,
  cancelled,
  killed: Effect.never
})

const deadline: RunEnd = {
  _tag: "Ended",
  outcome: { _tag: "Failed", reason: "turn_timeout", detail: "", undeliveredEvents: 0 }
}
const completed: RunEnd = {
  _tag: "Ended",
  outcome: { _tag: "Completed", stopReason: "end_turn", reply: "message", undeliveredEvents: 0 }
}

/** Whether a reader that does not read is still waited for, right before the bound and at it. */
const waits = Effect.fnUntraced(function* (end: RunEnd, interrupts: Interrupts) {
  const waiting = yield* Effect.forkChild(unlessGivenUp(Effect.never, end, interrupts))
  yield* TestClock.adjust(limits.outputDrainMs - 1)
  const before = waiting.pollUnsafe() === undefined
  yield* TestClock.adjust(1)
  const after = waiting.pollUnsafe() === undefined
  yield* Fiber.interrupt(waiting)
  return [before, after]
})

describe("a reader that does not read", () => {
  it.effect("is waited for up to a bound after a timeout or an interrupt", () =>
    Effect.gen(function* () {
      const quiet = interruptsOf(Effect.never)
      expect(yield* waits({ _tag: "TimedOut" }, quiet)).toEqual([true, false])
      expect(yield* waits(deadline, quiet)).toEqual([true, false])
      expect(yield* waits(completed, interruptsOf(Effect.succeed("SIGINT")))).toEqual([true, false])
    })
  )

  it.effect("is waited for without a bound otherwise", () =>
    Effect.gen(function* () {
      expect(yield* waits(completed, interruptsOf(Effect.never))).toEqual([true, true])
    })
  )
})
