/** How a turn ends, case by case: what the agent and the host do, the outcome, and its one terminal event. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { type OpenedSession, type PromptHandle, Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { handshake, makeHost, openOptions, permission, respond, text, update } from "./host.ts"

interface Case {
  readonly name: string
  /** After the handshake; `prompt` is the frame of the prompt, once it has come. */
  readonly agent: (agent: FakeAgent) => Effect.Effect<void>
  /** Between the acceptance of the prompt `t1` and its outcome. */
  readonly host?: (context: {
    readonly session: OpenedSession
    readonly prompt: PromptHandle
    readonly agent: FakeAgent
  }) => Effect.Effect<unknown, unknown>
  readonly before?: (session: OpenedSession) => Effect.Effect<unknown, unknown>
  readonly deadlineMs?: number
  readonly outcome: object
  readonly terminal: string
  readonly cancelFrames: number
  /** Frames of other methods that the agent got after the prompt. */
  readonly answers?: ReadonlyArray<object>
}

const endTurn = (prompt: Json) => respond(prompt, { stopReason: "end_turn" })
const cancelled = (prompt: Json) => respond(prompt, { stopReason: "cancelled" })

/** Streams a word, and answers the cancel as `answer` says. */
const streamUntilCancel = (answer: (prompt: Json) => Json) =>
  Effect.fnUntraced(function* (agent: FakeAgent) {
    const prompt = yield* agent.receive
    yield* agent.send(text("working"))
    yield* agent.receive
    yield* agent.send(text("more"), answer(prompt))
  })

/** Until the agent's first word has come through. */
const underWay = ({ prompt }: { readonly prompt: PromptHandle }) =>
  prompt.events.pipe(
    Stream.takeUntil((event) => event.eventType === "item.delta"),
    Stream.runDrain
  )

const cancelMidStream: Case["host"] = (context) => Effect.andThen(underWay(context), context.session.cancel("t1"))

const isCancel = (frame: Json) => frame["method"] === "session/cancel"
const isPrompt = (frame: Json) => frame["method"] === "session/prompt"

/** Lets the other fibers run until the frame has come. */
const untilWritten = (agent: FakeAgent, is: (frame: Json) => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    agent.written.some(is) ? Effect.void : Effect.andThen(Effect.yieldNow, untilWritten(agent, is))
  )

const cases: ReadonlyArray<Case> = [
  {
    name: "cancel of a turn that is not known yet",
    before: (session) => session.cancel("t1"),
    agent: () => Effect.void,
    outcome: { _tag: "Cancelled", by: "interrupt", written: false, acknowledged: false },
    terminal: "turn.interrupted",
    cancelFrames: 0
  },
  {
    name: "cancel in the tick of the prompt",
    agent: () => Effect.void,
    host: ({ session }) => session.cancel("t1"),
    outcome: { _tag: "Cancelled", by: "interrupt", written: false, acknowledged: false },
    terminal: "turn.interrupted",
    cancelFrames: 0
  },
  {
    name: "cancel when the prompt has just been written",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.receive
      yield* agent.send(cancelled(prompt))
    }),
    host: ({ session, agent }) => Effect.andThen(untilWritten(agent, isPrompt), session.cancel("t1")),
    outcome: { _tag: "Cancelled", by: "interrupt", written: true, acknowledged: true, providerStopReason: "cancelled" },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "cancel in mid-stream",
    agent: streamUntilCancel(cancelled),
    host: cancelMidStream,
    outcome: { _tag: "Cancelled", by: "interrupt", acknowledged: true, providerStopReason: "cancelled" },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "two cancels in mid-stream",
    agent: streamUntilCancel(cancelled),
    host: (context) => Effect.andThen(cancelMidStream(context), context.session.cancel("t1")),
    outcome: { _tag: "Cancelled", by: "interrupt", acknowledged: true },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "cancel answered by end_turn",
    agent: streamUntilCancel(endTurn),
    host: cancelMidStream,
    outcome: { _tag: "Cancelled", by: "interrupt", acknowledged: true, providerStopReason: "end_turn" },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "cancel answered by an error",
    agent: streamUntilCancel((prompt) => ({ id: prompt["id"], error: { code: -32603, message: "aborted" } })),
    host: cancelMidStream,
    outcome: { _tag: "Cancelled", acknowledged: true, agentError: { rpcCode: -32603, rpcMessage: "aborted" } },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "cancel with 27 open requests",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.send(...Array.from({ length: 27 }, (_, n) => permission(70 + n)), text("asking"))
      for (let frames = 0; frames < 28; frames++) yield* agent.receive
      yield* agent.send(cancelled(prompt))
    }),
    host: cancelMidStream,
    outcome: { _tag: "Cancelled", acknowledged: true },
    terminal: "turn.interrupted",
    cancelFrames: 1,
    answers: Array.from({ length: 27 }, (_, n) => ({ id: 70 + n, result: { outcome: { outcome: "cancelled" } } }))
  },
  {
    name: "cancel that is never answered",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.receive
      yield* agent.send(text("working"))
    }),
    host: (context) =>
      Effect.all([cancelMidStream(context), untilWritten(context.agent, isCancel), TestClock.adjust(limits.cancelMs)]),
    outcome: { _tag: "Cancelled", by: "interrupt", acknowledged: false, written: true },
    terminal: "turn.interrupted",
    cancelFrames: 1
  },
  {
    name: "cancel after the turn has settled",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("done"), endTurn(yield* agent.receive))
    }),
    host: ({ session, prompt }) => Effect.andThen(prompt.outcome, session.cancel("t1")),
    outcome: { _tag: "Completed", stopReason: "end_turn", reply: "message" },
    terminal: "turn.completed",
    cancelFrames: 0
  },
  {
    name: "close of the session in mid-stream",
    agent: streamUntilCancel(cancelled),
    host: (context) => Effect.andThen(underWay(context), context.session.close),
    outcome: { _tag: "Cancelled", by: "shutdown", acknowledged: true },
    terminal: "turn.cancelled",
    cancelFrames: 1
  },
  {
    name: "death before the response",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.receive
      yield* agent.send(text("so far"))
      yield* agent.exit({ _tag: "Signal", signal: "SIGKILL", inferred: false })
    }),
    outcome: {
      _tag: "Failed",
      reason: "connection_closed",
      closeReason: "exited",
      exit: { _tag: "Signal", signal: "SIGKILL", inferred: false }
    },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "death after the response",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("done"), endTurn(yield* agent.receive))
      yield* agent.exit({ _tag: "Code", code: 1 })
    }),
    outcome: { _tag: "Completed", reply: "message" },
    terminal: "turn.completed",
    cancelFrames: 0
  },
  {
    name: "stdin closed by the agent while its stdout is open",
    agent: () => Effect.void,
    before: () => Effect.void,
    host: ({ agent }) =>
      agent.closeStdin.pipe(
        Effect.andThen(Effect.repeat(Effect.yieldNow, { times: 50 })),
        Effect.andThen(TestClock.adjust(limits.drainAfterExitMs))
      ),
    outcome: { _tag: "Failed", reason: "connection_closed", closeReason: "stdin_closed" },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "success without any output",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(update({ sessionUpdate: "usage_update", used: 1, size: 10 }), endTurn(yield* agent.receive))
    }),
    outcome: { _tag: "Failed", reason: "empty_completion", providerStopReason: "end_turn" },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "a tool call without a message",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      const tool = { sessionUpdate: "tool_call", toolCallId: "c1", title: "ls", kind: "execute", status: "completed" }
      yield* agent.send(update(tool), endTurn(prompt))
    }),
    outcome: { _tag: "Completed", reply: "none" },
    terminal: "turn.completed",
    cancelFrames: 0
  },
  {
    name: "text that comes after the response",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("done"), endTurn(yield* agent.receive), text("late"))
    }),
    outcome: { _tag: "Completed", reply: "message" },
    terminal: "turn.completed",
    cancelFrames: 0
  },
  {
    name: "an error of the agent",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.send({ id: prompt["id"], error: { code: -32603, message: "no model", data: { why: "x" } } })
    }),
    outcome: {
      _tag: "Failed",
      reason: "agent_error",
      agentError: { rpcCode: -32603, rpcMessage: "no model", data: { why: "x" } }
    },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "an answer that asks for a login",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.send({ id: prompt["id"], error: { code: -32000, message: "login" } })
    }),
    outcome: { _tag: "Failed", reason: "auth_required" },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "a response that is malformed",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("x"), respond(yield* agent.receive, { stop: true }))
    }),
    outcome: { _tag: "Failed", reason: "answer_malformed" },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "a refusal",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("no"), respond(yield* agent.receive, { stopReason: "refusal" }))
    }),
    outcome: { _tag: "Failed", reason: "refused" },
    terminal: "turn.failed",
    cancelFrames: 0
  },
  {
    name: "cancelled by the agent of its own accord",
    agent: Effect.fnUntraced(function* (agent) {
      yield* agent.send(text("no"), cancelled(yield* agent.receive))
    }),
    outcome: { _tag: "Cancelled", by: "agent", acknowledged: true },
    terminal: "turn.cancelled",
    cancelFrames: 0
  },
  {
    name: "the deadline of the turn",
    agent: streamUntilCancel(endTurn),
    deadlineMs: 5_000,
    host: (context) => Effect.andThen(underWay(context), TestClock.adjust(5_000)),
    outcome: { _tag: "Failed", reason: "turn_timeout" },
    terminal: "turn.failed",
    cancelFrames: 1
  },
  {
    name: "a response whose id has the wrong type",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.send(text("x"), { id: String(prompt["id"]), result: { stopReason: "end_turn" } })
      yield* agent.receive
    }),
    deadlineMs: 1_000,
    host: (context) =>
      Effect.all([
        underWay(context),
        TestClock.adjust(1_000),
        untilWritten(context.agent, isCancel),
        TestClock.adjust(limits.cancelMs)
      ]),
    outcome: { _tag: "Failed", reason: "turn_timeout" },
    terminal: "turn.failed",
    cancelFrames: 1
  },
  {
    name: "a second response",
    agent: Effect.fnUntraced(function* (agent) {
      const prompt = yield* agent.receive
      yield* agent.send(text("x"), respond(prompt, { stopReason: "max_tokens" }), endTurn(prompt))
    }),
    outcome: { _tag: "Completed", stopReason: "max_tokens" },
    terminal: "turn.completed",
    cancelFrames: 0
  }
]

describe("a turn ends once", () => {
  for (const one of cases) {
    it.effect(`${one.name}: ${one.terminal}`, () => {
      const host = makeHost((agent) => Effect.andThen(handshake(agent), one.agent(agent)))
      return Effect.gen(function* () {
        const runner = yield* Runner
        const all = yield* runner.events()
        const session = yield* runner.open(openOptions)
        const agent = host.agents[0]!
        if (one.before !== undefined) yield* one.before(session)
        const accepted = agent.written.length
        const prompt = yield* session.prompt("go", {
          turnId: "t1",
          ...(one.deadlineMs === undefined ? {} : { deadline: one.deadlineMs })
        })
        // The session's own stream is what is checked; that of the prompt belongs to the case.
        if (one.host === undefined) yield* Effect.forkScoped(Stream.runDrain(prompt.events))
        else yield* one.host({ session, prompt, agent })
        expect(yield* prompt.outcome).toMatchObject(one.outcome)
        yield* session.close
        all.end()
        const events = yield* Stream.runCollect(all.events)
        const terminals = events.filter(isTurnTerminal)
        expect(terminals.map((event) => event.eventType)).toEqual([one.terminal])
        const ofTurn = events.filter((event) => event.turnId === "t1")
        expect(ofTurn.at(-1)).toBe(terminals[0])
        expect(events.map((event) => event.sourceSeq)).toEqual(events.map((_, index) => index + 1))
        const frames = agent.written.slice(accepted)
        expect(frames.filter(isCancel)).toHaveLength(one.cancelFrames)
        if (one.answers !== undefined) {
          expect(frames.filter((frame) => "result" in frame).map(({ id, result }) => ({ id, result }))).toEqual(
            one.answers
          )
        }
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    })
  }

  it.effect("a queued turn that is cancelled ends unwritten, and the one before it goes on", () => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const first = yield* agent.receive
        yield* agent.send(text("first"))
        yield* Effect.sleep(1_000)
        yield* agent.send(endTurn(first))
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const first = yield* session.prompt("one", { turnId: "t1" })
      const second = yield* session.prompt("two", { turnId: "t2" })
      yield* underWay({ prompt: first })
      expect(yield* second.cancel).toMatchObject({ _tag: "Cancelled", written: false })
      const rest = yield* Effect.forkChild(first.outcome)
      yield* TestClock.adjust(1_000)
      expect(yield* Fiber.join(rest)).toMatchObject({ _tag: "Completed" })
      expect(host.agents[0]!.written.filter((frame) => frame["method"] === "session/prompt")).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("the prompts of one session are written one after another", () => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        for (;;) {
          const prompt = yield* agent.receive
          yield* agent.send(text(`answer ${prompt["id"]}`), endTurn(prompt))
        }
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const prompts = yield* Effect.forEach([1, 2, 3], (n) => session.prompt(`${n}`, { events: "discard" }))
      const outcomes = yield* Effect.forEach(prompts, (prompt) => prompt.outcome, { concurrency: "unbounded" })
      expect(outcomes.map((outcome) => outcome._tag)).toEqual(["Completed", "Completed", "Completed"])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
