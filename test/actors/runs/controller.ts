/** A runner in this process over a store that outlives it, its scripted agents, and a control plane that numbers its commands. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connections from "../../../src/actors/Connections.ts"
import * as durableJournal from "../../../src/actors/durableJournal.ts"
import type * as Journal from "../../../src/actors/Journal.ts"
import * as Registry from "../../../src/actors/kernel/Registry.ts"
import * as Runner from "../../../src/actors/Runner.ts"
import * as Runs from "../../../src/actors/Runs.ts"
import type { Authority } from "../../../src/schema/authority.ts"
import type { CommandReply } from "../../../src/schema/run.ts"
import { Files } from "../../../src/services/Files.ts"
import * as Ids from "../../../src/services/Ids.ts"
import { JournalStore } from "../../../src/services/JournalStore.ts"
import type { Provider } from "../../../src/services/Provider.ts"
import { Providers } from "../../../src/services/Providers.ts"
import { type FakeAgent, type FakeProgram, type Json, makeFakeLinks } from "../../../src/testing/FakeLinks.ts"
import { type ProbedStore, probedStore } from "../durableHost.ts"
import { agentSession, fakeProvider, handshake, permission, respond, text } from "../host.ts"

const files = Layer.succeed(Files, Files.of({ realPath: (path) => Effect.succeed(path) }))

/** An agent that the runner cannot keep within a policy that denies. */
export const silentProvider: Provider = {
  ...fakeProvider,
  id: "silent",
  traits: { ...fakeProvider.traits, gate: { edit: "silent", execute: "silent", fetch: "silent", mcp: "silent" } }
}

const providers = Layer.succeed(
  Providers,
  Providers.of({ find: (id) => Effect.succeed([fakeProvider, silentProvider].find((one) => one.id === id)) })
)

/** Does what its prompt says: `ask`, `hang` until it is cancelled, `die`, or just answers. */
export const obedient: FakeProgram = Effect.fnUntraced(function* (agent) {
  yield* handshake(agent)
  yield* prompts(agent)
})

export const prompts = Effect.fnUntraced(function* (agent: FakeAgent) {
  for (;;) {
    const frame = yield* agent.receive
    if (frame["method"] !== "session/prompt") continue
    const words = JSON.stringify(frame["params"])
    if (words.includes("die")) return yield* agent.exit({ _tag: "Signal", signal: "SIGKILL", inferred: false })
    if (words.includes("ask")) {
      yield* agent.send(permission(`p-${String(frame["id"])}`))
      yield* untilAnswered(agent, `p-${String(frame["id"])}`)
    }
    if (words.includes("hang")) {
      yield* untilMethod(agent, "session/cancel")
      yield* agent.send(respond(frame, { stopReason: "cancelled" }))
      continue
    }
    yield* agent.send(text("done"), respond(frame, { stopReason: "end_turn" }))
  }
})

const until = (agent: FakeAgent, isIt: (frame: Json) => boolean): Effect.Effect<void> =>
  Effect.flatMap(agent.receive, (frame) => (isIt(frame) ? Effect.void : until(agent, isIt)))

const untilMethod = (agent: FakeAgent, method: string) => until(agent, (frame) => frame["method"] === method)

/** A cancelled turn answers what is open. */
const untilAnswered = (agent: FakeAgent, id: string) =>
  until(agent, (frame) => frame["id"] === id && frame["method"] === undefined)

export interface Host {
  readonly probe: ProbedStore
  readonly agents: ReadonlyArray<FakeAgent>
  /** One life of the runner over the store. Its end is that of a process that had time to end. */
  readonly inLife: <A, E>(
    effect: Effect.Effect<A, E, Runs.Runs | durableJournal.DurableJournal | Journal.Journal | Runner.Runner>
  ) => Effect.Effect<A, E>
}

export const makeHost = (program: FakeProgram = obedient, probe: ProbedStore = probedStore()): Host => {
  const links = makeFakeLinks(program)
  const life = () =>
    Runs.layer({ hostEnv: {} }).pipe(
      Layer.provideMerge(Runner.layer),
      Layer.provide(Connections.layer),
      Layer.provideMerge(durableJournal.layer()),
      Layer.provide([
        links.layer,
        Registry.layer,
        Ids.layer,
        files,
        providers,
        Layer.succeed(JournalStore, probe.store)
      ])
    )
  return {
    probe,
    agents: links.agents,
    inLife: (effect) => Effect.provide(effect, Layer.orDie(life()))
  }
}

export const operator: Authority = { _tag: "Operator" }

export interface Controller {
  /** Sends the next command; `extra` overrides what stands in it. */
  readonly send: (
    type: string,
    payload?: unknown,
    extra?: Readonly<Record<string, unknown>>
  ) => Effect.Effect<CommandReply, never, Runs.Runs>
  /** The same bytes once more. */
  readonly resend: (commandId: string) => Effect.Effect<CommandReply, never, Runs.Runs>
  readonly lastSeq: () => number
}

export const controllerOf = (
  runId: string | null,
  { authority = operator, version = 2 }: { readonly authority?: Authority; readonly version?: number } = {}
): Controller => {
  const sent = new Map<string, unknown>()
  let seq = 0
  const give = (command: unknown) =>
    Effect.flatMap(Runs.Runs, (runs) => runs.command(authority, runId, command, version))
  return {
    send: (type, payload = {}, extra = {}) =>
      Effect.suspend(() => {
        const controllerSeq = ++seq
        const commandId = `${runId}-c${controllerSeq}`
        const isGoal = type.startsWith("session.goal.")
        const command = {
          schema: isGoal ? "paperclip.prp.command.v2" : "paperclip.prp.command.v1",
          commandId,
          controllerSeq,
          type,
          issuedAt: "2026-01-01T00:00:00Z",
          payload,
          ...extra
        }
        sent.set(String(command.commandId), command)
        return give(command)
      }),
    resend: (commandId) => give(sent.get(commandId)),
    lastSeq: () => seq
  }
}

export const prepare = { provider: { kind: "fake", cwd: "/workspace" } }

/** Everything that is in the log, by its own words. */
export const logged = (probe: ProbedStore) =>
  Effect.map(probe.store.read({ after: 0, eventsMax: 10_000, bytesMax: 1 << 26 }), (events) =>
    events.map(({ json }): LoggedEvent => JSON.parse(json))
  ).pipe(Effect.orDie)

export interface LoggedEvent {
  readonly eventType: string
  readonly sourceSeq: number
  readonly sourceEventId: string
  readonly sourceInstanceId: string
  readonly runId: string
  readonly turnId?: string
  readonly payload: Readonly<Record<string, unknown>>
}

export const typesOf = (events: ReadonlyArray<LoggedEvent>, runId: string): ReadonlyArray<string> =>
  events.filter((event) => event.runId === runId).map(({ eventType }) => eventType)

export { agentSession }
