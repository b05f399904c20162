import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { makeOwnedLink } from "../../../src/layers/process/ownedLink.ts"
import { limits } from "../../../src/schema/limits.ts"
import { Os } from "../../../src/services/Os.ts"
import { makeFakeLaunch } from "../../services/fakeLaunch.ts"

/** An agent that has exited, with its pipes still held by somebody. Says when they are closed. */
const heldPipes = Effect.gen(function* () {
  const { exit, os, process } = makeFakeLaunch([{ pid: 10 }])
  const closed = Latch.makeUnsafe()
  const pipe = yield* Deferred.make<undefined>()
  const closePipes = Effect.andThen(closed.open, Deferred.succeed(pipe, undefined))
  const held = {
    ...process,
    stdout: Deferred.await(pipe),
    stderr: Deferred.await(pipe),
    closePipes: Effect.asVoid(closePipes)
  }
  const service = Os.of({
    ...os,
    backends: Effect.succeed([]),
    backend: () => Effect.die("not used"),
    spawn: () => Effect.die("not used"),
    ledger: {
      add: () => Effect.die("not used"),
      remove: () => Effect.void,
      foreign: Effect.succeed([]),
      forget: () => Effect.die("not used")
    }
  })
  yield* makeOwnedLink(service, held, { command: "agent", args: [], env: {}, cwd: "/" })
  exit(10)
  return closed
})

describe("the output of an agent that has exited", () => {
  it.effect("is read for a bounded time, and then for some turns of the event loop at least", () =>
    Effect.gen(function* () {
      const closed = yield* heldPipes
      yield* TestClock.adjust(limits.drainAfterExitMs - 1)
      for (let turn = 0; turn < 2 * limits.drainReadTurnsMin; turn++) yield* Effect.yieldNow
      expect(closed.isOpen()).toBe(false)
      let turns = 0
      yield* Effect.forkChild(TestClock.adjust(1))
      while (!closed.isOpen() && turns < 1_000) {
        yield* Effect.yieldNow
        turns++
      }
      expect(turns).toBeGreaterThanOrEqual(limits.drainReadTurnsMin)
      expect(turns).toBeLessThan(2 * limits.drainReadTurnsMin)
    })
  )
})
