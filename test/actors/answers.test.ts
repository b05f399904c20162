/** Who answers the agent's requests, under each policy, and what is recorded of it: never more than what was written. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { type OpenedSession, Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { PermissionPolicy } from "../../src/schema/request.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { agentSession, handshake, makeHost, openOptions, permission, text, workspace } from "./host.ts"
import {
  answers,
  cancelled,
  endTurn,
  isCancel,
  isPrompt,
  type Record,
  record,
  selected,
  settle,
  until,
  untilAnswers,
  untilWritten,
  valueAt
} from "./observe.ts"

interface Stage {
  readonly agent: FakeAgent
  readonly session: OpenedSession
  readonly seen: Record
  readonly prompt: Json
}

/** An agent that has got the prompt `t1` and is driven by the test. */
const onStage = (
  act: (stage: Stage) => Effect.Effect<unknown, unknown, Scope.Scope>,
  options: Partial<typeof openOptions> = {}
): Effect.Effect<void, unknown> => {
  const host = makeHost(handshake)
  return Effect.gen(function* () {
    const seen = yield* record
    const session = yield* (yield* Runner).open({ ...openOptions, ...options })
    const agent = host.agents[0]!
    yield* session.prompt("go", { turnId: "t1", events: "discard" })
    yield* untilWritten(agent, isPrompt)
    yield* act({ agent, session, seen, prompt: agent.written.find(isPrompt)! }).pipe(
      Effect.ensuring(agent.exit({ _tag: "Code", code: 0 }))
    )
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

const requestId = (event: Event | undefined) => String(valueAt(event?.payload, "request", "requestId"))

/** The first request that is put to a person. */
const asked = ({ seen }: Stage) =>
  Effect.map(seen.untilEvent("runtime_request.created"), () => requestId(seen.ofType("runtime_request.created")[0]))

const choose = (session: OpenedSession, id: string, optionId = "yes") =>
  session.answer(id, { _tag: "Selected", optionId })

const reading = (path: string, kind = "read"): Json => ({
  id: path,
  method: "session/request_permission",
  params: {
    sessionId: agentSession,
    toolCall: { toolCallId: "t", title: path, kind, locations: [{ path }], rawInput: { path } },
    options: [
      { optionId: "always", name: "Always", kind: "allow_always" },
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" }
    ]
  }
})

describe("under a policy", () => {
  const inside = `${workspace}/a.txt`
  const outside = "/etc/passwd"
  interface Row {
    readonly policy: PermissionPolicy
    readonly canAsk: boolean
    /** What becomes of an execution, a read inside and a read outside. */
    readonly outcomes: readonly [string, string, string]
    readonly by: string
  }
  const rows: ReadonlyArray<Row> = [
    { policy: "ask", canAsk: true, outcomes: ["asked", "asked", "asked"], by: "answer" },
    { policy: "ask", canAsk: false, outcomes: ["no", "no", "no"], by: "headless" },
    { policy: "approve-reads", canAsk: true, outcomes: ["asked", "yes", "asked"], by: "policy" },
    { policy: "approve-reads", canAsk: false, outcomes: ["no", "yes", "no"], by: "headless" },
    { policy: "approve-all", canAsk: false, outcomes: ["yes", "yes", "yes"], by: "policy" },
    { policy: "deny-all", canAsk: true, outcomes: ["no", "no", "no"], by: "policy" }
  ]
  for (const { policy, canAsk, outcomes, by } of rows) {
    const who = canAsk ? "with somebody to ask" : "with nobody to ask"
    it.effect(`${policy}, ${who}: an execution, a read inside and one outside are ${outcomes.join(", ")}`, () =>
      onStage(
        Effect.fnUntraced(function* ({ agent, seen }) {
          const requests = [permission("execute"), reading(inside), reading(outside)]
          yield* agent.send(...requests)
          yield* seen.untilEvent("runtime_request.created", 3)
          const decided = outcomes.filter((outcome) => outcome !== "asked").length
          yield* seen.untilEvent("runtime_request.resolved", decided)
          yield* settle
          const given = new Map(answers(agent).map(({ id, result }) => [id, result]))
          expect(requests.map(({ id }) => given.get(id) ?? "asked")).toEqual(
            outcomes.map((outcome) => (outcome === "asked" ? "asked" : selected(outcome)))
          )
          const resolved = seen.ofType("runtime_request.resolved")
          expect(resolved).toHaveLength(decided)
          if (decided === 3) expect(resolved.map((event) => valueAt(event.payload, "by"))).toContain(by)
          expect(resolved.every((event) => event.turnId === "t1")).toBe(true)
        }),
        { policy, canAsk }
      )
    )
  }

  it.effect("with nobody to ask, a request is rejected once and that is said", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission(1))
        yield* seen.untilEvent("runtime_request.resolved")
        expect(seen.ofType("runtime_request.resolved")).toMatchObject([
          {
            payload: { by: "headless", action: "decline", reason: "there is nobody to ask", optionKind: "reject_once" }
          }
        ])
        expect(yield* Effect.flip(choose(session, yield* asked(stage)))).toMatchObject({ reason: "already_answered" })
        expect(answers(agent)).toEqual([{ id: 1, result: selected("no") }])
      }),
      { canAsk: false }
    )
  )

  it.effect("a request without an option to reject is denied by answering cancelled", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        const { params, ...rest } = permission(1)
        const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" }]
        yield* agent.send({ ...rest, params: { ...(params as Json), options } })
        yield* seen.untilEvent("runtime_request.resolved")
        expect(answers(agent)).toEqual([{ id: 1, result: cancelled }])
      }),
      { policy: "deny-all" }
    )
  )
})

describe("an answer", () => {
  it.effect("goes to the agent with the agent's own option id, and is recorded as what it was", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission("p"))
        const id = yield* asked(stage)
        yield* choose(session, id)
        yield* seen.untilEvent("runtime_request.resolved")
        expect(answers(agent)).toEqual([{ id: "p", result: selected("yes") }])
        expect(seen.ofType("runtime_request.resolved")).toMatchObject([
          { turnId: "t1", payload: { requestId: id, by: "answer", action: "accept", optionKind: "allow_once" } }
        ])
      })
    )
  )

  it.effect("may be none of the options: the agent hears cancelled", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session } = stage
        yield* agent.send(permission("p"))
        yield* session.answer(yield* asked(stage), { _tag: "Cancelled" })
        expect(answers(agent)).toEqual([{ id: "p", result: cancelled }])
      })
    )
  )

  it.effect("is one: of two in the same tick one wins, the other is refused and changes nothing", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session } = stage
        yield* agent.send(permission("p"))
        const id = yield* asked(stage)
        const both = yield* Effect.all(
          [Effect.exit(choose(session, id, "yes")), Effect.exit(choose(session, id, "no"))],
          { concurrency: "unbounded" }
        )
        expect(both.map((exit) => exit._tag)).toEqual(["Success", "Failure"])
        expect(yield* Effect.flip(choose(session, id, "no"))).toMatchObject({ reason: "already_answered" })
        yield* settle
        expect(answers(agent)).toEqual([{ id: "p", result: selected("yes") }])
      })
    )
  )

  it.effect("comes as soon as it can: from whoever hears of the request, in the step in which it is told", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const runner = yield* Runner
      const all = yield* runner.events()
      const session = yield* runner.open(openOptions)
      const answering = Effect.gen(function* () {
        for (;;) {
          const events = (yield* all.take) ?? []
          const created = events.find((event) => event.eventType === "runtime_request.created")
          if (created !== undefined) return yield* Effect.exit(choose(session, requestId(created)))
        }
      })
      const answered = yield* Effect.forkChild(answering, { startImmediately: true })
      const agent = host.agents[0]!
      yield* session.prompt("go", { events: "discard" })
      yield* untilWritten(agent, isPrompt)
      yield* agent.send(permission("p"))
      expect((yield* Fiber.join(answered))._tag).toBe("Success")
      expect(answers(agent)).toEqual([{ id: "p", result: selected("yes") }])
      yield* agent.exit({ _tag: "Code", code: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("that names an option which was not offered is refused; the request stays open", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session } = stage
        yield* agent.send(permission("p"))
        const id = yield* asked(stage)
        expect(yield* Effect.flip(choose(session, id, "forged"))).toMatchObject({ reason: "option_not_offered" })
        yield* settle
        expect(answers(agent)).toEqual([])
        yield* choose(session, id, "no")
        expect(answers(agent)).toEqual([{ id: "p", result: selected("no") }])
      })
    )
  )

  it.effect("to a request that was never made is refused as unknown", () =>
    onStage(({ session }) =>
      Effect.map(Effect.flip(choose(session, "request_none")), (error) =>
        expect(error).toMatchObject({ _tag: "AnswerRefused", reason: "unknown_request" })
      )
    )
  )

  const ends: { readonly [how: string]: (stage: Stage) => Effect.Effect<unknown, unknown> } = {
    ends: ({ agent, prompt }) => agent.send(text("done"), endTurn(prompt)),
    "is cancelled": ({ agent, session, prompt }) =>
      Effect.andThen(
        session.cancel("t1"),
        Effect.andThen(
          untilWritten(agent, isCancel),
          agent.send({ id: prompt["id"], result: { stopReason: "cancelled" } })
        )
      )
  }
  for (const [how, end] of Object.entries(ends)) {
    it.effect(`after its turn ${how} is stale and writes nothing: the request was answered cancelled before`, () =>
      onStage(
        Effect.fnUntraced(function* (stage) {
          const { agent, seen, session } = stage
          yield* agent.send(permission("p"))
          const id = yield* asked(stage)
          yield* end(stage)
          yield* until("the turn is over", () =>
            seen.ofTurn("t1").some(({ eventType }) => /^turn\.(c|i)/.test(eventType))
          )
          expect(yield* Effect.flip(choose(session, id))).toMatchObject({ _tag: "AnswerRefused", reason: "stale" })
          yield* settle
          expect(answers(agent)).toEqual([{ id: "p", result: cancelled }])
          const types = seen.ofTurn("t1").map((event) => event.eventType)
          expect(types.indexOf("runtime_request.cancelled")).toBeLessThan(types.length - 1)
          expect(types).not.toContain("runtime_request.resolved")
        })
      )
    )
  }

  it.effect("is not recorded before the agent's stdin took it, nor confirmed", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission("p"))
        const id = yield* asked(stage)
        yield* agent.stallStdin
        const answering = yield* Effect.forkChild(choose(session, id), { startImmediately: true })
        yield* settle
        expect(answering.pollUnsafe()).toBeUndefined()
        expect(seen.ofType("runtime_request.resolved")).toEqual([])
        expect(yield* Effect.flip(choose(session, id, "no"))).toMatchObject({ reason: "already_answered" })
        yield* agent.readStdin
        yield* Fiber.join(answering)
        yield* seen.untilEvent("runtime_request.resolved")
        expect(answers(agent)).toEqual([{ id: "p", result: selected("yes") }])
      })
    )
  )

  it.effect("that the agent does not read in time is undelivered: told, never written later", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission("first"), permission("second"))
        yield* seen.untilEvent("runtime_request.created", 2)
        const [first, second] = seen.ofType("runtime_request.created").map(requestId)
        yield* agent.stallStdin
        const answering = yield* Effect.forkChild(
          Effect.all([Effect.flip(choose(session, first!)), Effect.flip(choose(session, second!))], {
            concurrency: "unbounded"
          }),
          { startImmediately: true }
        )
        yield* settle
        yield* TestClock.adjust(limits.writeMs)
        const refused = yield* Fiber.join(answering)
        expect(refused.map((error) => (error._tag === "AnswerRefused" ? error.reason : error))).toEqual([
          "connection_dead",
          "connection_dead"
        ])
        yield* seen.untilEvent("turn.failed")
        expect(seen.ofType("turn.failed")).toMatchObject([{ payload: { closeReason: "write_timed_out" } }])
        expect(seen.ofType("runtime_request.resolved")).toEqual([])
        expect(seen.ofType("runtime_request.cancelled").map((event) => event.payload)).toMatchObject([
          { requestId: first, action: "undelivered", reason: "connection_dead", intended: "accept" },
          { requestId: second, action: "undelivered", reason: "connection_dead", intended: "accept" }
        ])
        yield* agent.readStdin
        yield* settle
        expect(answers(agent)).toEqual([])
      })
    )
  )

  it.effect("that waits behind a frame which the agent does not read is not written once its turn is given up", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission("first"), permission("second"))
        yield* seen.untilEvent("runtime_request.created", 2)
        const [first, second] = seen.ofType("runtime_request.created").map(requestId)
        yield* agent.stallStdin
        yield* Effect.forkScoped(Effect.exit(choose(session, first!)))
        yield* Effect.forkScoped(Effect.exit(choose(session, second!)))
        yield* settle
        yield* session.cancel("t1")
        yield* settle
        yield* TestClock.adjust(limits.cancelMs)
        yield* seen.untilEvent("turn.interrupted")
        // The first was in the hands of the operating system; whether it was read nobody can tell. The second was not.
        yield* agent.readStdin
        yield* settle
        expect(answers(agent).filter(({ id }) => id === "second")).toEqual([])
        expect(seen.ofType("runtime_request.resolved")).toEqual([])
        yield* seen.untilEvent("session.failed")
      })
    )
  )

  it.effect("cannot be given any more once the agent has died; what was open is told as undelivered", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(permission("p"))
        const id = yield* asked(stage)
        yield* agent.exit({ _tag: "Code", code: 1 })
        yield* seen.untilEvent("turn.failed")
        expect(yield* Effect.flip(choose(session, id))).toMatchObject({ reason: "connection_dead" })
        expect(seen.ofType("runtime_request.cancelled")).toMatchObject([
          { payload: { requestId: id, action: "undelivered", reason: "connection_dead" } }
        ])
      })
    )
  )

  it.effect("to one of 27 that a cancel has answered comes too late, also while the agent reads slowly", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen, session, prompt }) {
        const count = 27
        yield* agent.send(...Array.from({ length: count }, (_, n) => permission(70 + n)))
        yield* seen.untilEvent("runtime_request.created", count)
        const ids = seen.ofType("runtime_request.created").map(requestId)
        yield* agent.stallStdin
        yield* session.cancel("t1")
        yield* settle
        const late = yield* Effect.forEach(ids, (id) => Effect.flip(choose(session, id)))
        expect(late.every((error) => error._tag === "AnswerRefused" && error.reason === "stale")).toBe(true)
        yield* agent.readStdin
        yield* untilAnswers(agent, count)
        yield* agent.send({ id: prompt["id"], result: { stopReason: "cancelled" } })
        yield* seen.untilEvent("turn.interrupted")
        expect(answers(agent)).toEqual(Array.from({ length: count }, (_, n) => ({ id: 70 + n, result: cancelled })))
        expect(seen.ofTurn("t1").at(-1)?.eventType).toBe("turn.interrupted")
      })
    )
  )
})
