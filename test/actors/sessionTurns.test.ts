import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { makeSessionTurns } from "../../src/actors/sessionTurns.ts"
import type { Turn } from "../../src/actors/Turn.ts"
import { limits } from "../../src/schema/limits.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"

/** A turn that notes what is done to it. */
const makeTurn = (turnId: string, log: Array<string>): Turn => {
  const note = (what: string) => Effect.sync(() => void log.push(`${turnId} ${what}`))
  const outcome = Deferred.makeUnsafe<TurnOutcome>()
  return {
    turnId,
    ticket: { id: 0, method: "session/prompt" },
    start: note("starts"),
    isPrompted: () => false,
    responseTaken: () => undefined,
    feed: () => Effect.succeed(false),
    note: () => Effect.succeed(false),
    request: () => Effect.succeed(false),
    respond: () => Effect.succeed(false),
    died: () => Effect.succeed(false),
    cancel: (by) => note(`is cancelled by ${by}`),
    outcome: Deferred.await(outcome),
    over: Effect.void,
    draining: Latch.makeUnsafe(false)
  }
}

describe("the turns of a session", () => {
  const makeTurns = () => {
    const log: Array<string> = []
    const turns = makeSessionTurns()
    const add = (turnId: string) => {
      const turn = makeTurn(turnId, log)
      return Effect.as(turns.add(turn), turn)
    }
    return { add, log, turns }
  }

  it.effect("run one at a time, in the order in which they were added", () =>
    Effect.gen(function* () {
      const { add, log, turns } = makeTurns()
      const [first] = [yield* add("t1"), yield* add("t2"), yield* add("t3")]
      expect(log).toEqual(["t1 starts"])
      expect(turns.running()).toBe(first)
      turns.settled(first)
      yield* turns.startNext
      yield* turns.startNext
      expect(log).toEqual(["t1 starts", "t2 starts"])
      expect(turns.open().map((turn) => turn.turnId)).toEqual(["t2", "t3"])
    })
  )

  it.effect("that settle while they wait are never started", () =>
    Effect.gen(function* () {
      const { add, log, turns } = makeTurns()
      const [first, second] = [yield* add("t1"), yield* add("t2"), yield* add("t3")]
      turns.settled(second)
      turns.settled(first)
      yield* turns.startNext
      expect(log).toEqual(["t1 starts", "t3 starts"])
    })
  )

  it.effect("are found by a cancel wherever they are: running, waiting, ended, or yet to come", () =>
    Effect.gen(function* () {
      const { add, log, turns } = makeTurns()
      expect(yield* turns.cancel(undefined, "interrupt")).toBe("idle")
      expect(yield* turns.cancel("t3", "runCancel")).toBe("remembered")
      const first = yield* add("t1")
      yield* add("t2")
      expect(yield* turns.cancel("t2", "interrupt")).toBe("cancelling")
      expect(yield* turns.cancel(undefined, "runCancel")).toBe("cancelling")
      turns.settled(first)
      expect(yield* turns.cancel("t1", "interrupt")).toBe("ended")
      yield* add("t3")
      expect(log).toEqual([
        "t1 starts",
        "t2 is cancelled by interrupt",
        "t1 is cancelled by runCancel",
        "t3 is cancelled by runCancel"
      ])
    })
  )

  it.effect("have ids that are used once, as long as they are remembered", () =>
    Effect.gen(function* () {
      const { add, turns } = makeTurns()
      for (let n = 0; n < limits.rememberedTurnsMax; n++) {
        const turn = yield* add(`t${n}`)
        turns.settled(turn)
      }
      expect(turns.refusal("t0")).toMatchObject({ reason: "duplicate_turn_id" })
      expect(turns.outcome("t0")).toBeDefined()
      turns.settled(yield* add("one more"))
      expect(turns.refusal("t0")).toBeUndefined()
      expect(turns.outcome("t0")).toBeUndefined()
      expect(turns.refusal("t1")).toMatchObject({ reason: "duplicate_turn_id" })
    })
  )

  it.effect("may be cancelled before they come, as many as may wait; the oldest of more is forgotten", () =>
    Effect.gen(function* () {
      const { add, log, turns } = makeTurns()
      for (let n = 0; n <= limits.queuedPromptsMax; n++) yield* turns.cancel(`t${n}`, "interrupt")
      yield* add("t0")
      yield* add("t1")
      expect(log).toEqual(["t0 starts", "t1 is cancelled by interrupt"])
    })
  )
})
