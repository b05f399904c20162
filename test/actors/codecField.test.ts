/** What agents do with their stdout in the field, end to end: each fault beside an agent that behaves. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { heapUsed } from "../heap.ts"
import { agentSession, handshake, makeHost, openOptions, text, update } from "./host.ts"
import { answers, deltas, endTurn, record, until } from "./observe.ts"

/** Shakes hands, then does this with the first prompt. */
const promptedAgent = (act: (agent: FakeAgent, prompt: Json) => Effect.Effect<void>) =>
  Effect.fnUntraced(function* (agent: FakeAgent) {
    yield* handshake(agent)
    yield* act(agent, yield* agent.receive)
  })

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n} `)

describe("updates and the response in one write", () => {
  const readers: Record<string, (events: Stream.Stream<Event>) => Effect.Effect<ReadonlyArray<Event>>> = {
    "at once": Stream.runCollect,
    "one event a second": (events) =>
      Stream.runCollect(Stream.tap(Stream.rechunk(events, 1), () => Effect.sleep("1 second"))),
    "only after a minute": (events) => Effect.andThen(Effect.sleep("1 minute"), Stream.runCollect(events))
  }
  const counts = [1, 2, limits.queueFramesMax - 1, limits.queueFramesMax, limits.queueFramesMax + 1, 5_000]
  for (const [speed, read] of Object.entries(readers)) {
    it.effect.each(counts)(`keep their order for a consumer that reads ${speed}: %i updates`, (count) => {
      const host = makeHost(promptedAgent((agent, prompt) => agent.send(...words(count).map(text), endTurn(prompt))))
      return Effect.gen(function* () {
        const session = yield* (yield* Runner).open(openOptions)
        const prompt = yield* session.prompt("go")
        const reading = yield* Effect.forkChild(read(prompt.events))
        while (reading.pollUnsafe() === undefined) yield* TestClock.adjust("1 minute")
        const events = yield* Fiber.join(reading)
        expect(deltas(events)).toEqual(words(count))
        expect(events.at(-1)?.eventType).toBe("turn.completed")
        expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed", reply: "message", undeliveredEvents: 0 })
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    })
  }
})

const encoder = new TextEncoder()
const linesOf = (...frames: ReadonlyArray<Json>) =>
  frames.map((frame) => `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`).join("")
const bytesOf = (...frames: ReadonlyArray<Json>) => encoder.encode(linesOf(...frames))

/** Runs one prompt to its end; what was written to the agent after the prompt, the events of the turn, the outcome. */
const onePrompt = (act: (agent: FakeAgent, prompt: Json) => Effect.Effect<void>) => {
  const host = makeHost(promptedAgent(act))
  return Effect.gen(function* () {
    const seen = yield* record
    const session = yield* (yield* Runner).open(openOptions)
    const prompt = yield* session.prompt("go", { turnId: "t1", events: "discard" })
    const outcome = yield* prompt.outcome
    return { seen, session, outcome, answers: answers(host.agents[0]!), agent: host.agents[0]! }
  }).pipe(Effect.provide(host.layer))
}

describe("lines that are no frames", () => {
  const noise: Record<string, string> = {
    "log lines": "Loaded cached credentials.\n",
    "log lines as JSON with an id": '{"level":"info","id":0,"message":"connected"}\n',
    "JSON scalars and arrays": '42\n[{"jsonrpc":"2.0","id":0,"result":{}}]\n',
    colours: "\u001b[2K\u001b[32mready\u001b[0m\n"
  }
  for (const [kind, line] of Object.entries(noise)) {
    it.effect(`are read and never answered: 200 000 of ${kind}, while the agent does not read`, () => {
      const lines = 1_000
      const chunk = encoder.encode(line.repeat(lines))
      let grownBytes = 0
      return Effect.gen(function* () {
        const { agent, answers, outcome, seen } = yield* onePrompt(
          Effect.fnUntraced(function* (agent, prompt) {
            yield* agent.stallStdin
            const before = heapUsed()
            yield* Effect.repeat(agent.sendBytes(chunk), { times: 200_000 / lines - 1 })
            grownBytes = heapUsed() - before
            yield* agent.send(text("through"), endTurn(prompt))
          })
        )
        expect(outcome).toMatchObject({ _tag: "Completed", reply: "message" })
        expect(deltas(seen.events)).toEqual(["through"])
        expect(answers).toEqual([])
        expect(agent.written.at(-1)?.["method"]).toBe("session/prompt")
        expect(grownBytes).toBeLessThan(limits.queueBytesMax + 32 * 1024 * 1024)
      }).pipe(Effect.scoped)
    })
  }

  it.effect("do not take a frame with them that follows on a line of its own, or behind colours", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.sendBytes(
          encoder.encode(
            [
              "\ufeff" + linesOf(text("a")),
              "\u001b[?25h\u001b[0m" + linesOf(text("b")),
              "half a line and then \n",
              "\r\n",
              linesOf(text("c")).replace("\n", "\r\n"),
              linesOf(endTurn(prompt))
            ].join("")
          )
        )
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events)).toEqual(["a", "b", "c"])
    }).pipe(Effect.scoped)
  )

  it.effect("are not searched for a frame: what stands in mid-line is part of the noise", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.sendBytes(encoder.encode(`warning: ${linesOf(text("a"), endTurn(prompt))}`))
      )
      expect(outcome).toMatchObject({ _tag: "Failed", reason: "empty_completion" })
      expect(deltas(seen.events)).toEqual([])
    }).pipe(Effect.scoped)
  )
})

describe("characters of several bytes", () => {
  const words = "aé漢😀z\u2028"

  it.effect("are whole, wherever the pieces of the output are cut", () =>
    Effect.gen(function* () {
      const line = bytesOf(text(words))
      const { outcome, seen } = yield* onePrompt(
        Effect.fnUntraced(function* (agent, prompt) {
          for (let cut = 1; cut < line.length; cut++) {
            yield* agent.sendBytes(line.subarray(0, cut))
            yield* Effect.yieldNow
            yield* agent.sendBytes(line.subarray(cut))
          }
          for (const byte of line) yield* agent.sendBytes(Uint8Array.of(byte))
          yield* agent.send(endTurn(prompt))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events)).toEqual(Array.from({ length: line.length }, () => words))
    }).pipe(Effect.scoped)
  )

  it.effect("that are broken by the agent are replaced, and the frame is read all the same", () =>
    Effect.gen(function* () {
      const [before, after] = linesOf(text("a|z")).split("|")
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.sendBytes(
          Uint8Array.from([...encoder.encode(before), 0xff, ...encoder.encode(after), ...bytesOf(endTurn(prompt))])
        )
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events)).toEqual(["a\ufffdz"])
    }).pipe(Effect.scoped)
  )
})

const MiB = 1024 * 1024

/** One line of about `bytes` bytes, in pieces: `head`, so many letters, `tail`. */
const sendLong = (agent: FakeAgent, bytes: number, head: string, tail: string) => {
  const piece = new Uint8Array(MiB).fill(0x78)
  return Effect.gen(function* () {
    yield* agent.sendBytes(encoder.encode(head))
    for (let sent = 0; sent < bytes; sent += MiB) yield* agent.sendBytes(piece)
    yield* agent.sendBytes(encoder.encode(`${tail}\n`))
  })
}

/** The two halves of a frame, cut where `long` stands in it. */
const halves = (frame: Json): readonly [string, string] => {
  const [head = "", tail = ""] = JSON.stringify({ jsonrpc: "2.0", ...frame }).split("|")
  return [head, tail]
}

describe("a line beyond the bound of a frame", () => {
  const tooLong = limits.frameBytesMax + MiB

  it.effect("is skipped and told when it is a notification; the turn goes on", () =>
    Effect.gen(function* () {
      const { outcome, seen, answers } = yield* onePrompt(
        Effect.fnUntraced(function* (agent, prompt) {
          yield* agent.send(text("before "))
          yield* sendLong(agent, tooLong, ...halves(text("|")))
          yield* agent.send(text("after"), endTurn(prompt))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events)).toEqual(["before ", "after"])
      expect(seen.notices()).toEqual(["oversized_notification"])
      expect(seen.notice("oversized_notification")?.turnId).toBe("t1")
      expect(answers).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("is refused once when it is a request; the turn goes on", () =>
    Effect.gen(function* () {
      const { outcome, seen, answers } = yield* onePrompt(
        Effect.fnUntraced(function* (agent, prompt) {
          const request = { id: "r-1", method: "session/request_permission", params: { sessionId: "|" } }
          yield* sendLong(agent, tooLong, ...halves(request))
          yield* agent.receive
          yield* agent.send(text("after"), endTurn(prompt))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(answers).toEqual([{ id: "r-1", error: { code: -32600, message: "Frame too large" } }])
      expect(seen.notices()).toEqual(["oversized_request"])
    }).pipe(Effect.scoped)
  )

  it.effect("retires the connection when it may be a response, wherever its id stands; nothing is restarted", () => {
    const host = makeHost(
      promptedAgent((agent, prompt) =>
        Effect.andThen(
          agent.send(text("before")),
          sendLong(agent, tooLong, ...halves({ result: { stopReason: "|" }, id: prompt["id"] }))
        )
      )
    )
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* (yield* Runner).open(openOptions)
      const prompt = yield* session.prompt("go", { turnId: "t1", events: "discard" })
      const failed = { _tag: "Failed", reason: "connection_closed", closeReason: "oversized_response" }
      expect(yield* prompt.outcome).toMatchObject(failed)
      expect(deltas(seen.events)).toEqual(["before"])
      yield* seen.untilEvent("session.failed")
      expect(yield* Effect.flip(session.prompt("again"))).toMatchObject({ _tag: "SessionClosed" })
      expect(host.agents).toHaveLength(1)
      yield* until("the agent is ended", host.agents[0]!.isEnded)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("loses nothing of what came before it, however full the queue is", () => {
    const count = limits.queueFramesMax + 500
    const host = makeHost(
      promptedAgent((agent, prompt) =>
        agent.sendBytes(
          encoder.encode(
            linesOf(...words(count).map(text)) +
              halves({ result: { stopReason: "|" }, id: prompt["id"] }).join("x".repeat(tooLong)) +
              "\n"
          )
        )
      )
    )
    return Effect.gen(function* () {
      const session = yield* (yield* Runner).open(openOptions)
      const prompt = yield* session.prompt("go")
      const events = yield* Stream.runCollect(prompt.events)
      expect(deltas(events)).toEqual(words(count))
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Failed", closeReason: "oversized_response" })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is not one of a few MiB less: that is delivered whole", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* onePrompt(
        Effect.fnUntraced(function* (agent, prompt) {
          yield* sendLong(agent, 20 * MiB, ...halves(text("|")))
          yield* agent.send(endTurn(prompt))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events).reduce((sum, piece) => sum + piece.length, 0)).toBe(20 * MiB)
    }).pipe(Effect.scoped)
  )
})

describe("frames that are not what they should be", () => {
  it.effect("an update of an unknown kind, or without its numbers, is told whole and changes nothing", () =>
    Effect.gen(function* () {
      const brandNew = { sessionUpdate: "brand_new", deep: { er: [1, null] } }
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.send(
          update(brandNew),
          update({ sessionUpdate: "usage_update", used: null, size: 1 }),
          text("ok"),
          endTurn(prompt)
        )
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(seen.notice("unknown_update")?.debug).toEqual({ native: brandNew })
    }).pipe(Effect.scoped)
  )

  it.effect("a vendor's notification, and one of ours without its params, is told whole", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.send(
          { method: "cursor/progress", params: { at: 3 } },
          { method: "session/update", params: { sessionId: 7 } },
          text("ok"),
          endTurn(prompt)
        )
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      const told = seen.ofType("provider.notice.recorded").map((event) => event.debug)
      expect(told).toEqual([
        { native: { method: "cursor/progress", params: { at: 3 } } },
        { native: { method: "session/update", params: { sessionId: 7 } } }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("a response for nobody, with the id of the prompt as text or unknown, settles nothing", () =>
    Effect.gen(function* () {
      const { outcome, seen, answers } = yield* onePrompt((agent, prompt) =>
        agent.send(
          { id: String(prompt["id"]), result: { stopReason: "refusal" } },
          { id: 4711, result: {} },
          { id: null, error: { code: -32700, message: "parse" } },
          text("ok"),
          endTurn(prompt)
        )
      )
      expect(outcome).toMatchObject({ _tag: "Completed", stopReason: "end_turn" })
      expect(seen.notices()).toEqual(["unmatched_response", "unmatched_response", "unmatched_response"])
      expect(answers).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("an envelope that asks and cannot be valid is answered once with -32600", () =>
    Effect.gen(function* () {
      const { outcome, seen, answers } = yield* onePrompt(
        Effect.fnUntraced(function* (agent, prompt) {
          yield* agent.send(
            { id: 5, method: 5 },
            { id: true, method: "session/request_permission" },
            { jsonrpc: "1.0", id: 6, method: "session/request_permission" }
          )
          for (let n = 0; n < 3; n++) yield* agent.receive
          yield* agent.send(text("ok"), endTurn(prompt))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      const error = { code: -32600, message: "Invalid request" }
      expect(answers).toEqual([
        { id: 5, error },
        { id: null, error },
        { id: 6, error }
      ])
      expect(seen.notices()).toEqual(["invalid_frame", "invalid_frame", "invalid_frame"])
    }).pipe(Effect.scoped)
  )

  it.effect("an update that names another session is told, and belongs to no turn", () =>
    Effect.gen(function* () {
      const stray = { method: "session/update", params: { sessionId: "stranger", update: { sessionUpdate: "plan" } } }
      const { outcome, seen } = yield* onePrompt((agent, prompt) =>
        agent.send(stray, text("mine"), stray, endTurn(prompt))
      )
      expect(outcome).toMatchObject({ _tag: "Completed" })
      expect(deltas(seen.events)).toEqual(["mine"])
      expect(seen.notices()).toEqual(["unknown_session", "unknown_session"])
      expect(seen.notice("unknown_session")?.turnId).toBeUndefined()
      expect(seen.notice("unknown_session")?.debug).toEqual({ native: { sessionUpdate: "plan" } })
      expect(agentSession).not.toBe("stranger")
    }).pipe(Effect.scoped)
  )
})
