/** What a session takes as a prompt, in which order, and what the agent gets of it. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Runner } from "../../src/actors/Runner.ts"
import type { PromptInput } from "../../src/schema/acp/prompt.ts"
import { limits } from "../../src/schema/limits.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { FakeAgent, FakeProgram } from "../../src/testing/FakeLinks.ts"
import { agentSession, handshake, makeHost, openOptions, respond, text } from "./host.ts"
import { deltas, endTurn, isPrompt, record, settle, until, untilWritten, valueAt } from "./observe.ts"

/** Answers every prompt with one word. */
const obliging: FakeProgram = Effect.fnUntraced(function* (agent) {
  yield* handshake(agent)
  for (;;) {
    const prompt = yield* agent.receive
    yield* agent.send(text(`answer ${prompt["id"]}`), endTurn(prompt))
  }
})

/** Advertises nothing. */
const plain: FakeProgram = Effect.fnUntraced(function* (agent) {
  yield* agent.send(respond(yield* agent.receive, { protocolVersion: 1 }))
  yield* agent.send(respond(yield* agent.receive, { sessionId: agentSession }))
  const prompt = yield* agent.receive
  yield* agent.send(text("ok"), endTurn(prompt))
})

const promptsOf = (agent: FakeAgent) => agent.written.filter(isPrompt).map(({ params }) => valueAt(params, "prompt"))

const image = { _tag: "Image", data: "aGk=", mimeType: "image/png" } as const
const embedded = { _tag: "EmbeddedText", path: "/workspace/a b.txt", text: "hi", mimeType: "text/plain" } as const
const link = { _tag: "FileLink", path: "/workspace/a b.txt" } as const

/** Prompts once and tells how it ended, or why it was refused. */
const prompting = (program: FakeProgram, input: PromptInput) => {
  const host = makeHost(program)
  return Effect.gen(function* () {
    const session = yield* (yield* Runner).open(openOptions)
    const prompt = yield* Effect.flatMap(session.prompt(input, { events: "discard" }), ({ outcome }) => outcome).pipe(
      Effect.catchTag("PromptRefused", (refused) => Effect.succeed(refused))
    )
    return { outcome: prompt, prompts: promptsOf(host.agents[0]!) }
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

describe("the content of a prompt", () => {
  it.effect("reaches an agent that takes it, block by block", () =>
    Effect.gen(function* () {
      const { outcome, prompts } = yield* prompting(obliging, [{ _tag: "Text", text: "look" }, image, embedded, link])
      expect(outcome).toMatchObject({ _tag: "Completed" })
      const uri = "file:///workspace/a%20b.txt"
      expect(prompts).toEqual([
        [
          { type: "text", text: "look" },
          { type: "image", data: "aGk=", mimeType: "image/png" },
          { type: "resource", resource: { uri, text: "hi", mimeType: "text/plain" } },
          { type: "resource_link", uri, name: "a b.txt" }
        ]
      ])
    })
  )

  it.effect("that an agent does not take is refused before anything is written; text and links every agent takes", () =>
    Effect.gen(function* () {
      const refusedImage = yield* prompting(plain, [image])
      expect(refusedImage).toMatchObject({
        outcome: { _tag: "PromptRefused", reason: "image_unsupported" },
        prompts: []
      })
      const refusedFile = yield* prompting(plain, [embedded])
      expect(refusedFile).toMatchObject({ outcome: { reason: "embedded_unsupported" }, prompts: [] })
      const taken = yield* prompting(plain, [{ _tag: "Text", text: "see" }, link])
      expect(taken.outcome).toMatchObject({ _tag: "Completed" })
    })
  )

  it.effect("that is empty or too large is refused, and the session goes on", () => {
    const host = makeHost(obliging)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const refusalOf = (input: PromptInput) => Effect.flip(session.prompt(input, { turnId: "t1", events: "discard" }))
      expect(yield* refusalOf("  \n")).toMatchObject({ _tag: "PromptRefused", reason: "empty" })
      expect(yield* refusalOf([])).toMatchObject({ _tag: "PromptRefused", reason: "empty" })
      const tooMany = Array.from({ length: limits.promptPartsMax + 1 }, () => link)
      expect(yield* refusalOf(tooMany)).toMatchObject({ _tag: "PromptRefused", reason: "too_large" })
      const turn = yield* session.prompt("now", { turnId: "t1", events: "discard" })
      expect(yield* turn.outcome).toMatchObject({ _tag: "Completed" })
      expect(promptsOf(host.agents[0]!)).toEqual([[{ type: "text", text: "now" }]])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("that does not fit into one frame fails its turn unwritten; the next one runs", () => {
    const host = makeHost(obliging)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      // Every quote takes two bytes on the wire.
      const quotes = { _tag: "Text", text: '"'.repeat(limits.promptTextBytesMax) } as const
      const parts = Array.from({ length: 5 }, () => quotes)
      const large = yield* session.prompt(parts, { events: "discard" })
      expect(yield* large.outcome).toMatchObject({ _tag: "Failed", reason: "frame_too_large" })
      const small = yield* session.prompt("small", { events: "discard" })
      expect(yield* small.outcome).toMatchObject({ _tag: "Completed" })
      expect(promptsOf(host.agents[0]!)).toEqual([[{ type: "text", text: "small" }]])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("the id of a turn", () => {
  it.effect("is used once: also by a turn that runs, waits or has ended; a refused prompt takes nothing", () => {
    const host = makeHost(obliging)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const again = (turnId: string) => Effect.flip(session.prompt("x", { turnId }))
      const first = yield* session.prompt("one", { turnId: "t1" })
      yield* session.prompt("two", { turnId: "t2", events: "discard" })
      expect(yield* again("t1")).toMatchObject({ _tag: "PromptRefused", reason: "duplicate_turn_id" })
      expect(yield* again("t2")).toMatchObject({ _tag: "PromptRefused", reason: "duplicate_turn_id" })
      expect(yield* first.outcome).toMatchObject({ _tag: "Completed" })
      expect(yield* again("t1")).toMatchObject({ _tag: "PromptRefused", reason: "duplicate_turn_id" })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("that was refused leaves no reader behind which the turn would wait for", () => {
    const words = limits.subscriberEventsMax * 3
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const prompt = yield* agent.receive
        yield* agent.send(...Array.from({ length: words }, (_, n) => text(`w${n}`)), endTurn(prompt))
      })
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const turn = yield* session.prompt("one", { turnId: "t1", events: "discard" })
      expect(yield* Effect.flip(session.prompt("again", { turnId: "t1" }))).toMatchObject({ _tag: "PromptRefused" })
      expect(yield* turn.outcome).toMatchObject({ _tag: "Completed", undeliveredEvents: 0 })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  for (const turnId of ["", "a b", "a/b", "\u001b[2J", "x".repeat(161)]) {
    it.effect(`that cannot stand in a path is refused: ${JSON.stringify(turnId).slice(0, 20)}`, () => {
      const host = makeHost(obliging)
      return Effect.gen(function* () {
        const session = yield* (yield* Runner).open(openOptions)
        const refused = yield* Effect.flip(session.prompt("x", { turnId }))
        expect(refused).toMatchObject({ _tag: "PromptRefused", reason: "turn_id_invalid" })
        expect(promptsOf(host.agents[0]!)).toEqual([])
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    })
  }
})

describe("prompts that wait", () => {
  it.effect(
    "are as many as the bound beside the one that runs; one more is refused, and there is room again later",
    () => {
      const host = makeHost(handshake)
      return Effect.gen(function* () {
        const session = yield* (yield* Runner).open(openOptions)
        const agent = host.agents[0]!
        const ask = (n: number) => session.prompt(`p${n}`, { turnId: `t${n}`, events: "discard" })
        const most = limits.queuedPromptsMax
        for (let n = 0; n <= most; n++) yield* ask(n)
        expect(yield* Effect.flip(ask(most + 1))).toMatchObject({ _tag: "PromptRefused", reason: "queue_full" })
        yield* untilWritten(agent, isPrompt)
        yield* agent.send(text("one"), endTurn(agent.written.find(isPrompt)!))
        yield* untilWritten(agent, isPrompt, 2)
        yield* ask(most + 1)
        expect(yield* Effect.flip(ask(most + 2))).toMatchObject({ _tag: "PromptRefused", reason: "queue_full" })
        yield* agent.exit({ _tag: "Code", code: 0 })
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    }
  )

  it.effect("end with the connection, each once and unwritten", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* (yield* Runner).open(openOptions)
      const agent = host.agents[0]!
      const turns = yield* Effect.forEach([1, 2, 3], (n) => session.prompt(`${n}`, { events: "discard" }))
      yield* untilWritten(agent, isPrompt)
      yield* agent.exit({ _tag: "Code", code: 9 })
      const outcomes = yield* Effect.forEach(turns, (turn) => turn.outcome)
      expect(outcomes).toMatchObject(turns.map(() => ({ _tag: "Failed", closeReason: "exited", exit: { code: 9 } })))
      yield* seen.untilEvent("session.failed")
      expect(seen.ofType("turn.failed")).toHaveLength(3)
      expect(seen.ofType("turn.started")).toHaveLength(1)
      expect(agent.written.filter(isPrompt)).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("go on behind one that was cancelled while it waited", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const agent = host.agents[0]!
      const ids = ["t1", "t2", "t3"]
      const turns = yield* Effect.forEach(ids, (turnId) => session.prompt(turnId, { turnId, events: "discard" }))
      yield* untilWritten(agent, isPrompt)
      expect(yield* turns[1]!.cancel).toMatchObject({ _tag: "Cancelled", written: false })
      yield* agent.send(text("one"), endTurn(agent.written.find(isPrompt)!))
      yield* untilWritten(agent, isPrompt, 2)
      yield* agent.send(text("three"), endTurn(agent.written.filter(isPrompt)[1]!))
      expect(yield* turns[2]!.outcome).toMatchObject({ _tag: "Completed" })
      expect(promptsOf(agent)).toMatchObject([[{ text: "t1" }], [{ text: "t3" }]])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("run in the order in which they came", () => {
    const host = makeHost(obliging)
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const names = Array.from({ length: 20 }, (_, n) => `p${n}`)
      const turns = yield* Effect.forEach(names, (name) => session.prompt(name, { events: "discard" }))
      yield* Effect.forEach(turns, (turn) => turn.outcome)
      expect(promptsOf(host.agents[0]!)).toEqual(names.map((name) => [{ type: "text", text: name }]))
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("what comes after the response", () => {
  /** A turn `t1` that is answered together with late words, with `t2` waiting or not; then `t2` says its own. */
  const lateText = (waiting: boolean, pieces: "one write" | "two writes") => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* (yield* Runner).open(openOptions)
      const agent = host.agents[0]!
      const first = yield* session.prompt("one", { turnId: "t1", events: "discard" })
      const ask = session.prompt("two", { turnId: "t2", events: "discard" })
      yield* untilWritten(agent, isPrompt)
      const early = waiting ? yield* ask : undefined
      const said = [text("done"), endTurn(agent.written.find(isPrompt)!)]
      if (pieces === "one write") yield* agent.send(...said, text("late"))
      else yield* Effect.andThen(agent.send(...said), agent.send(text("late")))
      expect(yield* first.outcome).toMatchObject({ _tag: "Completed" })
      const second = early ?? (yield* ask)
      yield* untilWritten(agent, isPrompt, 2)
      yield* agent.send(text("mine"), endTurn(agent.written.filter(isPrompt)[1]!))
      expect(yield* second.outcome).toMatchObject({ _tag: "Completed" })
      yield* seen.untilEvent("turn.completed", 2)
      expect(deltas(seen.ofTurn("t1"))).toEqual(["done"])
      expect(deltas(seen.ofTurn("t2"))).toEqual(["mine"])
      expect(seen.notices()).toEqual(["late_update"])
      expect(seen.notice("late_update")?.turnId).toBeUndefined()
      expect(valueAt(seen.notice("late_update")?.debug, "native", "content", "text")).toBe("late")
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  }
  for (const waiting of [false, true]) {
    for (const pieces of ["one write", "two writes"] as const) {
      it.effect(`never joins the next turn: ${pieces}, the next one ${waiting ? "waits already" : "comes then"}`, () =>
        lateText(waiting, pieces)
      )
    }
  }

  it.effect(
    "never joins the next turn, however slowly it is taken: its prompt was written after it had been read",
    () => {
      const host = makeHost(handshake)
      return Effect.gen(function* () {
        const runner = yield* Runner
        const unread = yield* runner.events()
        const session = yield* runner.open(openOptions)
        const agent = host.agents[0]!
        const turns = yield* Effect.forEach(["t1", "t2"], (turnId) =>
          session.prompt("x", { turnId, events: "discard" })
        )
        yield* untilWritten(agent, isPrompt)
        const count = limits.queueFramesMax * 3
        const late = Array.from({ length: count }, (_, n) => text(`late ${n}`))
        yield* agent.send(text("done"), endTurn(agent.written.find(isPrompt)!), ...late)
        yield* untilWritten(agent, isPrompt, 2)
        yield* agent.send(text("mine"), endTurn(agent.written.filter(isPrompt)[1]!))
        yield* settle
        const seen: Array<Event> = []
        const reading = Stream.runForEach(unread.events, (event) => Effect.sync(() => seen.push(event)))
        yield* Effect.forkScoped(reading)
        const outcomes = yield* Effect.forEach(turns, (turn) => turn.outcome)
        expect(outcomes).toMatchObject([{ _tag: "Completed" }, { _tag: "Completed" }])
        const textsOf = (turnId: string | undefined) => deltas(seen.filter((event) => event.turnId === turnId))
        yield* until("all read", () => seen.filter((event) => event.eventType === "turn.completed").length === 2)
        expect(textsOf("t1")).toEqual(["done"])
        expect(textsOf("t2")).toEqual(["mine"])
        expect(seen.filter((event) => event.eventType === "provider.notice.recorded")).toHaveLength(count)
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    }
  )

  it.effect("may be the session's own news, which need no turn", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* (yield* Runner).open(openOptions)
      const agent = host.agents[0]!
      const turn = yield* session.prompt("one", { turnId: "t1", events: "discard" })
      yield* untilWritten(agent, isPrompt)
      const mode = { sessionUpdate: "current_mode_update", currentModeId: "plan" }
      yield* agent.send(text("done"), endTurn(agent.written.find(isPrompt)!), {
        method: "session/update",
        params: { sessionId: agentSession, update: mode }
      })
      yield* turn.outcome
      yield* seen.untilEvent("session.updated")
      expect(seen.ofType("session.updated")[0]?.turnId).toBeUndefined()
      expect(seen.notices()).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("a second response to the same prompt is told, and settles nothing", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* (yield* Runner).open(openOptions)
      const agent = host.agents[0]!
      const turns = yield* Effect.forEach(["t1", "t2"], (turnId) => session.prompt("x", { turnId, events: "discard" }))
      yield* untilWritten(agent, isPrompt)
      const response = endTurn(agent.written.find(isPrompt)!)
      yield* agent.send(text("done"), response, response)
      yield* untilWritten(agent, isPrompt, 2)
      yield* settle
      expect(seen.ofType("turn.completed")).toHaveLength(1)
      yield* agent.send(text("done"), endTurn(agent.written.filter(isPrompt)[1]!))
      expect(yield* turns[1]!.outcome).toMatchObject({ _tag: "Completed" })
      expect(seen.notices()).toEqual(["unmatched_response"])
      yield* until("all told", () => seen.ofType("turn.completed").length === 2)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
