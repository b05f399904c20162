import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Runner } from "../../src/actors/Runner.ts"
import { agentSession, handshake, initializeResult, makeHost, openOptions, respond, text, update } from "./host.ts"

describe("a session", () => {
  it.effect("gives the events of a prompt in order, and one outcome", () => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* handshake(agent)
        const prompt = yield* agent.receive
        yield* agent.send(text("one "), text("two"), respond(prompt, { stopReason: "end_turn" }))
      })
    )
    return Effect.gen(function* () {
      const runner = yield* Runner
      const session = yield* runner.open(openOptions)
      const prompt = yield* session.prompt("hello", { turnId: "t1" })
      const events = yield* Stream.runCollect(prompt.events)
      expect(events.map((event) => event.eventType)).toEqual([
        "turn.submitted",
        "turn.started",
        "item.started",
        "item.delta",
        "item.delta",
        "item.completed",
        "turn.completed"
      ])
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed", reply: "message" })
      expect(yield* session.close).toMatchObject({ survivors: [] })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("tells an update that came before its session was known, even if nothing follows", () => {
    const commands = update({ sessionUpdate: "available_commands_update", availableCommands: [] })
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* agent.send(respond(yield* agent.receive, initializeResult))
        const created = yield* agent.receive
        yield* agent.send(commands)
        yield* agent.send(respond(created, { sessionId: agentSession }))
      })
    )
    return Effect.gen(function* () {
      const runner = yield* Runner
      const all = yield* runner.events()
      const session = yield* runner.open(openOptions)
      yield* session.close
      all.end()
      const events = yield* Stream.runCollect(all.events)
      expect(events.filter((event) => event.eventType === "session.updated")).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
