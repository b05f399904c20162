import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { type Connection, type Entry, openConnection } from "../../src/actors/Connection.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import { FrameTooLarge } from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../../src/services/AgentLink.ts"
import type { ProcessExit } from "../../src/services/Os.ts"
import { type FakeAgent, makeFakeLinks } from "../../src/testing/FakeLinks.ts"
import { permission, text, workspace } from "./host.ts"
import { settle, until } from "./observe.ts"

const launch = { command: "fake", args: [], env: {}, cwd: workspace }

const exit: ProcessExit = { _tag: "Code", code: 7 }

/** A connection to an agent that is driven by the test. */
const onConnection = (
  act: (connection: Connection, agent: FakeAgent) => Effect.Effect<unknown, unknown, Scope.Scope>
): Effect.Effect<void, unknown> => {
  const links = makeFakeLinks(() => Effect.void)
  return Effect.gen(function* () {
    const connection = yield* openConnection("connection:c1", launch)
    yield* act(connection, links.agents[0]!)
  }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(links.layer, Registry.layer)))
}

/** Every entry up to the last one. */
const drain = (connection: Connection): Effect.Effect<ReadonlyArray<Entry>> =>
  Effect.gen(function* () {
    const entries: Array<Entry> = []
    for (;;) {
      const batch = yield* connection.take
      if (batch === undefined) return entries
      entries.push(...batch.entries)
    }
  })

const tags = (entries: ReadonlyArray<Entry>) => entries.map((entry) => entry._tag)

/** Hands a request in and waits until the agent's stdin took it. */
const ask = (connection: Connection, method: string) =>
  Effect.flatten(connection.request(connection.ticket(method), { of: method }))

const methods = (agent: FakeAgent) => agent.written.map((frame) => frame["method"])

describe("frames to the agent", () => {
  it.effect("are written one after another, in the order in which they were handed in", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.stallStdin
        const names = Array.from({ length: 50 }, (_, n) => `m${n}`)
        const written: Array<string> = []
        const asking = yield* Effect.forEach(names, (name) =>
          Effect.forkChild(
            Effect.tap(ask(connection, name), () => Effect.sync(() => written.push(name))),
            { startImmediately: true }
          )
        )
        yield* settle
        expect(written).toEqual([])
        expect(agent.written).toEqual([])
        yield* agent.readStdin
        yield* Fiber.joinAll(asking)
        expect(written).toEqual(names)
        expect(methods(agent)).toEqual(names)
        expect(agent.written.map((frame) => frame["id"])).toEqual(names.map((_, n) => n))
      })
    )
  )

  it.effect("have an id when they are requests, and none when they are notifications", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* Effect.flatten(connection.notify("session/cancel", { sessionId: "s" }))
        yield* ask(connection, "session/new")
        expect(agent.written).toEqual([
          { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } },
          { jsonrpc: "2.0", id: 0, method: "session/new", params: { of: "session/new" } }
        ])
      })
    )
  )

  it.effect("beyond the bound of a frame fail before anything is written; the connection lives on", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        const long = { text: "x".repeat(limits.frameBytesMax) }
        const error = yield* Effect.flip(Effect.asVoid(connection.notify("x", long)))
        expect(error).toBeInstanceOf(FrameTooLarge)
        expect(error).toMatchObject({ limitBytes: limits.frameBytesMax })
        yield* Effect.flatten(connection.notify("y", {}))
        expect(methods(agent)).toEqual(["y"])
      })
    )
  )

  it.effect("must be taken within the write deadline, else the connection is over for everybody with one cause", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.stallStdin
        const asking = yield* Effect.forEach(["a", "b", "c"], (name) =>
          Effect.forkChild(Effect.flip(ask(connection, name)), { startImmediately: true })
        )
        yield* settle
        yield* TestClock.adjust(limits.writeMs - 1)
        expect(asking.every((fiber) => fiber.pollUnsafe() === undefined)).toBe(true)
        yield* TestClock.adjust(1)
        const [first, ...others] = yield* Fiber.joinAll(asking)
        expect(first).toMatchObject({ _tag: "ConnectionClosed", reason: "write_timed_out" })
        expect(others.every((error) => error === first)).toBe(true)
        // The second and the third never went out.
        expect(yield* drain(connection)).toMatchObject([{ _tag: "Asked" }, { _tag: "Closed", cause: first }])
        expect(yield* Effect.flip(ask(connection, "d"))).toBe(first)
      })
    )
  )

  it.effect("have the deadline each for itself: an agent that reads slowly is not retired", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.stallStdin
        const names = ["a", "b", "c", "d"]
        const asking = yield* Effect.forEach(names, (name) =>
          Effect.forkChild(ask(connection, name), { startImmediately: true })
        )
        for (const name of names) {
          yield* settle
          yield* TestClock.adjust(limits.writeMs - 1)
          yield* agent.readStdin
          yield* agent.stallStdin
          yield* until(name, () => methods(agent).includes(name))
        }
        yield* Fiber.joinAll(asking)
        expect(methods(agent)).toEqual(names)
      })
    )
  )

  it.effect("fail when the agent has closed its stdin, though its stdout is open", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.closeStdin
        const asking = yield* Effect.forkChild(Effect.flip(ask(connection, "a")))
        yield* Effect.repeat(Effect.yieldNow, { times: 50 })
        yield* TestClock.adjust(limits.drainAfterExitMs - 1)
        expect(asking.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1)
        const error = yield* Fiber.join(asking)
        expect(error).toMatchObject({ _tag: "ConnectionClosed", reason: "stdin_closed" })
        expect(yield* connection.closed).toBe(error)
        expect(tags(yield* drain(connection))).toEqual(["Asked", "Closed"])
        yield* until("the agent is ended", agent.isEnded)
      })
    )
  )

  it.effect("fail with the exit of an agent that has ended, although the write tells of it first", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.closeStdin
        const asking = yield* Effect.forkChild(Effect.flip(ask(connection, "a")))
        yield* Effect.repeat(Effect.yieldNow, { times: 50 })
        yield* TestClock.adjust(limits.drainAfterExitMs - 1)
        yield* agent.exit({ _tag: "Code", code: 3 })
        expect(yield* Fiber.join(asking)).toMatchObject({ reason: "exited", exit: { _tag: "Code", code: 3 } })
      })
    )
  )

  it.effect("go on being written when whoever handed them in is interrupted", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.stallStdin
        const asking = yield* Effect.forkChild(ask(connection, "a"), { startImmediately: true })
        yield* settle
        yield* Fiber.interrupt(asking)
        yield* agent.readStdin
        yield* until("written", () => methods(agent).length === 1)
      })
    )
  )
})

describe("entries", () => {
  it.effect("come in the order of the wire, each response with its ticket, and a mark for each request of ours", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        const [first, second] = [connection.ticket("a"), connection.ticket("b")]
        yield* agent.send(text("before"))
        yield* until("read", () => connection.depth().entries === 1)
        yield* Effect.flatten(connection.request(first, {}))
        yield* Effect.flatten(connection.request(second, {}))
        yield* agent.send(
          text("x"),
          { id: 1, result: { of: "b" } },
          { method: "y" },
          { id: 0, error: { code: 1, message: "no" } }
        )
        yield* agent.exit(exit)
        const entries = yield* drain(connection)
        expect(entries).toMatchObject([
          { _tag: "Update" },
          { _tag: "Asked", ticket: first },
          { _tag: "Asked", ticket: second },
          { _tag: "Update" },
          { _tag: "Response", ticket: second, result: { of: "b" } },
          { _tag: "Notification", method: "y" },
          { _tag: "Response", ticket: first, error: { code: 1, message: "no" } },
          { _tag: "Closed", cause: { reason: "exited", exit } }
        ])
        expect(connection.framesSeen()).toBe(5)
      })
    )
  )

  it.effect("have a last one, after which there is nothing", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.send(text("a"), text("b"))
        yield* agent.exit(exit)
        const entries = yield* drain(connection)
        expect(tags(entries)).toEqual(["Update", "Update", "Closed"])
        expect(yield* connection.take).toBeUndefined()
        const last = entries.at(-1)
        expect(last?._tag === "Closed" ? last.cause : undefined).toBe(yield* connection.closed)
      })
    )
  )

  it.effect("count a last line without its end if it is a whole frame, and not if it was cut", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        const line = JSON.stringify({ jsonrpc: "2.0", ...text("last") })
        yield* agent.sendBytes(new TextEncoder().encode(line))
        yield* agent.exit(exit)
        expect(tags(yield* drain(connection))).toEqual(["Update", "Closed"])
        expect(connection.noise.lines).toBe(0)
      })
    )
  )

  it.effect("that were read are all there, however the connection ends while nobody takes them", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        const count = limits.queueFramesMax * 2
        yield* agent.send(...Array.from({ length: count }, (_, n) => text(`${n}`)))
        yield* until("the queue is full", () => connection.depth().entries === limits.queueFramesMax)
        yield* connection.retire("retired")
        yield* connection.closed
        const entries = yield* drain(connection)
        expect(entries).toHaveLength(count + 1)
        expect(entries.at(-1)).toMatchObject({ _tag: "Closed", cause: { reason: "retired" } })
      })
    )
  )
})

describe("the noise of an agent", () => {
  it.effect("is counted and sampled, and makes no entry", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.sendBytes(new TextEncoder().encode("banner\n{broken\n\n"))
        yield* agent.send(text("a"))
        yield* agent.exit(exit)
        expect(tags(yield* drain(connection))).toEqual(["Update", "Closed"])
        expect(connection.noise).toMatchObject({ lines: 2, samples: ["banner", "{broken"] })
        expect(agent.written).toEqual([])
      })
    )
  )
})

describe("an answer slot", () => {
  const slotOf = (entries: ReadonlyArray<Entry> | undefined) => {
    const found = entries?.find((entry) => entry._tag === "Request")
    return found?._tag === "Request" ? found.slot : undefined
  }

  it.effect("is used once, however many try at once, and says written only when it was", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.send(permission("p"))
        const slot = slotOf((yield* connection.take)?.entries)!
        expect(connection.openRequests()).toBe(1)
        yield* agent.stallStdin
        const tries = yield* Effect.forEach([1, 2, 3], (n) =>
          Effect.forkChild(slot.answer({ result: { n } }), { startImmediately: true })
        )
        yield* settle
        expect(tries[0]!.pollUnsafe()).toBeUndefined()
        expect(slot.isOpen()).toBe(false)
        yield* agent.readStdin
        expect(yield* Fiber.joinAll(tries)).toEqual(["written", "alreadyAnswered", "alreadyAnswered"])
        expect(yield* slot.answerSafely).toBe("alreadyAnswered")
        expect(agent.written).toEqual([{ jsonrpc: "2.0", id: "p", result: { n: 1 } }])
        expect(connection.openRequests()).toBe(0)
      })
    )
  )

  it.effect("says that the connection is dead, once it is", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* agent.send(permission("p"))
        const slot = slotOf((yield* connection.take)?.entries)!
        yield* agent.exit(exit)
        yield* connection.closed
        expect(yield* slot.answer({ result: {} })).toBe("connectionDead")
        expect(yield* slot.answerSafely).toBe("connectionDead")
        expect(slot.isOpen()).toBe(false)
      })
    )
  )
})

describe("the end of a connection", () => {
  /** An agent of which only the parts exist that a test needs. */
  const bareLink = (parts: Partial<AgentLink>) => {
    let closes = 0
    const report: CleanupReport = { exit, steps: [], proof: "in-process", processesSeen: 0, survivors: [] }
    const close = Effect.sync(() => {
      closes++
      return report
    })
    const link: AgentLink = {
      pull: Effect.never,
      write: () => Effect.void,
      end: Effect.void,
      exit: Effect.never,
      identity: undefined,
      backend: "in-process",
      stderrTail: () => ["the last word"],
      close,
      kill: close,
      ...parts
    }
    const layer = Layer.succeed(AgentLinks, AgentLinks.of({ open: () => Effect.succeed(link) }))
    return { layer: Layer.mergeAll(layer, Registry.layer), closes: () => closes }
  }

  it.effect("by a defect of its own is told as what it is", () => {
    const { layer } = bareLink({ pull: Effect.die("planted") })
    return Effect.gen(function* () {
      const connection = yield* openConnection("connection:c1", launch)
      expect(yield* connection.closed).toMatchObject({ reason: "crashed" })
      expect(tags(yield* drain(connection))).toEqual(["Closed"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("has one reason, the first, and ends the agent at once", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        yield* connection.retire("cancel_unacknowledged")
        yield* connection.retire("guard_violation")
        yield* until("the agent is ended", agent.isEnded)
        expect(yield* connection.closed).toMatchObject({ reason: "cancel_unacknowledged" })
        expect(yield* Effect.flip(ask(connection, "a"))).toBe(yield* connection.closed)
        expect(agent.written).toEqual([])
      })
    )
  )

  it.effect("is told at once to whoever waits for a write, also if the link never says a word", () =>
    Effect.gen(function* () {
      const { layer } = bareLink({ write: () => Effect.never })
      yield* Effect.gen(function* () {
        const connection = yield* openConnection("connection:c1", launch)
        const asking = yield* Effect.forEach(["a", "b"], (name) =>
          Effect.forkChild(Effect.flip(ask(connection, name)), { startImmediately: true })
        )
        yield* settle
        yield* connection.retire("cancel_unacknowledged")
        const cause = yield* connection.closed
        expect(yield* Fiber.joinAll(asking)).toEqual([cause, cause])
        yield* TestClock.adjust(limits.writeMs)
        expect(cause.reason).toBe("cancel_unacknowledged")
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  )

  it.effect("by closing it is released, and proven by one report for all", () =>
    onConnection(
      Effect.fnUntraced(function* (connection, agent) {
        const reports = yield* Effect.all([connection.close, connection.close, connection.kill], {
          concurrency: "unbounded"
        })
        expect(reports).toMatchObject([{ survivors: [] }, { survivors: [] }, { survivors: [] }])
        expect(agent.isEnded()).toBe(true)
        expect(yield* connection.closed).toMatchObject({ reason: "released" })
      })
    )
  )

  it.effect("comes with the end of its output, with the exit if that is told in time", () =>
    Effect.gen(function* () {
      const exited = Deferred.makeUnsafe<ProcessExit>()
      const { layer } = bareLink({ pull: Effect.succeed(undefined), exit: Deferred.await(exited) })
      yield* Effect.gen(function* () {
        const connection = yield* openConnection("connection:c1", launch)
        yield* settle
        yield* TestClock.adjust(limits.drainAfterExitMs - 1)
        expect(connection.depth().entries).toBe(0)
        yield* Deferred.succeed(exited, exit)
        expect(yield* connection.closed).toMatchObject({ reason: "exited", exit, stderrTail: ["the last word"] })
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  )

  it.effect("comes with the end of its output, though the process lives on", () =>
    Effect.gen(function* () {
      const { layer, closes } = bareLink({ pull: Effect.succeed(undefined) })
      yield* Effect.gen(function* () {
        const connection = yield* openConnection("connection:c1", launch)
        yield* settle
        yield* TestClock.adjust(limits.drainAfterExitMs)
        const cause = yield* connection.closed
        expect(cause).toMatchObject({ reason: "output_ended" })
        expect(cause.exit).toBeUndefined()
        yield* until("the agent is ended", () => closes() > 0)
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  )
})
