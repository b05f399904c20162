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
import { ActorCrashed, ActorStopped, AskTimedOut, MailboxFull } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import { probe, Refused } from "./probe.ts"

const test = (name: string, body: () => Effect.Effect<unknown, unknown, Scope.Scope | Registry.Registry>) =>
  it.effect(name, () => Effect.provide(body(), Registry.layer))

/** Lets every fiber that can run do so. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

describe("ask", () => {
  test("is answered with the handler's success", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      expect(yield* ref.ask({ _tag: "echo", text: "a" })).toBe("a")
    }))

  test("is answered with the handler's typed failure, which is no crash", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      expect(yield* Effect.flip(ref.ask({ _tag: "refuse" }))).toBeInstanceOf(Refused)
      expect(ref.state()).toBe("running")
    }))

  test("of a handler that dies is answered ActorCrashed, and the actor is over", () =>
    Effect.gen(function* () {
      for (const _tag of ["crash", "crashAtOnce"] as const) {
        const ref = yield* Actor.spawn(probe(_tag).options())
        const error = yield* Effect.flip(ref.ask({ _tag }))
        expect(error).toBeInstanceOf(ActorCrashed)
        expect(error).toMatchObject({ path: `/${_tag}`, defect: expect.stringMatching(/^Error: boom/) })
        expect(Exit.isFailure(yield* ref.watch)).toBe(true)
      }
    }))

  test("of a handler that dies is told the defect up to its bound", () =>
    Effect.gen(function* () {
      const defectOf = Effect.fnUntraced(function* (characters: number) {
        const ref = yield* Actor.spawn(probe(`of${characters}`).options())
        const gate = yield* Deferred.make<void>()
        yield* Deferred.die(gate, "x".repeat(characters))
        const error = yield* Effect.flip(ref.ask({ _tag: "wait", gate }))
        return error instanceof ActorCrashed ? error.defect.length : undefined
      })
      expect(yield* defectOf(limits.defectCharactersMax)).toBe(limits.defectCharactersMax)
      expect(yield* defectOf(limits.defectCharactersMax + 1)).toBe(limits.defectCharactersMax)
    }))

  test("past its deadline times out; an unstarted message is withdrawn", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(ref.ask({ _tag: "wait", gate }))
      const second = yield* Effect.forkChild(
        Effect.flip(ref.ask({ _tag: "note", text: "second" }, { deadline: "5 seconds" }))
      )
      const third = yield* Effect.forkChild(ref.ask({ _tag: "note", text: "third" }, { deadline: "1 hour" }))
      yield* settle
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(second)
      expect(error).toBeInstanceOf(AskTimedOut)
      expect(error).toMatchObject({ deadlineMs: 5000 })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      expect(log).toEqual(["open", "third"])
    }))

  test("deadlines expire in their own order, not in that of arrival", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const gate = yield* Deferred.make<void>()
      const order: Array<number> = []
      for (const seconds of [30, 10, 20]) {
        const ask = ref.ask({ _tag: "waitLater", gate }, { deadline: `${seconds} seconds` })
        yield* Effect.forkChild(Effect.onExit(ask, () => Effect.sync(() => order.push(seconds))))
      }
      yield* settle
      yield* TestClock.adjust("10 seconds")
      expect(order).toEqual([10])
      yield* TestClock.adjust("20 seconds")
      expect(order).toEqual([10, 20, 30])
    }))

  test("that has timed out gets no late reply; it is counted", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const ref = yield* Actor.spawn(probe().options())
      const gate = yield* Deferred.make<void>()
      const ask = yield* Effect.forkChild(Effect.exit(ref.ask({ _tag: "wait", gate }, { deadline: 10 })))
      yield* settle
      yield* TestClock.adjust(10)
      expect(Exit.isFailure(yield* Fiber.join(ask))).toBe(true)
      expect(registry.counters().lateReplies).toBe(0)
      yield* Deferred.succeed(gate, undefined)
      yield* ref.ask({ _tag: "echo", text: "after" })
      expect(registry.counters().lateReplies).toBe(1)
    }))

  test("that is interrupted withdraws a message that has not started", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(ref.ask({ _tag: "wait", gate }))
      const second = yield* Effect.forkChild(ref.ask({ _tag: "note", text: "second" }))
      yield* settle
      yield* Fiber.interrupt(second)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* ref.ask({ _tag: "note", text: "third" })
      expect(log).toEqual(["open", "third"])
    }))

  test("that is interrupted leaves a started handler alone", () =>
    Effect.gen(function* () {
      const registry = yield* Registry.Registry
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      const asks = [
        yield* Effect.forkChild(ref.ask({ _tag: "waitLater", gate })),
        yield* Effect.forkChild(ref.ask({ _tag: "wait", gate }))
      ]
      yield* settle
      yield* Fiber.interruptAll(asks)
      yield* Deferred.succeed(gate, undefined)
      yield* ref.ask({ _tag: "echo", text: "after" })
      expect(log).toEqual(["open"])
      expect(registry.counters().lateReplies).toBe(2)
    }))

  test("that is interrupted interrupts a handler whose tag opted in, and the actor goes on", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      for (const _tag of ["waitInterruptibly", "waitLaterInterruptibly"] as const) {
        const ask = yield* Effect.forkChild(ref.ask({ _tag, gate }))
        yield* settle
        yield* Fiber.interrupt(ask)
        expect(yield* ref.ask({ _tag: "echo", text: "after" })).toBe("after")
      }
      expect(log).toEqual(["open", "waitInterruptibly interrupted", "waitLaterInterruptibly interrupted"])
    }))

  test("with a later reply lets the next message pass", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const gate = yield* Deferred.make<void>()
      const ask = yield* Effect.forkChild(ref.ask({ _tag: "waitLater", gate }))
      yield* settle
      expect(yield* ref.ask({ _tag: "echo", text: "next" })).toBe("next")
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(ask)).toBe("waitLater")
    }))

  test("whose later work dies is answered ActorCrashed, with all other later work", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const gate = yield* Deferred.make<void>()
      const never = yield* Deferred.make<void>()
      const other = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "waitLater", gate: never })))
      const ask = yield* Effect.forkChild(Effect.flip(ref.ask({ _tag: "crashLater", gate })))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(ask)).toMatchObject({ _tag: "ActorCrashed", defect: "Error: later" })
      expect(yield* Fiber.join(other)).toMatchObject({ _tag: "ActorCrashed", defect: "Error: later" })
      expect(Exit.isFailure(yield* ref.watch)).toBe(true)
    }))
})

describe("order", () => {
  test("data is handled in order of arrival", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      for (const text of ["1", "2", "3"]) yield* ref.tell({ _tag: "note", text })
      yield* ref.ask({ _tag: "echo", text: "" })
      expect(log).toEqual(["open", "1", "2", "3"])
    }))

  test("control overtakes data that waits, not data at work", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options())
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* ref.tell({ _tag: "note", text: "data" })
      yield* settle
      yield* ref.tell({ _tag: "urgent", text: "control 1" })
      yield* ref.tell({ _tag: "urgent", text: "control 2" })
      yield* Deferred.succeed(gate, undefined)
      yield* ref.ask({ _tag: "echo", text: "" })
      expect(log).toEqual(["open", "control 1", "control 2", "data"])
    }))

  test("control has room of its own when data is full", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options({ mailbox: { capacity: 1, policy: "reject" } }))
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      yield* ref.tell({ _tag: "note", text: "data" })
      yield* ref.tell({ _tag: "urgent", text: "control" })
      yield* Deferred.succeed(gate, undefined)
      yield* ref.ask({ _tag: "echo", text: "" })
      expect(log).toEqual(["open", "control", "data"])
    }))
})

describe("capacity", () => {
  const full = (policy: "reject" | "suspend") =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options({ mailbox: { capacity: 2, policy } }))
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      yield* ref.tell({ _tag: "note", text: "1" })
      yield* ref.tell({ _tag: "note", text: "2" })
      return { log, ref, gate }
    })

  test("one past it is rejected with MailboxFull, for tell, ask and reserve", () =>
    Effect.gen(function* () {
      const { log, ref, gate } = yield* full("reject")
      const expected = new MailboxFull({ path: "/probe", capacity: 2 })
      expect(yield* Effect.flip(ref.tell({ _tag: "note", text: "3" }))).toEqual(expected)
      expect(yield* Effect.flip(ref.ask({ _tag: "echo", text: "3" }))).toEqual(expected)
      expect(yield* Effect.flip(ref.reserve("note"))).toEqual(expected)
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      yield* ref.ask({ _tag: "note", text: "4" })
      expect(log).toEqual(["open", "1", "2", "4"])
    }))

  test("one past it suspends the sender until there is room, in order", () =>
    Effect.gen(function* () {
      const { log, ref, gate } = yield* full("suspend")
      const third = yield* Effect.forkChild(ref.tell({ _tag: "note", text: "3" }))
      yield* settle
      const fourth = yield* Effect.forkChild(ref.ask({ _tag: "note", text: "4" }))
      yield* settle
      expect(third.pollUnsafe()).toBeUndefined()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([third, fourth])
      expect(log).toEqual(["open", "1", "2", "3", "4"])
    }))

  test("a suspended sender that is interrupted has sent nothing", () =>
    Effect.gen(function* () {
      const { log, ref, gate } = yield* full("suspend")
      const third = yield* Effect.forkChild(ref.tell({ _tag: "note", text: "3" }))
      yield* settle
      yield* Fiber.interrupt(third)
      yield* Deferred.succeed(gate, undefined)
      yield* ref.ask({ _tag: "note", text: "4" })
      expect(log).toEqual(["open", "1", "2", "4"])
    }))

  test("a withdrawn message gives its room to the next sender at once", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options({ mailbox: { capacity: 1, policy: "suspend" } }))
      const gate = yield* Deferred.make<void>()
      yield* ref.tell({ _tag: "wait", gate })
      yield* settle
      const ask = yield* Effect.forkChild(ref.ask({ _tag: "echo", text: "" }))
      yield* settle
      const tell = yield* Effect.forkChild(ref.tell({ _tag: "note", text: "" }))
      yield* settle
      expect(tell.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(ask)
      yield* Fiber.join(tell)
    }))
})

describe("reserve", () => {
  test("keeps room for its one message while others are rejected", () =>
    Effect.gen(function* () {
      const { log, options } = probe()
      const ref = yield* Actor.spawn(options({ mailbox: { capacity: 1, policy: "reject" } }))
      const room = yield* ref.reserve("note")
      expect(yield* Effect.flip(ref.tell({ _tag: "note", text: "other" }))).toBeInstanceOf(MailboxFull)
      yield* room.send({ _tag: "note", text: "reserved" })
      yield* settle
      yield* ref.ask({ _tag: "echo", text: "" })
      expect(log).toEqual(["open", "reserved"])
    }))

  test("gives the room back when released, once", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options({ mailbox: { capacity: 1, policy: "suspend" } }))
      const room = yield* ref.reserve("note")
      const tell = yield* Effect.forkChild(ref.tell({ _tag: "note", text: "" }))
      yield* settle
      expect(tell.pollUnsafe()).toBeUndefined()
      yield* room.release
      yield* room.release
      yield* Fiber.join(tell)
    }))

  test("asks with its room", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options({ mailbox: { capacity: 1, policy: "reject" } }))
      const room = yield* ref.reserve("echo")
      expect(yield* room.ask({ _tag: "echo", text: "a" })).toBe("a")
    }))

  test("of an actor that has stopped meanwhile fails with ActorStopped", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const room = yield* ref.reserve("note")
      yield* ref.stop
      expect(yield* Effect.flip(room.send({ _tag: "note", text: "" }))).toBeInstanceOf(ActorStopped)
    }))

  test("used twice is a defect", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(probe().options())
      const room = yield* ref.reserve("note")
      yield* room.send({ _tag: "note", text: "" })
      const exit = yield* Effect.exit(room.send({ _tag: "note", text: "" }))
      expect(String(exit)).toContain("InvariantViolated")
    }))
})
