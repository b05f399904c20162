/**
 * Who does not read makes the agent wait, and nothing is lost; from a cancel on nobody waits, and what is left out is counted.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Journal } from "../../src/actors/Journal.ts"
import { Runner } from "../../src/actors/Runner.ts"
import { openSession } from "../../src/actors/Session.ts"
import { limits } from "../../src/schema/limits.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { heapUsed } from "../heap.ts"
import { fakeProvider, handshake, makeHost, openOptions, permission, text, update, workspace } from "./host.ts"
import {
  answers,
  deltas,
  endTurn,
  exitAtEnd,
  isCancel,
  isPrompt,
  record,
  settle,
  until,
  untilWritten
} from "./observe.ts"

const pipeBytes = 64 * 1024

/** An agent that sends so many words, one by one, as fast as it is read, and then ends the turn. */
const makeTalker = (words: number) => {
  let sent = 0
  const program = Effect.fnUntraced(function* (agent: FakeAgent) {
    yield* handshake(agent)
    const prompt = yield* agent.receive
    for (; sent < words && !agent.isEnded(); sent++) yield* agent.send(text(`w${sent} `))
    yield* agent.send(endTurn(prompt))
  })
  return { program, sent: () => sent }
}

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n} `)

const frameBytes = JSON.stringify({ jsonrpc: "2.0", ...text("w10000 ") }).length + 1

/**
 * Updates that may be on their way to a subscriber that does not read: its queue, what the turn is handing on, the ordered
 * queue, the chunk that is being read, the pipe and what was taken of it.
 */
const underWayMax = limits.subscriberEventsMax + 2 * limits.queueFramesMax + Math.ceil((3 * pipeBytes) / frameBytes)

describe("a subscriber that does not read", () => {
  it.effect("makes the agent wait, with bounded queues in between, and gets everything once it reads", () => {
    const count = 20_000
    const talker = makeTalker(count)
    const host = makeHost(talker.program)
    return Effect.gen(function* () {
      const journal = yield* Journal
      const session = yield* openSession({
        sessionId: "s1",
        runId: "r1",
        agent: "fake",
        traits: fakeProvider.traits,
        launch: { command: "fake", args: [], env: {}, cwd: workspace },
        policy: "ask",
        unverified: [],
        canAsk: true,
        mcpServers: [],
        mode: undefined,
        model: undefined
      })
      const slow = yield* journal.subscribe({ sessionId: "s1", turnId: "t1" })
      yield* session.ref.ask({ _tag: "Prompt", payload: { turnId: "t1", parts: [{ _tag: "Text", text: "go" }] } })
      let deepest = { entries: 0, bytes: 0 }
      const { depth } = session.claim.connection
      yield* until("the agent waits", () => {
        const { entries, bytes } = depth()
        deepest = { entries: Math.max(deepest.entries, entries), bytes: Math.max(deepest.bytes, bytes) }
        return entries >= limits.queueFramesMax
      })
      yield* settle
      const waiting = talker.sent()
      expect(waiting).toBeLessThanOrEqual(underWayMax)
      yield* settle
      expect(talker.sent()).toBe(waiting)
      // The mark of the prompt itself always fits.
      expect(deepest.entries).toBeLessThanOrEqual(limits.queueFramesMax + 1)
      expect(deepest.bytes).toBeLessThanOrEqual(limits.queueBytesMax)
      const first = (yield* slow.take) ?? []
      expect(first.length).toBeLessThanOrEqual(limits.subscriberEventsMax + 3)
      const rest = yield* Stream.runCollect(slow.events)
      expect(deltas([...first, ...rest])).toEqual(words(count))
      expect(rest.at(-1)?.eventType).toBe("turn.completed")
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("keeps no more than the bounds in memory, however large the updates", () => {
    const MiB = 1024 * 1024
    const pad = "x".repeat(MiB)
    let sent = 0
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        yield* agent.receive
        for (; !agent.isEnded() && sent < 200; sent++) yield* agent.send(update({ sessionUpdate: "big", n: sent, pad }))
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const before = heapUsed()
      const prompt = yield* session.prompt("go")
      yield* exitAtEnd(host.agents[0])
      yield* until("the agent has begun to wait", () => sent >= 12)
      yield* settle
      const bounds = limits.subscriberBytesMax + 2 * limits.queueBytesMax
      expect(sent * MiB).toBeLessThanOrEqual(bounds + 4 * MiB)
      expect(heapUsed() - before).toBeLessThan(bounds + 32 * MiB)
      yield* host.agents[0]!.exit({ _tag: "Code", code: 0 })
      yield* Stream.runDrain(prompt.events)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Failed", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("makes an agent wait, too, that only asks, and whose requests a policy answers", () => {
    let asked = 0
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const prompt = yield* agent.receive
        for (; asked < 700 && !agent.isEnded(); asked++) {
          yield* agent.send(permission(asked))
          yield* agent.receive
        }
        yield* agent.send(text("done"), endTurn(prompt))
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open({ ...openOptions, policy: "approve-all" })
      const prompt = yield* session.prompt("go")
      yield* exitAtEnd(host.agents[0])
      yield* until("the agent has begun", () => asked > limits.subscriberEventsMax / 2 - 2)
      yield* Effect.repeat(settle, { times: 20 })
      // Each request makes two events at least.
      expect(asked).toBeLessThanOrEqual(limits.subscriberEventsMax / 2 + 2)
      const events = yield* Stream.runCollect(prompt.events)
      const ofType = (type: string) => events.filter((event) => event.eventType === type)
      expect(ofType("runtime_request.created")).toHaveLength(700)
      expect(ofType("runtime_request.resolved")).toHaveLength(700)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("makes an agent wait, too, that only asks for what we do not offer", () => {
    let asked = 0
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const prompt = yield* agent.receive
        for (; asked < 6_000 && !agent.isEnded(); asked++) yield* agent.send({ id: asked, method: "x/unknown" })
        yield* agent.send(text("done"), endTurn(prompt))
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const prompt = yield* session.prompt("go")
      yield* exitAtEnd(host.agents[0])
      yield* until("the agent has begun to wait", () => asked > limits.subscriberEventsMax)
      yield* settle
      expect(asked).toBeLessThan(5_000)
      const events = yield* Stream.runCollect(prompt.events)
      expect(events.filter((event) => event.eventType === "provider.notice.recorded")).toHaveLength(6_000)
      expect(answers(host.agents[0]!)).toHaveLength(6_000)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("of one session holds up the agent of no other", () => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const prompt = yield* agent.receive
        yield* agent.send(...words(5_000).map(text), endTurn(prompt))
      })
    )
    return Effect.gen(function* () {
      const runner = yield* Runner
      const [stalled, other] = [yield* runner.open(openOptions), yield* runner.open(openOptions)]
      const unread = yield* stalled.prompt("go")
      const read = yield* other.prompt("go", { events: "discard" })
      expect(yield* read.outcome).toMatchObject({ _tag: "Completed" })
      const events = yield* Stream.runCollect(unread.events)
      expect(deltas(events)).toEqual(words(5_000))
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

/** Talks until it hears a cancel; answers it behind everything that it has said. */
const hearing = (answer: (agent: FakeAgent, prompt: Json) => Effect.Effect<void>) =>
  Effect.fnUntraced(function* (agent: FakeAgent) {
    yield* handshake(agent)
    const prompt = yield* agent.receive
    const heard = { cancel: false }
    const talk = Effect.gen(function* () {
      for (let n = 0; n < 20_000 && !heard.cancel && !agent.isEnded(); n++) yield* agent.send(text(`w${n} `))
    })
    const talking = yield* Effect.forkScoped(talk, { startImmediately: true })
    yield* agent.receive
    heard.cancel = true
    yield* Fiber.join(talking)
    yield* answer(agent, prompt)
  })

const acknowledges = hearing((agent, prompt) => agent.send({ id: prompt["id"], result: { stopReason: "cancelled" } }))

describe("a turn whose subscriber does not read", () => {
  /** The turn `t1` of a talker, with a reader of everything beside the subscriber that stands still. */
  const prompted = Effect.fnUntraced(function* (
    agents: ReadonlyArray<FakeAgent>,
    options: { readonly deadline?: number } = {}
  ) {
    const seen = yield* record
    const session = yield* (yield* Runner).open(openOptions)
    const prompt = yield* session.prompt("go", { turnId: "t1", ...options })
    yield* exitAtEnd(agents[0])
    yield* until("the subscriber is full", () => seen.events.length >= limits.subscriberEventsMax)
    yield* settle
    return { seen, session, prompt }
  })

  it.effect("is cancelled at once; what does not fit is left out for it and counted, the terminal is last", () => {
    const host = makeHost(acknowledges)
    return Effect.gen(function* () {
      const { seen, session, prompt } = yield* prompted(host.agents)
      expect(yield* session.cancel("t1")).toBe("cancelling")
      const outcome = yield* prompt.outcome
      expect(outcome).toMatchObject({ _tag: "Cancelled", acknowledged: true, providerStopReason: "cancelled" })
      expect(host.agents[0]!.written.filter(isCancel)).toHaveLength(1)
      const events = yield* Stream.runCollect(prompt.events)
      expect(events.at(-1)).toMatchObject({ eventType: "turn.interrupted" })
      expect(events.at(-1)?.payload).toMatchObject({ undeliveredEvents: outcome.undeliveredEvents })
      yield* seen.untilEvent("turn.interrupted")
      expect(outcome.undeliveredEvents).toBeGreaterThan(0)
      expect(events.length + outcome.undeliveredEvents).toBe(seen.ofTurn("t1").length)
      // What it got is the beginning of everything, in order, and the end.
      const got = deltas(events)
      expect(got).toEqual(words(got.length))
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is cancelled within the deadline, also when the agent does not answer", () => {
    const host = makeHost(hearing(() => Effect.void))
    return Effect.gen(function* () {
      const { session, prompt } = yield* prompted(host.agents)
      yield* session.cancel("t1")
      yield* untilWritten(host.agents[0]!, isCancel)
      yield* TestClock.adjust(limits.cancelMs)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", acknowledged: false })
      const events = yield* Stream.runCollect(prompt.events)
      expect(events.at(-1)?.eventType).toBe("turn.interrupted")
      yield* until("the agent is ended", host.agents[0]!.isEnded)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("ends by its deadline", () => {
    const host = makeHost(acknowledges)
    return Effect.gen(function* () {
      const { prompt } = yield* prompted(host.agents, { deadline: 10_000 })
      yield* TestClock.adjust(10_000)
      const outcome = yield* prompt.outcome
      expect(outcome).toMatchObject({ _tag: "Failed", reason: "turn_timeout" })
      expect(outcome.undeliveredEvents).toBeGreaterThan(0)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("ends when its session is closed", () => {
    const host = makeHost(acknowledges)
    return Effect.gen(function* () {
      const { session, prompt } = yield* prompted(host.agents)
      expect(yield* session.close).toMatchObject({ survivors: [] })
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", by: "shutdown", acknowledged: true })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("loses nothing when its agent dies: it is read to the last word, then it has failed", () => {
    const talker = makeTalker(100_000)
    const host = makeHost(talker.program)
    return Effect.gen(function* () {
      const { prompt } = yield* prompted(host.agents)
      const sent = talker.sent()
      yield* host.agents[0]!.exit({ _tag: "Signal", signal: "SIGKILL", inferred: false })
      const events = yield* Stream.runCollect(prompt.events)
      // The word that it was about to write when it died never reached the pipe.
      expect(deltas(events)).toEqual(words(sent))
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Failed", closeReason: "exited", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("that is already answered stays completed when it is cancelled, and says what was left out", () => {
    const host = makeHost(makeTalker(2_000).program)
    return Effect.gen(function* () {
      const { session, prompt } = yield* prompted(host.agents)
      yield* session.cancel("t1")
      const outcome = yield* prompt.outcome
      expect(outcome).toMatchObject({ _tag: "Completed", stopReason: "end_turn" })
      expect(host.agents[0]!.written.filter(isCancel)).toEqual([])
      const events = yield* Stream.runCollect(prompt.events)
      expect(deltas(events).length).toBeLessThan(2_000)
      expect(events.at(-1)?.payload).toMatchObject({ undeliveredEvents: outcome.undeliveredEvents })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("and whose agent does not read either, is cancelled all the same", () => {
    const host = makeHost(hearing(() => Effect.void))
    return Effect.gen(function* () {
      const { session, prompt } = yield* prompted(host.agents)
      yield* host.agents[0]!.stallStdin
      yield* session.cancel("t1")
      yield* settle
      yield* TestClock.adjust(limits.cancelMs)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", acknowledged: false })
      expect(host.agents[0]!.written.filter(isCancel)).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is not read by anybody when its events are discarded, and does not wait", () => {
    const host = makeHost(makeTalker(5_000).program)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const prompt = yield* session.prompt("go", { events: "discard" })
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("a session whose subscriber does not read", () => {
  it.effect("is closed all the same, with what its agent said outside of turns left out", () => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        for (let n = 0; n < 10_000 && !agent.isEnded(); n++) yield* agent.send(text(`late ${n}`))
      })
    )
    return Effect.gen(function* () {
      const runner = yield* Runner
      const all = yield* runner.events()
      const session = yield* runner.open(openOptions)
      yield* settle
      expect(yield* session.close).toMatchObject({ survivors: [] })
      const events = (yield* all.take) ?? []
      expect(events.at(-1)?.eventType).toBe("session.closed")
      expect(events.length).toBeLessThan(limits.subscriberEventsMax + 10)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("accepts a prompt, and a cancel ends its turn", () => {
    let said = 0
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const chatter = Effect.gen(function* () {
          for (; said < 10_000 && !agent.isEnded(); said++) yield* agent.send(text(`late ${said}`))
        })
        yield* Effect.forkScoped(chatter)
        const prompt = yield* agent.receive
        yield* agent.receive
        yield* agent.send({ id: prompt["id"], result: { stopReason: "cancelled" } })
      })
    )
    return Effect.gen(function* () {
      const runner = yield* Runner
      yield* runner.events()
      const session = yield* runner.open(openOptions)
      yield* until("the agent waits", () => said > limits.subscriberEventsMax)
      yield* Effect.repeat(settle, { times: 5 })
      const prompt = yield* session.prompt("go", { turnId: "t1", events: "discard" })
      yield* untilWritten(host.agents[0]!, isPrompt)
      yield* session.cancel("t1")
      yield* untilWritten(host.agents[0]!, isCancel)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", acknowledged: true })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
