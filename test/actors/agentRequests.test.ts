/** Requests of the agent, end to end: every id is answered exactly once, with its JSON type, or its connection is dead. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { type OpenedSession, Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { agentSession, handshake, makeHost, openOptions, permission, text } from "./host.ts"
import {
  answers,
  cancelled,
  endTurn,
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

const refusal = (id: unknown) => ({ id, error: { code: -32601, message: "Method not found" } })

interface Stage {
  readonly agent: FakeAgent
  readonly session: OpenedSession
  readonly seen: Record
  /** The frame of the prompt `t1`, which has come. */
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

const idOf = (event: { readonly payload: unknown }) =>
  String(valueAt(event.payload, "request", "requestId") ?? valueAt(event.payload, "requestId"))

const created = ({ seen }: Stage) => seen.ofType("runtime_request.created").map(idOf)

/** What a person is asked, once so many requests have come. */
const asked = (stage: Stage, count = 1) =>
  Effect.as(stage.seen.untilEvent("runtime_request.created", count), undefined).pipe(Effect.map(() => created(stage)))

const choose = (session: OpenedSession, requestId: string, optionId = "yes") =>
  session.answer(requestId, { _tag: "Selected", optionId })

describe("the id of a request", () => {
  const ids: ReadonlyArray<unknown> = [0, "0", "", null, -1, 0.5, "r", "\u0000", Number.MAX_SAFE_INTEGER]

  it.effect("goes back as it came, with its JSON type, once", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        yield* agent.send(...ids.map((id) => permission(id)))
        yield* untilAnswers(agent, ids.length)
        yield* settle
        expect(answers(agent)).toEqual(ids.map((id) => ({ id, result: selected("yes") })))
        expect(seen.ofType("runtime_request.resolved")).toHaveLength(ids.length)
      }),
      { policy: "approve-all" }
    )
  )

  it.effect("may be used twice at once: each is a request of its own, each is answered", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session } = stage
        yield* agent.send(permission(7, "a"), permission(7, "b"))
        const [first = "", second = ""] = yield* asked(stage, 2)
        expect(first).not.toBe(second)
        yield* choose(session, second, "no")
        yield* choose(session, first, "yes")
        expect(answers(agent)).toEqual([
          { id: 7, result: selected("no") },
          { id: 7, result: selected("yes") }
        ])
      })
    )
  )

  it.effect("identifies a request, not the id of its tool call, which several may share", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session } = stage
        yield* agent.send(permission(1, "shell-permission"), permission(2, "shell-permission"))
        const [first = "", second = ""] = yield* asked(stage, 2)
        yield* choose(session, second, "yes")
        yield* choose(session, first, "no")
        expect(answers(agent)).toEqual([
          { id: 2, result: selected("yes") },
          { id: 1, result: selected("no") }
        ])
      })
    )
  )

  it.effect("is echoed up to its bound; a longer one is refused without it", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        const longest = "i".repeat(limits.notedValueBytesMax)
        yield* agent.send(
          { id: longest, method: "x/unknown" },
          { id: `${longest}i`, method: "x/unknown" },
          { id: `${longest}i`, method: 5 }
        )
        yield* untilAnswers(agent, 3)
        expect(answers(agent)).toEqual([
          refusal(longest),
          { id: null, error: { code: -32600, message: "Id too long" } },
          { id: null, error: { code: -32600, message: "Invalid request" } }
        ])
        yield* seen.untilNotice("invalid_frame")
      })
    )
  )
})

describe("a request for what we do not offer", () => {
  const methods = ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/kill", "x/unknown", ""]

  it.effect("is refused once, and told", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen, session, prompt }) {
        yield* agent.send(...methods.map((method, id) => ({ id, method, params: {} })))
        yield* untilAnswers(agent, methods.length)
        yield* agent.send(text("all the same"), endTurn(prompt))
        yield* seen.untilEvent("turn.completed")
        yield* session.close
        expect(answers(agent)).toEqual(methods.map((_, id) => refusal(id)))
        expect(seen.notices().filter((notice) => notice === "request_refused")).toHaveLength(methods.length)
        expect(String(valueAt(seen.notice("request_refused")?.payload, "summary"))).toContain("fs/read_text_file")
      })
    )
  )

  it.effect("does no harm to an agent that sends many of them in one write and reads", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen, prompt }) {
        const count = limits.pendingInboundRequestsMax * 10
        yield* agent.send(...Array.from({ length: count }, (_, id) => ({ id, method: "x/unknown" })))
        yield* untilAnswers(agent, count)
        yield* agent.send(text("fine"), endTurn(prompt))
        yield* seen.untilEvent("turn.completed")
        expect(answers(agent)).toEqual(Array.from({ length: count }, (_, id) => refusal(id)))
      })
    )
  )

  it.effect("retires an agent that sends many of them and does not read, by the write deadline", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        yield* agent.stallStdin
        let sent = 0
        const flood = Effect.whileLoop({
          while: () => !agent.isEnded(),
          body: () => agent.send({ id: sent, method: "x/unknown" }),
          step: () => void sent++
        })
        yield* Effect.forkScoped(flood)
        yield* Effect.repeat(settle, { times: 20 })
        // What is owed, and what the pipe and the reader hold.
        const frameBytes = 50
        expect(sent).toBeLessThan(limits.pendingInboundRequestsMax + (3 * 64 * 1024) / frameBytes)
        expect(seen.ofType("session.failed")).toEqual([])
        yield* TestClock.adjust(limits.writeMs)
        yield* seen.untilEvent("session.failed")
        expect(seen.ofType("turn.failed")).toMatchObject([{ payload: { closeReason: "write_timed_out" } }])
        expect(answers(agent)).toEqual([])
      })
    )
  )

  it.effect("is shown without what could forge a terminal", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        yield* agent.send({ id: 1, method: "x/\u001b[2Jclear" }, { method: "y/\u001b[2Jclear" })
        yield* seen.untilNotice("notification")
        const summaries = seen.ofType("provider.notice.recorded").map((event) => valueAt(event.payload, "summary"))
        expect(summaries).toEqual([
          "the agent broke the protocol: request_refused (x/\ufffd[2Jclear)",
          "the agent sent y/\ufffd[2Jclear"
        ])
      })
    )
  )
})

describe("requests that are open at once", () => {
  const most = limits.pendingInboundRequestsMax

  it.effect("are held up to the bound; the next one is answered cancelled at once, and told", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, seen, session } = stage
        yield* agent.send(...Array.from({ length: most }, (_, id) => permission(id)))
        const requests = yield* asked(stage, most)
        yield* settle
        expect(answers(agent)).toEqual([])
        yield* agent.send(permission("one more"))
        yield* untilAnswers(agent, 1)
        expect(answers(agent)).toEqual([{ id: "one more", result: cancelled }])
        yield* seen.untilNotice("too_many_requests")
        yield* choose(session, requests[0]!)
        yield* agent.send(permission("room again"))
        expect(yield* asked(stage, most + 1)).toHaveLength(most + 1)
        expect(answers(agent)).toEqual([
          { id: "one more", result: cancelled },
          { id: 0, result: selected("yes") }
        ])
      })
    )
  )
})

describe("a request that the agent takes back", () => {
  const withdraw = (requestId: unknown): Json => ({ method: "$/cancel_request", params: { requestId } })

  it.effect("is answered cancelled once, told, and an answer after it is stale", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session, seen } = stage
        yield* agent.send(permission("p1"), permission("p2"))
        const [first = "", second = ""] = yield* asked(stage, 2)
        yield* agent.send(withdraw("p1"), withdraw("p1"))
        yield* seen.untilEvent("runtime_request.cancelled")
        expect(yield* Effect.flip(choose(session, first))).toMatchObject({ _tag: "AnswerRefused", reason: "stale" })
        yield* choose(session, second)
        yield* settle
        expect(answers(agent)).toEqual([
          { id: "p1", result: cancelled },
          { id: "p2", result: selected("yes") }
        ])
        expect(seen.ofType("runtime_request.cancelled")).toMatchObject([
          { turnId: "t1", payload: { requestId: first, by: "withdrawn", action: "cancel" } }
        ])
      })
    )
  )

  it.effect("is named by its id with its JSON type: another one is not touched", () =>
    onStage(
      Effect.fnUntraced(function* (stage) {
        const { agent, session, seen } = stage
        yield* agent.send(permission(0))
        const [request = ""] = yield* asked(stage)
        yield* agent.send(withdraw("0"), withdraw(null), withdraw(1), { method: "$/cancel_request" }, text("on"))
        yield* seen.untilEvent("item.delta")
        yield* choose(session, request)
        expect(answers(agent)).toEqual([{ id: 0, result: selected("yes") }])
        expect(seen.notices()).toEqual([])
      })
    )
  )

  it.effect("in the write that asked, is never left open", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        yield* agent.send(permission("p1"), withdraw("p1"))
        yield* untilAnswers(agent, 1)
        yield* seen.untilEvent("runtime_request.cancelled")
        yield* settle
        expect(answers(agent)).toEqual([{ id: "p1", result: cancelled }])
        expect(seen.ofType("runtime_request.created")).toHaveLength(1)
      })
    )
  )
})

describe("a request outside a turn", () => {
  it.effect("is answered cancelled at once and told, before the first prompt and after the last", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, session, seen, prompt }) {
        yield* agent.send(text("done"), endTurn(prompt), permission("late"))
        yield* untilAnswers(agent, 1)
        yield* seen.untilNotice("request_outside_turn")
        expect(answers(agent)).toEqual([{ id: "late", result: cancelled }])
        expect(seen.notice("request_outside_turn")?.turnId).toBeUndefined()
        expect(seen.ofType("runtime_request.created")).toEqual([])
        yield* session.close
      })
    )
  )

  it.effect("holds up nothing behind it while the agent does not read", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen, prompt }) {
        yield* agent.send(text("done"), endTurn(prompt))
        yield* seen.untilEvent("turn.completed")
        yield* agent.stallStdin
        yield* agent.send(permission("late"), text("late"))
        yield* seen.untilNotice("late_update")
        expect(answers(agent)).toEqual([])
        yield* agent.readStdin
        yield* untilAnswers(agent, 1)
        expect(answers(agent)).toEqual([{ id: "late", result: cancelled }])
      })
    )
  )

  it.effect("is answered so, too, when it stands in one write with the response of a turn and another turn waits", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, session, seen, prompt }) {
        yield* session.prompt("next", { turnId: "t2", events: "discard" })
        yield* agent.send(text("done"), endTurn(prompt), permission("late"), text("late too"))
        yield* untilAnswers(agent, 1)
        yield* untilWritten(agent, isPrompt, 2)
        yield* settle
        expect(answers(agent)).toEqual([{ id: "late", result: cancelled }])
        expect(seen.ofType("runtime_request.created")).toEqual([])
        expect(seen.ofTurn("t2").map((event) => event.eventType)).toEqual(["turn.submitted", "turn.started"])
      })
    )
  )
})

describe("a request that cannot be understood", () => {
  it.effect("is refused with -32602 once; an elicitation is cancelled", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen }) {
        yield* agent.send(
          { id: 1, method: "session/request_permission", params: { sessionId: agentSession } },
          { id: 2, method: "session/request_permission" },
          { id: 3, method: "elicitation/create", params: { message: "who?" } }
        )
        yield* untilAnswers(agent, 3)
        yield* seen.untilNotice("request_unsupported")
        expect(answers(agent)).toEqual([
          { id: 1, error: { code: -32602, message: "Invalid params" } },
          { id: 2, error: { code: -32602, message: "Invalid params" } },
          { id: 3, result: { action: "cancel" } }
        ])
        yield* until("told", () => seen.notices().length === 3)
      })
    )
  )
})
