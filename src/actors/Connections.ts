/**
 * The connections of a host: each is started for one claim and ended with it.
 *
 * Guarantees: a claim is handed out only after `initialize` was answered; a start that fails, times out or is interrupted has
 * ended its agent before the failure is told; a dead connection leaves the live set in the step that fails its session.
 * Bounds: the deadline of `initialize`, and what is kept of what came before its answer.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { InitializeResult, protocolVersion } from "../schema/acp/protocol.ts"
import {
  type AgentError,
  AnswerMalformed,
  type ConnectionClosed,
  type FrameTooLarge,
  HandshakeTimeout,
  type LaunchError,
  type LaunchFailed,
  ProtocolVersionUnsupported,
  type ResourceUnreleased
} from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { version } from "../schema/version.ts"
import { AgentLinks, type Launch } from "../services/AgentLink.ts"
import { launchFailure } from "../services/launchFailure.ts"
import { resultOf } from "./agentCalls.ts"
import { type Connection, type Entry, openConnection } from "./Connection.ts"
import { makeEarlyEntries } from "./earlyEntries.ts"
import { Registry } from "./kernel/Registry.ts"
import { openWhole } from "./openWhole.ts"
import type { Batch } from "./orderedQueue.ts"

/** A connection that is ours until the scope of the claim closes; closing it ends the agent. */
export interface Claim {
  readonly connection: Connection
  readonly initialized: InitializeResult
  /** As `connection.take`, beginning with what came before the claim was handed out. */
  readonly take: Effect.Effect<Batch<Entry> | undefined>
}

export type ClaimError =
  | LaunchError
  | ResourceUnreleased
  | HandshakeTimeout
  | ProtocolVersionUnsupported
  | ConnectionClosed
  | AgentError
  | AnswerMalformed
  | FrameTooLarge

export class Connections extends Context.Service<
  Connections,
  {
    /** Starts an agent and shakes hands. If interrupted, what was started is ended first. */
    readonly claim: (name: string, launch: Launch) => Effect.Effect<Claim, ClaimError, Scope.Scope>
    readonly live: () => number
  }
>()("greenroom/actors/Connections") {}

export const layer: Layer.Layer<Connections, never, AgentLinks | Registry> = Layer.effect(
  Connections,
  Effect.gen(function* () {
    // Without the scope that this layer is built in: what is started belongs to whoever claims it.
    const services = Context.pick(AgentLinks, Registry)(yield* Effect.context<AgentLinks | Registry>())
    const live = new Set<Connection>()

    const start = Effect.fnUntraced(function* (name: string, launch: Launch) {
      const connection = yield* openConnection(name, launch)
      yield* Effect.acquireRelease(
        Effect.sync(() => live.add(connection)),
        () => Effect.sync(() => live.delete(connection))
      )
      yield* Effect.forkScoped(
        Effect.andThen(
          connection.closed,
          Effect.sync(() => live.delete(connection))
        )
      )
      return yield* shakeHands(connection, launch)
    })

    return Connections.of({
      claim: (name, launch) => openWhole(Effect.provideContext(start(name, launch), services)),
      live: () => live.size
    })
  })
)

const decodeInitialized = Schema.decodeUnknownEffect(InitializeResult)

const shakeHands = Effect.fnUntraced(function* (connection: Connection, launch: Launch) {
  const early = makeEarlyEntries()
  let behind: ReadonlyArray<Entry> = []
  const ticket = connection.ticket("initialize")

  const answered = Effect.gen(function* () {
    // Its answer says that it was written, and so does the end of the connection.
    yield* Effect.asVoid(connection.request(ticket, initializeParams))
    for (;;) {
      const batch = yield* connection.take
      if (batch === undefined) return yield* Effect.flatMap(connection.closed, Effect.fail)
      const at = batch.entries.findIndex((entry) => entry._tag === "Response" && entry.ticket === ticket)
      if (at < 0) {
        yield* early.keep(batch.entries)
        const last = batch.entries.at(-1)
        if (last?._tag === "Closed") return yield* last.cause
        continue
      }
      yield* early.keep(batch.entries.slice(0, at))
      behind = batch.entries.slice(at + 1)
      return batch.entries[at]
    }
  })

  const response = yield* answered.pipe(
    Effect.timeoutOrElse({
      duration: limits.initializeMs,
      orElse: () =>
        Effect.suspend(() =>
          Effect.fail(
            new HandshakeTimeout({
              method: "initialize",
              deadlineMs: limits.initializeMs,
              framesSeen: connection.framesSeen(),
              noiseLines: connection.noise.lines,
              stderrTail: connection.link.stderrTail()
            })
          )
        )
    }),
    Effect.catchTag("ConnectionClosed", (error) => Effect.fail(neverStarted(error, connection, launch) ?? error))
  )
  if (response?._tag !== "Response") return yield* Effect.flatMap(connection.closed, Effect.fail)
  const result = yield* resultOf(response)
  const initialized = yield* Effect.mapError(
    decodeInitialized(result),
    (issue) => new AnswerMalformed({ method: "initialize", issue: issue.message })
  )
  if (initialized.protocolVersion !== protocolVersion) {
    return yield* new ProtocolVersionUnsupported({
      requested: protocolVersion,
      offered: String(initialized.protocolVersion)
    })
  }
  let first: Batch<Entry> | undefined = { entries: [...early.entries(), ...behind], bytes: 0 }
  const take = Effect.suspend(() => {
    if (first === undefined || first.entries.length === 0) return connection.take
    const batch = first
    first = undefined
    return Effect.succeed(batch)
  })
  return { connection, initialized, take } satisfies Claim
})

const initializeParams = {
  protocolVersion,
  clientInfo: { name: "greenroom", title: "Greenroom", version },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
}

const neverStarted = (closed: ConnectionClosed, connection: Connection, launch: Launch): LaunchFailed | undefined =>
  closed.exit === undefined ? undefined : launchFailure(launch, closed.exit, connection.framesSeen(), closed.stderrTail)
