/** A runner over agents in this process, for tests of the actors. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connections from "../../src/actors/Connections.ts"
import * as Journal from "../../src/actors/Journal.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import * as Runner from "../../src/actors/Runner.ts"
import { Files } from "../../src/services/Files.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { Provider } from "../../src/services/Provider.ts"
import { type FakeAgent, type FakeProgram, type Json, makeFakeLinks } from "../../src/testing/FakeLinks.ts"

const files = Layer.succeed(Files, Files.of({ realPath: (path) => Effect.succeed(path) }))

export const makeHost = (program: FakeProgram) => {
  const links = makeFakeLinks(program)
  const layer = Runner.layer.pipe(
    Layer.provideMerge(Connections.layer),
    Layer.provideMerge(Journal.layer),
    Layer.provideMerge(Layer.mergeAll(links.layer, Registry.layer, Ids.layer, files))
  )
  return { layer, agents: links.agents }
}

export const workspace = "/workspace"

export const fakeProvider: Provider = {
  id: "fake",
  name: "Fake",
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
    toolKindTrusted: true,
    closesToolsOnCancel: true
  },
  locate: () => Effect.succeed({ _tag: "Found", command: "fake", args: [], version: undefined }),
  launch: (options) => Effect.succeed({ command: "fake", args: [], env: {}, cwd: options.cwd })
}

export const openOptions: Runner.OpenOptions = {
  provider: fakeProvider,
  cwd: workspace,
  home: "private",
  hostEnv: {},
  policy: "ask",
  canAsk: true
}

export const agentSession = "agent-session"

export const update = (fields: Json): Json => ({
  method: "session/update",
  params: { sessionId: agentSession, update: fields }
})

export const text = (words: string): Json =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } })

export const permission = (id: unknown, toolCallId = "tool-1"): Json => ({
  id,
  method: "session/request_permission",
  params: {
    sessionId: agentSession,
    toolCall: { toolCallId, title: "echo hi", kind: "execute", rawInput: { command: "echo hi" } },
    options: [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" }
    ]
  }
})

export const respond = (to: Json, result: unknown): Json => ({ id: to["id"], result })

export const initializeResult = {
  protocolVersion: 1,
  agentCapabilities: { promptCapabilities: { image: true, embeddedContext: true } },
  agentInfo: { name: "fake", version: "1" },
  authMethods: []
}

/** Answers `initialize` and `session/new`; the rest is the test's. */
export const handshake = Effect.fnUntraced(function* (agent: FakeAgent) {
  yield* agent.send(respond(yield* agent.receive, initializeResult))
  yield* agent.send(respond(yield* agent.receive, { sessionId: agentSession }))
})
