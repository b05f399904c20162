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
import { ActorCrashed, ActorStopped, ResourceUnreleased } from "../../../src/schema/errors.ts"
import { probe, type ProbeMessage, Refused } from "./probe.ts"

const test = (name: string, body: () => Effect.Effect<unknown, unknown, Scope.Scope | Registry.Registry>) =>
  it.effect(name, () => Effect.provide(body(), Registry.layer))

const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

/** An actor whose finalizer waits for the gate. */
const slowToClose = (gate: Deferred.Deferred<void>, name = "slow"): Actor.Options<never, never, Scope.Scope> => ({
  name,
  mailbox: { capacity: 1, policy: "reject" },
  stopWithin: "2 seconds",
  resourceKey: "home",
  behaviour: Effect.as(
    Effect.addFinalizer(() => Deferred.await(gate)),
    {}
  )
})

describe("start", () => {
  test("completes when the actor runs, with its resources open", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      expect(ref.state()).toBe("running")
      expect(log).toEqual(["open"])
    }))

  test("that fails gives its failure and leaves nothing", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const { log, options } = probe()
      const behaviour = Effect.andThen(options().behaviour, Effect.fail(new Refused()))
      expect(yield* Effect.flip(Actor.spawn({ ...options(), behaviour }))).toBeInstanceOf(Refused)
      expect(log).toEqual(["open", "close"])
      expect(registry.snapshot()).toEqual([])
    }))

  test("of a second actor at a living path is a defect", () =>
    Effect.gen(function* () {
      yield* Actor.spawn(probe().options())
      const defect = yield* Effect.catchDefect(Effect.asVoid(Actor.spawn(probe().options())), Effect.succeed)
      expect(defect).toMatchObject({ _tag: "InvariantViolated", invariant: "a path has one actor", detail: "/probe" })
    }))

  test("for an owner that is closed gives an actor that is stopped", () =>
    Effect.gen(function* () {
      const owner = yield* Scope.make()
      yield* Scope.close(owner, Exit.void)
      const { log, options } = probe()
      const ref = yield* Scope.provide(Actor.spawn(options()), owner)
      expect(ref.state()).toBe("stopped")
      expect(log).toEqual([])
    }))

  test("that is interrupted closes what was open", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const { log, options } = probe()
      const behaviour = Effect.andThen(options().behaviour, Effect.never)
      const start = yield* Effect.forkChild(Actor.spawn({ ...options(), behaviour }))
      yield* settle
      expect(registry.snapshot()).toMatchObject([{ path: "/probe", state: "starting" }])
      yield* Fiber.interrupt(start)
      expect(log).toEqual(["open", "close"])
      expect(registry.snapshot()).toEqual([])
    }))
})

describe("stop", () => {
  test("answers what waits and what is at work with ActorStopped", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      const asks = [
        yield* Effect.forkChild(Effect.flip(Effect.asVoid(ref.ask({ _tag: "waitLater", gate })))),
        yield* Effect.forkChild(Effect.flip(Effect.asVoid(ref.ask({ _tag: "wait", gate }))))
      ]
      yield* settle
      asks.push(
        yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "note", text: "never" }))),
        yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "urgent", text: "never" })))
      )
      yield* settle
      yield* ref.stop
      for (const ask of asks) expect(yield* Fiber.join(ask)).toEqual(new ActorStopped({ path: "/probe" }))
      expect(log).toEqual(["open", "waitLater interrupted", "wait interrupted", "close"])
      expect(ref.state()).toBe("stopped")
    }))

  test("answers senders that wait for room with ActorStopped", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options({ mailbox: { capacity: 1, policy: "suspend" } }))
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      yield* ref.tell({ _tag: "note", text: "1" })
      const senders = [
        yield* Effect.forkChild(Effect.flip(Effect.andThen(ref.tell({ _tag: "note", text: "2" }), Effect.void))),
        yield* Effect.forkChild(Effect.flip(Effect.asVoid(ref.reserve("note")))),
        yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "note", text: "3" })))
      ]
      yield* settle
      yield* ref.stop
      for (const sender of senders) expect(yield* Fiber.join(sender)).toBeInstanceOf(ActorStopped)
    }))

  test("is idempotent, and what comes after it gets ActorStopped", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      yield* Effect.all([ref.stop, ref.stop, ref.kill, ref.stop], { concurrency: "unbounded" })
      yield* ref.stop
      expect(yield* Effect.flip(ref.ask({ _tag: "echo", text: "" }))).toBeInstanceOf(ActorStopped)
      expect(yield* Effect.flip(ref.tell({ _tag: "note", text: "" }))).toBeInstanceOf(ActorStopped)
      expect(log).toEqual(["open", "close"])
    }))

  test("comes with the end of the owner's scope", () =>
    Effect.gen(function* () {
      const owner = yield* Scope.make()
      const { log, options } = probe()
      const ref = yield* Scope.provide(Actor.spawn(options()), owner)
      yield* Scope.close(owner, Exit.void)
      expect(ref.state()).toBe("stopped")
      expect(log).toEqual(["open", "close"])
    }))

  test("by the actor itself answers the message at hand first", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      yield* ref.ask({ _tag: "end" })
      expect(yield* ref.watch).toEqual(Exit.void)
    }))

  test("closes the children before the actor's own resources", () =>
    Effect.gen(function* () {
      const { log, options } = probe("child")
      const ref = yield* Actor.spawn<never, ResourceUnreleased, Scope.Scope | Actor.Self | Registry.Registry>({
        name: "parent",
        mailbox: { capacity: 1, policy: "reject" },
        stopWithin: "1 second",
        behaviour: Effect.gen(function* () {
          yield* Actor.spawn(options())
          yield* Effect.addFinalizer(() => Effect.sync(() => log.push("parent's resource")))
          return {}
        })
      })
      yield* ref.stop
      expect(log).toEqual(["open", "close", "parent's resource"])
    }))
})

describe("closing", () => {
  test("waits for later replies that cannot be interrupted before the scope closes", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const gate = yield* Deferred.make<void>()
      const behaviour = Effect.map(options().behaviour, (handlers) => ({
        ...handlers,
        waitLater: () =>
          Actor.later(
            Effect.uninterruptible(
              Effect.as(
                Effect.tap(Deferred.await(gate), () => Effect.sync(() => log.push("work done"))),
                "x"
              )
            )
          )
      }))
      const ref = yield* Actor.spawn(options({ behaviour }))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "waitLater", gate })))
      yield* settle
      const stop = yield* Effect.forkChild(ref.stop)
      yield* settle
      expect(log).toEqual(["open"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(stop)
      expect(log).toEqual(["open", "work done", "close"])
      expect(yield* Fiber.join(ask)).toBeInstanceOf(ActorStopped)
    }))

  test("interrupts later replies, also after an end from inside, and those forked meanwhile", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const gate = yield* Deferred.make<void>()
      const late = Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("late work interrupted")))
      const behaviour = Effect.tap(options().behaviour, () => Effect.addFinalizer(() => Actor.later(late)))
      const ref = yield* Actor.spawn(options({ behaviour }))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "waitLater", gate })))
      yield* settle
      yield* ref.ask({ _tag: "end" })
      expect(yield* Fiber.join(ask)).toBeInstanceOf(ActorStopped)
      yield* ref.watch
      expect(log).toEqual(["open", "waitLater interrupted", "late work interrupted", "close"])
    }))

  test("starts no message that had been taken when the latch was set", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options({ mailbox: { capacity: 1, policy: "suspend" } }))
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "echo", text: "never" })))
      yield* settle
      // Taking the ask makes room for this sender, which goes on at once.
      yield* Effect.forkChild(Effect.andThen(ref.tell({ _tag: "note", text: "never" }), ref.stop))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(ask)).toBeInstanceOf(ActorStopped)
      expect(log).toEqual(["open", "close"])
    }))

  test("leaves nothing in the owner's scope", () =>
    Effect.gen(function* () {
      const owner = yield* Scope.make()
      const ref = yield* Scope.provide(Actor.spawn(probe().options()), owner)
      expect(owner.state._tag).toBe("Open")
      yield* ref.stop
      expect(owner.state._tag).toBe("Empty")
    }))

  test("starts no child any more", () =>
    Effect.gen(function* () {
      const child = probe("child")
      const parent = probe("parent")
      const states: Array<Actor.ActorState> = []
      const behaviour = Effect.gen(function* () {
        const handlers = yield* parent.options().behaviour
        const context = yield* Effect.context<Registry.Registry | Scope.Scope | Actor.Self>()
        const end = Effect.gen(function* () {
          yield* handlers.end({ _tag: "end" })
          states.push((yield* Effect.orDie(Actor.spawn(child.options()))).state())
        })
        return { ...handlers, end: () => Effect.provideContext(end, context) }
      })
      const ref = yield* Actor.spawn<ProbeMessage, never, Registry.Registry | Scope.Scope | Actor.Self>({
        ...parent.options(),
        behaviour
      })
      yield* ref.ask({ _tag: "end" })
      expect(states).toEqual(["stopped"])
      expect(child.log).toEqual([])
    }))
})

describe("watch", () => {
  test("hears the exit, also of an actor that is dead already", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const watch = yield* Effect.forkChild(ref.watch)
      yield* settle
      yield* Effect.exit(ref.ask({ _tag: "crash" }))
      for (const exit of [yield* Fiber.join(watch), yield* ref.watch]) expect(String(exit)).toContain("boom")
    }))
})

describe("an actor that misses its stop deadline", () => {
  test("is unreleased: visible, its resource key closed, until its finalizers complete after all", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const gate = yield* Deferred.make<void>()
      const ref = yield* Actor.spawn(slowToClose(gate))
      const watch = yield* Effect.forkChild(ref.watch)
      const stop = yield* Effect.forkChild(ref.stop)
      yield* settle
      yield* TestClock.adjust("1999 millis")
      expect(ref.state()).toBe("stopping")
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(stop)
      expect(ref.state()).toBe("unreleased")
      expect(registry.snapshot()).toMatchObject([{ path: "/slow", state: "unreleased" }])
      expect(yield* Fiber.join(watch)).toEqual(
        Exit.fail(new ResourceUnreleased({ path: "/slow", resourceKey: "home" }))
      )

      const newcomer = Actor.spawn({ ...slowToClose(gate, "newcomer"), resourceKey: "home" })
      expect(yield* Effect.flip(newcomer)).toEqual(new ResourceUnreleased({ path: "/slow", resourceKey: "home" }))
      const namesake = Actor.spawn({ ...slowToClose(gate), resourceKey: "another home" })
      expect(yield* Effect.flip(namesake)).toMatchObject({ _tag: "ResourceUnreleased", path: "/slow" })

      yield* Deferred.succeed(gate, undefined)
      yield* settle
      expect(ref.state()).toBe("stopped")
      expect(registry.counters()).toMatchObject({ unreleased: 1, released: 1 })
      expect((yield* newcomer).state()).toBe("running")
    }))

  test("is released by proof, at its own path too", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const gate = yield* Deferred.make<void>()
      const ref = yield* Actor.spawn(slowToClose(gate))
      yield* ref.kill
      yield* TestClock.adjust(0)
      expect(ref.state()).toBe("unreleased")
      expect(yield* Effect.flip(Actor.spawn(slowToClose(gate)))).toBeInstanceOf(ResourceUnreleased)
      expect(yield* registry.release("/slow", "no process carries the marker")).toBe(true)
      expect(yield* registry.release("/slow", "again")).toBe(false)
      expect((yield* Actor.spawn(slowToClose(gate))).state()).toBe("running")
      yield* Deferred.succeed(gate, undefined)
    }))

  test("is unreleased as well when a finalizer died: nothing is proven", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const ref = yield* Actor.spawn<never, never, Scope.Scope>({
        name: "a",
        mailbox: { capacity: 1, policy: "reject" },
        stopWithin: "1 second",
        behaviour: Effect.as(
          Effect.addFinalizer(() => Effect.die("not closed")),
          {}
        )
      })
      yield* ref.stop
      expect(ref.state()).toBe("unreleased")
      expect(yield* registry.release("/a", "seen to be gone")).toBe(true)
    }))

  test("answers a handler that cannot be interrupted at the deadline", () =>
    Effect.gen(function* () {
      const { options } = probe()
      const gate = yield* Deferred.make<void>()
      const behaviour = Effect.map(options().behaviour, (handlers) => ({
        ...handlers,
        wait: () => Effect.uninterruptible(Effect.as(Deferred.await(gate), "done"))
      }))
      const ref = yield* Actor.spawn(options({ behaviour }))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "wait", gate })))
      yield* settle
      const stop = yield* Effect.forkChild(ref.stop)
      yield* settle
      expect(ask.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(ask)).toBeInstanceOf(ActorStopped)
      yield* Fiber.join(stop)
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      expect(ref.state()).toBe("stopped")
    }))
})

describe("kill", () => {
  test("answers what is at work without waiting for it", () =>
    Effect.gen(function* () {
      const { options } = probe()
      const gate = yield* Deferred.make<void>()
      const behaviour = Effect.map(options().behaviour, (handlers) => ({
        ...handlers,
        wait: () => Effect.uninterruptible(Effect.as(Deferred.await(gate), "done"))
      }))
      const ref = yield* Actor.spawn(options({ behaviour }))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "wait", gate })))
      yield* settle
      yield* ref.kill
      expect(yield* Fiber.join(ask)).toBeInstanceOf(ActorStopped)
      yield* TestClock.adjust(0)
      expect(ref.state()).toBe("unreleased")
      yield* Deferred.succeed(gate, undefined)
    }))
})

describe("an interrupted part of a handler", () => {
  test("never reaches the asker as an interrupt: the actor crashed", () =>
    Effect.gen(function* () {
      const { options } = probe()
      const behaviour = Effect.map(options().behaviour, (handlers) => ({
        ...handlers,
        wait: () => Effect.interrupt
      }))
      const ref = yield* Actor.spawn(options({ behaviour }))
      const gate = yield* Deferred.make<void>()
      expect(yield* Effect.flip(ref.ask({ _tag: "wait", gate }))).toBeInstanceOf(ActorCrashed)
    }))
})
