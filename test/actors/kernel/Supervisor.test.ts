import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import * as Actor from "../../../src/actors/kernel/Actor.ts"
import * as Registry from "../../../src/actors/kernel/Registry.ts"
import * as Supervisor from "../../../src/actors/kernel/Supervisor.ts"
import { probe } from "./probe.ts"

const test = (name: string, body: () => Effect.Effect<unknown, unknown, Scope.Scope | Registry.Registry>) =>
  it.effect(name, () => Effect.provide(body(), Registry.layer))

const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const intensity: Supervisor.Intensity = {
  restarts: 2,
  within: "10 seconds",
  backoff: (restart) => restart * 100
}

describe("a permanent child", () => {
  test("is rebuilt after a crash: same path, queued messages stay, watchers hear nothing", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const supervisor = yield* Supervisor.make(intensity)
      const { log, options } = probe()
      const ref = yield* supervisor.spawn("permanent", options())
      const watch = yield* Effect.forkChild(ref.watch)
      const crash = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "crash" })))
      const queued = yield* Effect.forkChild(ref.ask({ _tag: "note", text: "queued" }))
      yield* settle
      expect(yield* Fiber.join(crash)).toMatchObject({ _tag: "ActorCrashed" })
      expect(ref.state()).toBe("starting")
      yield* TestClock.adjust(100)
      yield* Fiber.join(queued)
      expect(log).toEqual(["open", "close", "open", "queued"])
      expect(registry.snapshot()).toMatchObject([{ path: "/probe", state: "running", restarts: 1 }])
      expect(registry.counters()).toMatchObject({ crashes: 1, restarts: 1 })
      expect(watch.pollUnsafe()).toBeUndefined()
    }))

  test("is rebuilt after a crash of later work, while it waits for messages", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const ref = yield* supervisor.spawn("permanent", probe().options())
      const gate = yield* Deferred.make<void>()
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "crashLater", gate })))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(ask)).toMatchObject({ _tag: "ActorCrashed" })
      yield* TestClock.adjust(100)
      expect(ref.state()).toBe("running")
      expect(yield* ref.ask({ _tag: "echo", text: "a" })).toBe("a")
    }))

  test("ends its children with the cause of its crash", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const heard: Array<unknown> = []
      const children: Array<Actor.ActorRef<never>> = []
      const child: Actor.Options<never, never, Scope.Scope> = {
        name: "child",
        mailbox: { capacity: 1, policy: "reject" },
        stopWithin: "1 second",
        behaviour: Effect.as(
          Effect.addFinalizer((exit) => Effect.sync(() => heard.push(Exit.hasDies(exit)))),
          {}
        )
      }
      const { options } = probe()
      const behaviour = Effect.tap(options().behaviour, () =>
        Effect.tap(Effect.orDie(Actor.spawn(child)), (ref) => Effect.sync(() => children.push(ref)))
      )
      const ref = yield* supervisor.spawn("permanent", { ...options(), behaviour })
      const watch = yield* Effect.forkChild(children[0]!.watch)
      expect(yield* Effect.flip(ref.ask({ _tag: "crash" }))).toMatchObject({ _tag: "ActorCrashed" })
      expect(Exit.hasDies(yield* Fiber.join(watch))).toBe(true)
      yield* TestClock.adjust(100)
      yield* ref.stop
      expect(heard).toEqual([true, false])
    }))

  test("has its children closed before its own scope, at a restart too", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const { log, options } = probe("child")
      const outer = probe("outer")
      const behaviour = Effect.gen(function* () {
        yield* Actor.spawn(options())
        yield* Effect.addFinalizer(() => Effect.sync(() => log.push("parent's resource")))
        return yield* outer.options().behaviour
      })
      const ref = yield* supervisor.spawn("permanent", { ...outer.options(), behaviour })
      yield* Effect.flip(ref.ask({ _tag: "crashAtOnce" }))
      yield* TestClock.adjust(100)
      expect(log).toEqual(["open", "close", "parent's resource", "open"])
    }))

  test("escalates its Cause once the intensity is exceeded, and the others are stopped", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const ref = yield* supervisor.spawn("permanent", probe("a").options())
      const other = yield* supervisor.spawn("permanent", probe("b").options())
      for (let restart = 1; restart <= intensity.restarts; restart++) {
        yield* Effect.flip(ref.ask({ _tag: "crash" }))
        yield* TestClock.adjust(1000)
        expect(ref.state()).toBe("running")
      }
      yield* Effect.flip(ref.ask({ _tag: "crash" }))
      expect(String(yield* ref.watch)).toContain("boom")
      expect(String(yield* supervisor.watch)).toContain("boom")
      expect(yield* other.watch).toEqual(Exit.void)
    }))

  test("counts only the restarts within the window", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const ref = yield* supervisor.spawn("permanent", probe().options())
      for (let crash = 0; crash < 5; crash++) {
        yield* Effect.flip(ref.ask({ _tag: "crash" }))
        yield* TestClock.adjust("10 seconds")
        expect(ref.state()).toBe("running")
      }
    }))

  test("that ends on its own is not restarted", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const ref = yield* supervisor.spawn("permanent", probe().options())
      yield* ref.ask({ _tag: "end" })
      expect(yield* ref.watch).toEqual(Exit.void)
    }))

  test("that is stopped while it waits for its restart stays stopped", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const { log, options } = probe()
      const ref = yield* supervisor.spawn("permanent", options())
      yield* Effect.flip(ref.ask({ _tag: "crash" }))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "echo", text: "" })))
      yield* settle
      yield* ref.stop
      expect(yield* Fiber.join(ask)).toMatchObject({ _tag: "ActorStopped" })
      yield* TestClock.adjust("1 minute")
      expect(log).toEqual(["open", "close"])
    }))

  test("that does not close before its restart is unreleased and escalates", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const { options } = probe()
      const gate = yield* Deferred.make<void>()
      const behaviour = Effect.tap(options().behaviour, () => Effect.addFinalizer(() => Deferred.await(gate)))
      const ref = yield* supervisor.spawn("permanent", options({ behaviour }))
      yield* Effect.flip(ref.ask({ _tag: "crash" }))
      yield* TestClock.adjust("1 second")
      expect(ref.state()).toBe("unreleased")
      expect(String(yield* supervisor.watch)).toContain("ResourceUnreleased")
      yield* Deferred.succeed(gate, undefined)
    }))
})

describe("a temporary child", () => {
  test("is not restarted, and its crash is heard by watchers only", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.make(intensity)
      const ref = yield* supervisor.spawn("temporary", probe("a").options())
      const other = yield* supervisor.spawn("temporary", probe("b").options())
      yield* Effect.flip(ref.ask({ _tag: "crash" }))
      expect(String(yield* ref.watch)).toContain("boom")
      expect(yield* other.ask({ _tag: "echo", text: "fine" })).toBe("fine")
    }))
})

describe("a supervisor", () => {
  test("crashes the actor that owns it when it escalates", () =>
    Effect.gen(function* () {
      const owner = probe("owner")
      const child = probe("child")
      const spawned = yield* Deferred.make<Actor.ActorRef<never>>()
      const behaviour = Effect.gen(function* () {
        const supervisor = yield* Supervisor.make({ ...intensity, restarts: 0 })
        const ref = yield* supervisor.spawn("permanent", child.options())
        yield* Deferred.succeed(spawned, ref)
        yield* Effect.forkScoped(ref.tell({ _tag: "crash" }))
        return yield* owner.options().behaviour
      })
      const ref = yield* Actor.spawn({ ...owner.options(), behaviour })
      expect((yield* Deferred.await(spawned)).path).toBe("/owner/child")
      expect(String(yield* ref.watch)).toContain("boom")
      expect(owner.log).toEqual(["open", "close"])
      expect(child.log).toEqual(["open", "close"])
    }))

  test("stops its children with its scope, and is heard to end well", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const supervisor = yield* Scope.provide(Supervisor.make(intensity), scope)
      const ref = yield* supervisor.spawn("permanent", probe().options())
      yield* Scope.close(scope, Exit.void)
      expect(ref.state()).toBe("stopped")
      expect(yield* supervisor.watch).toEqual(Exit.void)
    }))
})
