/** Setting the mode of a session that is open. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Runner } from "../../src/actors/Runner.ts"
import type { FakeAgent, FakeProgram, Json } from "../../src/testing/FakeLinks.ts"
import { agentSession, initializeResult, makeHost, openOptions, respond } from "./host.ts"
import { untilWritten } from "./observe.ts"

const plan = "https://agent.example/modes#plan"
const created = {
  sessionId: agentSession,
  modes: { currentModeId: "code", availableModes: [{ id: "code" }, { id: plan }] }
}

const isSetMode = (frame: Json) => frame["method"] === "session/set_mode"

const answeringModes =
  (act: (agent: FakeAgent, request: Json) => Effect.Effect<void>): FakeProgram =>
  (agent) =>
    Effect.gen(function* () {
      yield* agent.send(respond(yield* agent.receive, initializeResult))
      yield* agent.send(respond(yield* agent.receive, created))
      for (;;) yield* act(agent, yield* agent.receive)
    })

const onSession = (act: (agent: FakeAgent, request: Json) => Effect.Effect<void>) => {
  const host = makeHost(answeringModes(act))
  const opened = Effect.map(
    Effect.flatMap(Runner, (runner) => runner.open(openOptions)),
    (session) => ({ session, agent: host.agents[0]! })
  )
  return { host, opened }
}

describe("the mode of an open session", () => {
  it.effect("is set by its id or the end of it, one of those that the agent names", () => {
    const { host, opened } = onSession((agent, request) => agent.send(respond(request, {})))
    return Effect.gen(function* () {
      const { agent, session } = yield* opened
      yield* session.setMode("plan")
      yield* session.setMode("code")
      expect(agent.written.filter(isSetMode).map(({ params }) => params)).toEqual([
        { sessionId: agentSession, modeId: plan },
        { sessionId: agentSession, modeId: "code" }
      ])
      expect(yield* Effect.flip(session.setMode("yolo"))).toMatchObject({
        _tag: "SettingRefused",
        setting: "mode",
        value: "yolo",
        available: ["code", plan]
      })
      expect(agent.written.filter(isSetMode)).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is not set when the agent refuses: its words are kept", () => {
    const error = { code: -32602, message: "not now" }
    const { host, opened } = onSession((agent, { id }) => agent.send({ id, error }))
    return Effect.gen(function* () {
      const { session } = yield* opened
      const refused = yield* Effect.flip(session.setMode("code"))
      expect(refused).toMatchObject({ _tag: "AgentError", rpcCode: -32602, rpcMessage: "not now" })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("is not waited for when the agent dies, or the session is closed", () => {
    const { host, opened } = onSession(() => Effect.void)
    return Effect.gen(function* () {
      const first = yield* opened
      const dying = yield* Effect.forkChild(Effect.flip(first.session.setMode("code")))
      yield* untilWritten(first.agent, isSetMode)
      yield* first.agent.exit({ _tag: "Code", code: 4 })
      expect(yield* Fiber.join(dying)).toMatchObject({ _tag: "ConnectionClosed", exit: { code: 4 } })
      expect(yield* Effect.flip(first.session.setMode("code"))).toMatchObject({ _tag: "ConnectionClosed" })
      const second = yield* Effect.flatMap(Runner, (runner) => runner.open(openOptions))
      const closing = yield* Effect.forkChild(Effect.flip(second.setMode("code")))
      yield* untilWritten(host.agents[1]!, isSetMode)
      yield* second.close
      expect(["ConnectionClosed", "SessionClosed"]).toContain((yield* Fiber.join(closing))._tag)
      expect(yield* Effect.flip(second.setMode("code"))).toMatchObject({ _tag: "SessionClosed" })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
