/** A runner of which only the connections are real: a durable journal in memory, and runs that a test plays. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ControlPlane, serveControlPlane } from "../../src/actors/ControlConnection.ts"
import { DurableJournal } from "../../src/actors/durableJournal.ts"
import { Journal } from "../../src/actors/Journal.ts"
import { Runs } from "../../src/actors/Runs.ts"
import { lineChannel } from "../../src/layers/transport/lineChannel.ts"
import { connectRunner } from "../../src/layers/transport/runnerConnection.ts"
import { type Authority, mayReach } from "../../src/schema/authority.ts"
import { limits } from "../../src/schema/limits.ts"
import type { EventDraft } from "../../src/schema/prp/event.ts"
import type { CommandReply, RunStatus } from "../../src/schema/run.ts"
import type { FrameChannel } from "../../src/services/FrameChannel.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { ConnectOptions } from "../../src/services/RunnerClient.ts"
import { memoryDuplex } from "../layers/transport/memoryDuplex.ts"
import { entry, inLife, probedStore, type ProbedStore } from "./durableHost.ts"

export const operator: Authority = { _tag: "Operator" }

export const tenant = (companyId: string, runIds: ReadonlyArray<string> | null = null): Authority => ({
  _tag: "Tenant",
  companyId,
  runIds
})

export interface Received {
  readonly authority: Authority
  readonly runId: string | null
  readonly command: Readonly<Record<string, unknown>>
  readonly version: number
}

export interface PlayedRuns {
  /** The company of each run; what is not in it is nobody's. */
  readonly companies: Map<string, string | null>
  statuses: ReadonlyArray<RunStatus>
  readonly received: Array<Received>
  readonly acknowledged: Array<string>
  /** What a command comes to. */
  answer: (received: Received) => Effect.Effect<Partial<CommandReply>>
}

export const playedRuns = (companies: Readonly<Record<string, string | null>> = { r1: null }): PlayedRuns => ({
  companies: new Map(Object.entries(companies)),
  statuses: [],
  received: [],
  acknowledged: [],
  answer: () => Effect.succeed({})
})

export const statusOf = (runId: string, about: Partial<RunStatus> = {}): RunStatus => ({
  runId,
  companyId: null,
  agent: "bundled",
  cwd: "/workspace",
  runState: "active",
  sessionState: "running",
  sessionId: null,
  activeTurnId: null,
  openRequests: [],
  lastControllerSeq: 0,
  terminal: null,
  ...about
})

const textAt = (command: Readonly<Record<string, unknown>>, key: string) => String(command[key])

const runsLayer = (played: PlayedRuns): Layer.Layer<Runs> =>
  Layer.succeed(
    Runs,
    Runs.of({
      processes: Effect.succeed([]),
      command: (authority, runId, command, version) =>
        Effect.suspend(() => {
          const known = typeof command === "object" && command !== null ? { ...command } : {}
          const received: Received = { authority, runId, command: known, version }
          played.received.push(received)
          return Effect.map(played.answer(received), (reply) => ({
            commandId: textAt(received.command, "commandId"),
            commandType: textAt(received.command, "type"),
            controllerSeq: Number(received.command["controllerSeq"]),
            status: "completed" as const,
            result: null,
            ...reply
          }))
        }),
      proposeResult: () => Effect.void,
      statuses: Effect.sync(() => played.statuses),
      isVisible: (authority, runId) => {
        const companyId = played.companies.get(runId)
        return authority._tag === "Operator" || (companyId !== undefined && mayReach(authority, runId, companyId))
      },
      runnerState: () => "ready",
      acknowledged: (commandId) => Effect.sync(() => void played.acknowledged.push(commandId)),
      ended: Effect.never
    })
  )

/** One life of the runner. */
export const inRunner = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  played: PlayedRuns = playedRuns(),
  probe: ProbedStore = probedStore(),
  options: Parameters<typeof inLife>[2] = {}
) => inLife(probe, Effect.provide(effect, Layer.merge(runsLayer(played), Ids.layer)), options)

export const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

/** Long enough for whatever can go on without anybody else. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 200 })

/** Connects; the runner's half goes on in the scope. */
export const plug = Effect.fnUntraced(function* (
  authority: Authority = operator,
  about: Partial<ControlPlane> & { readonly roomBytes?: number } = {}
) {
  const [ours, theirs] = memoryDuplex(about.roomBytes)
  const channel = lineChannel(ours, limits.transportFrameBytesMax)
  const serving = yield* fork(serveControlPlane({ channel, authority, authorityEnded: Effect.never, ...about }))
  return { peer: lineChannel(theirs, limits.runnerFrameBytesMax), wire: theirs, serving }
})

export const join = (options: Partial<ConnectOptions> = {}, authority: Authority = operator) =>
  Effect.flatMap(plug(authority), ({ peer }) => connectRunner(peer, { name: "main", ...options }))

export const said = (runId: string, ...drafts: ReadonlyArray<EventDraft>) =>
  Effect.flatMap(Journal, (journal) => journal.force(entry(drafts, { runId, sessionId: `session_${runId}` })))

export type Json = Readonly<Record<string, unknown>>

/** The next frame, as it is. */
export const takeJson = (channel: FrameChannel) =>
  Effect.map(channel.take, (text): Json | undefined => (text === undefined ? undefined : JSON.parse(text)))

export const hello = (payload: Json = {}, head: Json = {}): string =>
  JSON.stringify({
    protocol: "paperclip.runner",
    version: 2,
    kind: "auth_hello",
    runnerInstanceId: null,
    connectionId: null,
    payload: { protocolMin: 1, protocolMax: 2, name: "main", afterSourceSeq: null, ...payload },
    ...head
  })

/** A connection spoken to by hand. `frame` makes a frame of it. */
export const greeted = Effect.fnUntraced(function* (
  authority: Authority = operator,
  payload: Json = {},
  about: Parameters<typeof plug>[1] = {}
) {
  const plugged = yield* plug(authority, about)
  yield* plugged.peer.write(hello(payload))
  const welcome = yield* takeJson(plugged.peer)
  const frame = (kind: string, content: unknown, head: Json = {}) =>
    JSON.stringify({
      protocol: "paperclip.runner",
      version: 2,
      kind,
      runnerInstanceId: welcome?.["runnerInstanceId"],
      connectionId: welcome?.["connectionId"],
      payload: content,
      ...head
    })
  return { ...plugged, welcome, frame }
})

export const acknowledgedBy = Effect.map(DurableJournal, ({ peers }) => Object.fromEntries(peers.acknowledged()))

/** A command whose outcome a test decides on. */
export const pendingAnswer = () => {
  const outcome = Deferred.makeUnsafe<Partial<CommandReply>>()
  return {
    answer: () => Deferred.await(outcome),
    settle: (reply: Partial<CommandReply>) => Deferred.succeed(outcome, reply)
  }
}
