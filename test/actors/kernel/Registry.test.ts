import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import * as Actor from "../../../src/actors/kernel/Actor.ts"
import type { Ask, Tell } from "../../../src/actors/kernel/Message.ts"
import * as Registry from "../../../src/actors/kernel/Registry.ts"
import { probe } from "./probe.ts"

const test = (name: string, body: () => Effect.Effect<unknown, unknown, Scope.Scope | Registry.Registry>) =>
  it.effect(name, () => Effect.provide(body(), Registry.layer))

const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

type ParentMessage = Ask<"adopt", { name: string }, Actor.ActorRef<ChildMessage>> | Tell<"ping">
type ChildMessage = Ask<"do", { what: Effect.Effect<unknown, unknown> }, unknown, unknown>

/** An actor that spawns children into its own scope on request. */
const parent = (
  name: string,
  policy: "suspend" | "reject" = "suspend"
): Actor.Options<ParentMessage, never, Scope.Scope | Actor.Self | Registry.Registry> => ({
  name,
  mailbox: { capacity: 2, policy },
  stopWithin: "1 second",
  behaviour: Effect.gen(function* () {
    const context = yield* Effect.context<Scope.Scope | Actor.Self | Registry.Registry>()
    return {
      adopt: (message: { name: string }) =>
        Effect.orDie(Effect.provideContext(Actor.spawn(child(message.name)), context)),
      ping: () => Effect.void
    }
  })
})

const child = (name: string): Actor.Options<ChildMessage, never, never> => ({
  name,
  mailbox: { capacity: 2, policy: "suspend" },
  stopWithin: "1 second",
  behaviour: Effect.succeed({ do: (message) => message.what })
})

describe("snapshot", () => {
  test("shows the tree: path, state, depth, age, restarts", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const first = yield* Actor.spawn(parent("first"))
      yield* Actor.spawn(parent("second"))
      yield* TestClock.adjust("3 seconds")
      yield* first.ask({ _tag: "adopt", name: "turn:t1" })
      const busy = yield* first.ask({ _tag: "adopt", name: "turn:t2" })
      const gate = yield* Deferred.make<void>()
      for (let n = 0; n < 3; n++) yield* Effect.forkChild(busy.ask({ _tag: "do", what: Deferred.await(gate) }))
      yield* settle
      yield* TestClock.adjust("1 second")
      expect(registry.snapshot()).toEqual([
        { path: "/first", state: "running", depth: 0, ageMs: 4000, restarts: 0 },
        { path: "/first/turn:t1", state: "running", depth: 0, ageMs: 1000, restarts: 0 },
        { path: "/first/turn:t2", state: "running", depth: 2, ageMs: 1000, restarts: 0 },
        { path: "/second", state: "running", depth: 0, ageMs: 4000, restarts: 0 }
      ])
      yield* Deferred.succeed(gate, undefined)
    }))

  test("finds by path, and forgets what has stopped", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const ref = yield* Actor.spawn(probe().options())
      expect(registry.lookup("/probe")?.state()).toBe("running")
      yield* ref.stop
      expect(registry.lookup("/probe")).toBeUndefined()
      expect(registry.counters()).toMatchObject({ spawned: 1, stopped: 1 })
    }))

  test("counts tells that an ended actor had not got to", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const ref = yield* Actor.spawn(probe().options())
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      yield* ref.tell({ _tag: "note", text: "" })
      yield* ref.stop
      expect(registry.counters().dropped).toBe(1)
    }))
})

describe("nothing suspends on an ancestor", () => {
  const family = (policy: "suspend" | "reject") =>
    Effect.gen(function* () {
      const above = yield* Actor.spawn(parent("above", policy))
      const below = yield* above.ask({ _tag: "adopt", name: "below" })
      return { above, below }
    })

  test("an ask from below dies", () =>
    Effect.gen(function* () {
      const { above, below } = yield* family("suspend")
      const error = yield* Effect.flip(below.ask({ _tag: "do", what: above.ask({ _tag: "ping" }) }))
      expect(error).toMatchObject({ _tag: "ActorCrashed", defect: expect.stringContaining("InvariantViolated") })
    }))

  test("so does an ask of itself", () =>
    Effect.gen(function* () {
      const { below } = yield* family("suspend")
      const ask = below.ask({ _tag: "do", what: below.ask({ _tag: "do", what: Effect.void }) })
      expect(yield* Effect.flip(ask)).toMatchObject({ _tag: "ActorCrashed" })
    }))

  test("so do a tell and a reservation that could suspend, from a forked fiber too", () =>
    Effect.gen(function* () {
      for (const upward of [
        (above: Actor.ActorRef<ParentMessage>) => Effect.asVoid(above.tell({ _tag: "ping" })),
        (above: Actor.ActorRef<ParentMessage>) => Effect.asVoid(above.reserve("ping"))
      ]) {
        const owner = yield* Actor.spawn(parent(`owner:${String(upward).length}`))
        const below = yield* owner.ask({ _tag: "adopt", name: "below" })
        const what = Effect.flatMap(Effect.forkChild(upward(owner)), Fiber.join)
        expect(yield* Effect.flip(below.ask({ _tag: "do", what }))).toMatchObject({ _tag: "ActorCrashed" })
      }
    }))

  test("so does an ask with a reservation, though one that only sends may go up", () =>
    Effect.gen(function* () {
      const { above, below } = yield* family("reject")
      const send = Effect.flatMap(above.reserve("ping"), (room) => room.send({ _tag: "ping" }))
      yield* below.ask({ _tag: "do", what: send })
      const what = Effect.flatMap(above.reserve("ping"), (room) => room.ask({ _tag: "ping" }))
      expect(yield* Effect.flip(below.ask({ _tag: "do", what }))).toMatchObject({ _tag: "ActorCrashed" })
    }))

  test("a tell that is rejected when full may go up", () =>
    Effect.gen(function* () {
      const { above, below } = yield* family("reject")
      yield* below.ask({ _tag: "do", what: above.tell({ _tag: "ping" }) })
      expect(below.state()).toBe("running")
    }))
})
