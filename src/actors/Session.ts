/**
 * A session: one conversation with one agent, its prompts one after another.
 *
 * Guarantees: an accepted prompt is a turn with exactly one terminal, whatever becomes of the session; one turn runs at a time;
 * a cancel takes effect at one point, also for a turn that is queued or not known yet; when the connection dies, everything
 * pending ends in that step with its cause. Closing cancels what runs, ends the agent and proves it. Bounds: queued prompts,
 * remembered cancels.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { contentBlocks } from "../schema/acp/prompt.ts"
import type { InitializeResult, NewSessionResult } from "../schema/acp/protocol.ts"
import {
  AnswerRefused,
  type ConnectionClosed,
  PromptRefused,
  type ResourceUnreleased,
  SessionClosed
} from "../schema/errors.ts"
import { StableId } from "../schema/identity.ts"
import { limits } from "../schema/limits.ts"
import * as drafts from "../schema/prp/sessionDrafts.ts"
import type { PermissionPolicy, PermissionRequest } from "../schema/request.ts"
import type { SessionRpcs } from "../schema/session.ts"
import type { TurnOutcome } from "../schema/turn.ts"
import type { CleanupReport, Launch } from "../services/AgentLink.ts"
import { Files } from "../services/Files.ts"
import { Ids } from "../services/Ids.ts"
import type { GatedEffect } from "../services/gate.ts"
import type { Traits } from "../services/Provider.ts"
import { makeAgentCalls } from "./agentCalls.ts"
import type { Entry } from "./Connection.ts"
import { type Claim, type ClaimError, Connections } from "./Connections.ts"
import { Journal } from "./Journal.ts"
import * as Actor from "./kernel/Actor.ts"
import { forkOwned } from "./forkOwned.ts"
import type { Handlers } from "./kernel/Message.ts"
import { Registry } from "./kernel/Registry.ts"
import type { GroupMessage } from "./kernel/RpcMessages.ts"
import { admitRequest } from "./requestAdmission.ts"
import { makePump } from "./sessionPump.ts"
import { makeSessionRequests, type SessionRequests } from "./sessionRequests.ts"
import { makeSpeech } from "./sessionSpeech.ts"
import { callSetMode, setUpSession, type SetupError } from "./sessionSetup.ts"
import { makeSessionTurns } from "./sessionTurns.ts"
import { spawnTurn, type Turn } from "./Turn.ts"
import type { TurnRecords } from "./turnEvents.ts"

export interface SessionOptions {
  readonly sessionId: string
  readonly runId: string
  /** The provider's id, and what is known of its agents. */
  readonly agent: string
  readonly traits: Traits
  readonly launch: Launch
  readonly policy: PermissionPolicy
  /** Effects whose gate nobody has verified; said in an event. */
  readonly unverified: ReadonlyArray<GatedEffect>
  /** There is somebody who answers requests. Without, they are rejected once, and that is said. */
  readonly canAsk: boolean
  readonly mcpServers: ReadonlyArray<unknown>
  readonly mode: string | undefined
  /** To be set after the session is open; `undefined` also when the launch has fixed it. */
  readonly model: string | undefined
  readonly recordsOf?: TurnRecords
}

export interface Session {
  readonly sessionId: string
  /** The run that its events belong to. */
  readonly runId: () => string
  readonly path: string
  readonly ref: Actor.ActorRef<SessionMessage>
  readonly initialized: InitializeResult
  readonly created: NewSessionResult
  readonly claim: Claim
  /** The outcome of an accepted turn, also after the session has been closed; `undefined` for one that is not remembered. */
  readonly outcome: (turnId: string) => Effect.Effect<TurnOutcome> | undefined
  readonly view: () => SessionView
  /** From now on its events belong to that run. `false`, and nothing has changed: a turn has not ended. */
  readonly attach: (runId: string) => boolean
  /** Completes, behind what is said of it, when the connection dies before the session is closed. */
  readonly died: Effect.Effect<ConnectionClosed>
  /** Cancels what runs, ends the agent, and says what that proved. Idempotent; if interrupted it goes on. */
  readonly close: Effect.Effect<CleanupReport>
}

/** What is so at this moment. */
export interface SessionView {
  readonly runningTurnId: string | undefined
  /** Running and waiting ones. */
  readonly openTurnIds: ReadonlyArray<string>
  readonly openRequests: ReadonlyArray<PermissionRequest>
}

export type SessionMessage = GroupMessage<typeof SessionRpcs>

export type OpenError = ClaimError | SetupError | ResourceUnreleased

type Services = Connections | Files | Ids | Journal | Registry

const mailbox = { capacity: limits.queuedPromptsMax, policy: "suspend" } as const

const cancelMsOf = ({ traits }: SessionOptions): number => traits.graces?.cancelMs ?? limits.cancelMs

/** The ladder of its connection, after the cancel of its turn. */
const stopWithin = (options: SessionOptions): number =>
  cancelMsOf(options) +
  limits.eofGraceMs +
  limits.termGraceMs +
  limits.killGraceMs +
  limits.writeMs +
  limits.drainAfterExitMs

/** Starts the agent and opens a session, both owned by the scope. A failed or interrupted open leaves nothing. */
export const openSession = Effect.fnUntraced(function* (
  options: SessionOptions
): Effect.fn.Return<Session, OpenError, Services | Scope.Scope> {
  const opened = Deferred.makeUnsafe<Opened>()
  const ref = yield* Actor.spawn<SessionMessage, OpenError, Services | Actor.Self | Scope.Scope>({
    name: `session:${options.sessionId}`,
    mailbox,
    control: ["Cancel", "Answer"],
    stopWithin: stopWithin(options),
    behaviour: behaviour(options, opened)
  })
  const { end, ...rest } = yield* Deferred.await(opened)
  let closing: Deferred.Deferred<CleanupReport> | undefined
  const close = Effect.uninterruptibleMask((restore) => {
    if (closing !== undefined) return restore(Deferred.await(closing))
    const report = (closing = Deferred.makeUnsafe<CleanupReport>())
    return Effect.onExit(Effect.tap(end, ref.stop), (exit) => Effect.sync(() => Deferred.doneUnsafe(report, exit)))
  })
  yield* Effect.addFinalizer(() => close)
  return {
    sessionId: options.sessionId,
    path: ref.path,
    ref,
    initialized: rest.claim.initialized,
    ...rest,
    close
  }
})

/** Turn ids stand in paths and in typed payloads. */
const isTurnId = Schema.is(StableId)

interface Opened extends Pick<Session, "attach" | "claim" | "created" | "died" | "outcome" | "runId" | "view"> {
  readonly end: Effect.Effect<CleanupReport>
}

const behaviour = Effect.fnUntraced(function* (options: SessionOptions, opened: Deferred.Deferred<Opened>) {
  const { sessionId, launch } = options
  const context = yield* Effect.context<Services | Actor.Self>()
  let runId = options.runId
  const say = makeSpeech(yield* Journal, { sessionId, launch, runId: () => runId })
  yield* Effect.addFinalizer((exit) =>
    Exit.hasDies(exit) && say.hasStarted() ? say.failed(drafts.sessionCrashed) : Effect.void
  )
  const claim = yield* (yield* Connections).claim(`connection:${sessionId}`, launch)
  const { connection } = claim
  const calls = makeAgentCalls(connection)
  const requests = makeSessionRequests()
  const turns = makeSessionTurns()
  const accepting = Semaphore.makeUnsafe(1)
  let agentSessionId: string | undefined
  const diedOf = Deferred.makeUnsafe<ConnectionClosed>()
  let dead: ConnectionClosed | undefined
  let isClosing = false

  /** A prompt that is being accepted is among the turns from then on; no further one is accepted. */
  const lastAccepted = accepting.withPermits(1)(Effect.void)

  const died = Effect.fnUntraced(function* (cause: ConnectionClosed) {
    dead = cause
    calls.fail(cause)
    yield* lastAccepted
    for (const turn of turns.open()) yield* turn.died(cause)
    if (isClosing) return
    yield* say.exit(cause.exit)
    yield* say.noise(connection.noise)
    yield* say.failed(drafts.sessionFailed(cause))
    Deferred.doneUnsafe(diedOf, Exit.succeed(cause))
  })

  const request = Effect.fnUntraced(function* (turn: Turn, one: Extract<Entry, { readonly _tag: "Request" }>) {
    const admission = yield* admitRequest(one, { turnId: turn.turnId, options })
    if (admission._tag !== "Admitted") return admission
    const isTaken = yield* turn.request(admission.options, one.bytes)
    return isTaken ? ({ _tag: "Taken" } as const) : ({ _tag: "TurnOver" } as const)
  })

  const withdrawn = (slotKey: string) => {
    const found = requests.findBySlot(slotKey)
    return found === undefined ? Effect.void : Effect.ignore(found.tell({ _tag: "Withdraw" }))
  }

  const pump = yield* makePump({
    sessionId,
    workspace: launch.cwd,
    agent: agentOf(options),
    claim,
    calls,
    agentSessionId: () => agentSessionId,
    running: turns.running,
    turnSettled: turns.settled,
    batchDone: turns.startNext,
    request: (turn, one) => Effect.provideContext(request(turn, one), context),
    withdrawn,
    died,
    append: say.append
  })
  const pumped = Deferred.makeUnsafe<void>()
  yield* forkOwned(Effect.ensuring(pump.run, Deferred.succeed(pumped, undefined)))

  yield* say.force(drafts.harnessReady(options.agent, claim.initialized))
  const created = yield* setUpSession(
    { ...options, cwd: launch.cwd },
    {
      calls,
      initialized: claim.initialized,
      lastFrameMs: pump.lastFrameMs,
      stderrTail: connection.link.stderrTail,
      sessionKnown: (id) => void (agentSessionId = id)
    }
  )
  yield* say.started(drafts.sessionStarted(sessionId, options.agent, created.sessionId))
  if (options.unverified.length > 0) yield* say.force(drafts.gateUnverified(sessionId, options.unverified))

  const accept = Effect.fnUntraced(function* ({
    turnId,
    parts,
    deadlineMs
  }: Payload<"Prompt">): Effect.fn.Return<void, PromptRefused | SessionClosed, Actor.Self | Scope.Scope> {
    if (dead !== undefined || isClosing) return yield* new SessionClosed({ sessionId })
    if (!isTurnId(turnId)) return yield* new PromptRefused({ reason: "turn_id_invalid", detail: "not a stable id" })
    const refusal = turns.refusal(turnId)
    if (refusal !== undefined) return yield* refusal
    const prompt = contentBlocks(parts, claim.initialized.agentCapabilities.promptCapabilities)
    if (Result.isFailure(prompt)) return yield* prompt.failure
    const turn = yield* spawnTurn({
      turnId,
      runId,
      sessionId,
      agentSessionId: created.sessionId,
      connection,
      prompt: prompt.success,
      deadlineMs,
      cancelMs: cancelMsOf(options),
      workspace: launch.cwd,
      agent: agentOf(options),
      requests,
      ...(options.recordsOf === undefined ? {} : { recordsOf: options.recordsOf })
    }).pipe(Effect.orDie, Effect.provideContext(context))
    yield* turns.add(turn)
    const next = Effect.suspend(() => {
      turns.settled(turn)
      return turns.startNext
    })
    yield* forkOwned(Effect.andThen(turn.outcome, next))
  })

  const end = Effect.gen(function* () {
    isClosing = true
    say.stopWaiting()
    yield* lastAccepted
    const open = turns.open()
    yield* Effect.forEach(open, (turn) => turn.cancel("shutdown"), { discard: true })
    yield* Effect.forEach(open, (turn) => turn.outcome, { discard: true })
    const report = yield* connection.close
    // What the agent has said until then comes before the last word of the session.
    yield* Deferred.await(pumped)
    yield* say.exit(report.exit)
    yield* say.noise(connection.noise)
    yield* say.closed(drafts.sessionClosed(report))
    return report
  })

  const attach = (to: string) => {
    if (turns.open().length > 0) return false
    runId = to
    return true
  }

  const view = (): SessionView => ({
    runningTurnId: turns.running()?.turnId,
    openTurnIds: turns.open().map(({ turnId }) => turnId),
    openRequests: requests.open()
  })

  Deferred.doneUnsafe(
    opened,
    Exit.succeed({
      claim,
      created,
      outcome: turns.outcome,
      runId: () => runId,
      view,
      attach,
      died: Deferred.await(diedOf),
      end
    })
  )
  const handlers: Handlers<SessionMessage, Actor.Self | Scope.Scope> = {
    Prompt: ({ payload }) => accepting.withPermits(1)(accept(payload)),
    Outcome: ({ payload }) => {
      const outcome = turns.outcome(payload.turnId)
      return outcome === undefined ? Effect.fail(new SessionClosed({ sessionId })) : Actor.later(outcome)
    },
    Cancel: ({ payload: { turnId, by } }) => (by === "agent" ? Effect.succeed("idle") : turns.cancel(turnId, by)),
    Answer: ({ payload }) => answer(requests, payload),
    SetMode: ({ payload: { modeId } }) => Actor.later(callSetMode(created, modeId, calls))
  }
  return handlers
})

type Payload<Tag extends SessionMessage["_tag"]> = Extract<SessionMessage, { readonly _tag: Tag }>["payload"]

const agentOf = ({ agent, model }: SessionOptions) => ({ provider: agent, model: model ?? null })

const answer = (requests: SessionRequests, { requestId, answer: given }: Payload<"Answer">) => {
  const found = requests.find(requestId)
  const refused = (reason: AnswerRefused["reason"]) => new AnswerRefused({ requestId, reason })
  if (typeof found === "string") return Effect.fail(refused(found))
  const delivered = found.ask({ _tag: "Answer", answer: given })
  return Actor.later(Effect.mapError(delivered, (error) => (error._tag === "AnswerRefused" ? error : refused("stale"))))
}
