import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import { fakeProvider, handshake, makeHost, openOptions, respond, text } from "./host.ts"
import { isCancel, isPrompt, record, settle, untilWritten } from "./observe.ts"

describe("an agent that needs longer for a cancel than the others", () => {
  const cancelMs = limits.cancelMs * 3
  const traits = { ...fakeProvider.traits, graces: { cancelMs } }
  const options = { ...openOptions, provider: { ...fakeProvider, traits } }

  const cancelled = Effect.fnUntraced(function* (host: ReturnType<typeof makeHost>) {
    const session = yield* (yield* Runner).open(options)
    const prompt = yield* session.prompt("wait", { events: "discard" })
    const [agent] = host.agents
    if (agent === undefined) return yield* Effect.die(new Error("no agent"))
    yield* untilWritten(agent, isPrompt)
    yield* session.cancel(prompt.turnId)
    yield* untilWritten(agent, isCancel)
    return { session, prompt, agent }
  })

  it.effect("keeps its session when it answers within the grace of its own", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const { agent, prompt, session } = yield* cancelled(host)
      yield* TestClock.adjust(cancelMs - 1)
      const [first] = agent.written.filter(isPrompt)
      yield* agent.send(respond(first ?? {}, { stopReason: "cancelled" }))
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", by: "interrupt", acknowledged: true })
      const next = yield* session.prompt("go on", { events: "discard" })
      yield* untilWritten(agent, isPrompt, 2)
      yield* agent.send(text("here"), respond(agent.written.findLast(isPrompt) ?? {}, { stopReason: "end_turn" }))
      expect(yield* next.outcome).toMatchObject({ _tag: "Completed" })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is retired when that is over too", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const events = yield* record
      const { prompt } = yield* cancelled(host)
      yield* TestClock.adjust(cancelMs - 1)
      yield* settle
      expect(events.types()).not.toContain("turn.interrupted")
      yield* TestClock.adjust(1)
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Cancelled", by: "interrupt", acknowledged: false })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
