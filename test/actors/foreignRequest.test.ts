import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Runner } from "../../src/actors/Runner.ts"
import type { Json } from "../../src/testing/FakeLinks.ts"
import { handshake, makeHost, openOptions, permission, respond, text } from "./host.ts"

const forSession = (sessionId: string): Json => {
  const asked = permission(7)
  return { ...asked, params: { ...(asked["params"] as object), sessionId } }
}

/** The events of a turn in which the agent asks for `sessionId`, and what it got as an answer. */
const turnWith = (sessionId: string) => {
  const host = makeHost(
    Effect.fnUntraced(function* (agent) {
      yield* handshake(agent)
      const prompt = yield* agent.receive
      yield* agent.send(forSession(sessionId))
      yield* agent.receive
      yield* agent.send(text("done"), respond(prompt, { stopReason: "end_turn" }))
    })
  )
  return Effect.gen(function* () {
    const session = yield* (yield* Runner).open({ ...openOptions, policy: "approve-all" })
    const prompt = yield* session.prompt("go")
    const events = yield* Stream.runCollect(prompt.events)
    const answer = host.agents[0]!.written.find((frame) => frame["id"] === 7 && "result" in frame)
    return { events, answer: answer?.["result"] }
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

describe("a permission request", () => {
  it.effect("that names this session is judged by the policy", () =>
    Effect.gen(function* () {
      const { events, answer } = yield* turnWith("agent-session")
      expect(answer).toEqual({ outcome: { outcome: "selected", optionId: "yes" } })
      expect(events.map((event) => event.eventType)).toContain("runtime_request.resolved")
    })
  )

  it.effect("that names another session is answered cancelled, said, and put to nobody, whatever the policy", () =>
    Effect.gen(function* () {
      const { events, answer } = yield* turnWith("other-session")
      expect(answer).toEqual({ outcome: { outcome: "cancelled" } })
      const types = events.map((event) => event.eventType)
      expect(types).not.toContain("runtime_request.created")
      const notices = events.flatMap((event) =>
        event.eventType === "provider.notice.recorded" ? [event.payload.category] : []
      )
      expect(notices).toEqual(["request_unknown_session"])
      expect(types.at(-1)).toBe("turn.completed")
    })
  )
})
