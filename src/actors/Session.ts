/**
 * A session: one conversation with one agent, its prompts one after another.
 *
 * Guarantees: an accepted prompt is a turn with exactly one terminal, whatever becomes of the session; one turn runs at a time;
 * a cancel takes effect at one point, also for a turn that is queued or not known yet; when the connection dies, everything
 * pending ends in that step with its cause. Closing cancels what runs, ends the agent and proves it. Bounds: queued prompts,
 * remembered cancels. Source: DESIGN 3, rules 2, 3 and 9.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { contentBlocks } from "../schema/acp/prompt.ts"
import { agentMethods, type InitializeResult, type NewSessionResult } from "../schema/acp/protocol.ts"
import {
  AnswerRefused,
  type ConnectionClosed,
  PromptRefused,
  type ResourceUnreleased,
  SessionClosed,
  SettingRefused
} from "../schema/errors.ts"
import { StableId } from "../schema/identity.ts"
import { limits } from "../schema/limits.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import * as drafts from "../schema/prp/sessionDrafts.ts"
import type { PermissionPolicy } from "../schema/request.ts"
import type { CancelReceipt, SessionRpcs } from "../schema/session.ts"
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
import type { RuntimeRequest } from "./RuntimeRequest.ts"
import { makePump } from "./sessionPump.ts"
import { setUpSession, type SetupError } from "./sessionSetup.ts"
import { spawnTurn, type Turn } from "./Turn.ts"

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
}

export interface Session {
  readonly sessionId: string
  readonly runId: string
  readonly path: string
  readonly ref: Actor.ActorRef<SessionMessage>
  readonly initialized: InitializeResult
  readonly created: NewSessionResult
  readonly claim: Claim
  /** The outcome of an accepted turn, also after the session has been closed; `undefined` for one that is not remembered. */
  readonly outcome: (turnId: string) => Effect.Effect<TurnOutcome> | undefined
  /** Cancels what runs, ends the agent, and says what that proved. Idempotent; if interrupted it goes on. */
  readonly close: Effect.Effect<CleanupReport>
}

export type SessionMessage = GroupMessage<typeof SessionRpcs>

export type OpenError = ClaimError | SetupError | ResourceUnreleased

type Services = Connections | Files | Ids | Journal | Registry

const mailbox = { capacity: limits.queuedPromptsMax, policy: "suspend" } as const

/** The ladder of its connection, after the cancel of its turn. */
const stopWithin =
  limits.cancelMs +
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
    stopWithin,
    behaviour: behaviour(options, opened)
  })
  const { claim, created, outcome, end } = yield* Deferred.await(opened)
  let closing: Deferred.Deferred<CleanupReport> | undefined
  const close = Effect.suspend(() => {
    if (closing !== undefined) return Deferred.await(closing)
    const report = (closing = Deferred.makeUnsafe<CleanupReport>())
    return Effect.uninterruptible(
      Effect.onExit(Effect.tap(end, ref.stop), (exit) => Effect.sync(() => Deferred.doneUnsafe(report, exit)))
    )
  })
  yield* Effect.addFinalizer(() => close)
  return {
    sessionId: options.sessionId,
    runId: options.runId,
    path: ref.path,
    ref,
    initialized: claim.initialized,
    created,
    claim,
    outcome,
    close
  }
})

/** Turn ids stand in paths and in typed payloads. */
const isTurnId = Schema.is(StableId)

interface Opened {
  readonly claim: Claim
  readonly created: NewSessionResult
  readonly outcome: Session["outcome"]
  readonly end: Effect.Effect<CleanupReport>
}

const behaviour = Effect.fnUntraced(function* (options: SessionOptions, opened: Deferred.Deferred<Opened>) {
  const { sessionId, runId, launch } = options
  const context = yield* Effect.context<Services | Actor.Self>()
  const journal = yield* Journal
  const claim = yield* (yield* Connections).claim(`connection:${sessionId}`, launch)
  const { connection } = claim
  const calls = makeAgentCalls(connection)
  const requests = new Map<string, RuntimeRequest>()
  const requestBySlot = new Map<string, string>()
  const turns = new Map<string, Turn>()
  const outcomes = new Map<string, Effect.Effect<TurnOutcome>>()
  const remembered = new Set<string>()
  const draining = Latch.makeUnsafe(false)
  const waiting: Array<Turn> = []
  let running: Turn | undefined
  let agentSessionId: string | undefined
  let dead: ConnectionClosed | undefined
  let isClosing = false
  let isExitSaid = false

  const entry = (made: ReadonlyArray<EventDraft>, bytes: number) => ({ runId, sessionId, drafts: made, bytes })
  const force = (...made: ReadonlyArray<EventDraft>) => journal.force(entry(made, 0))

  const startNext = Effect.suspend(() => {
    if (running !== undefined) return Effect.void
    running = waiting.shift()
    return running === undefined ? Effect.void : running.start
  })

  const settled = (turn: Turn) => {
    if (running === turn) running = undefined
    const at = waiting.indexOf(turn)
    if (at >= 0) waiting.splice(at, 1)
    turns.delete(turn.turnId)
  }

  const died = Effect.fnUntraced(function* (cause: ConnectionClosed) {
    dead = cause
    calls.fail(cause)
    for (const turn of turns.values()) yield* turn.died(cause)
    if (isClosing) return
    yield* sayExit(cause.exit)
    yield* force(drafts.sessionFailed(cause))
  })

  const sayExit = (exit: ConnectionClosed["exit"]) =>
    Effect.suspend(() => {
      if (exit === undefined || isExitSaid) return Effect.void
      isExitSaid = true
      return force(drafts.harnessExited(exit))
    })

  const request = Effect.fnUntraced(function* (turn: Turn, one: Extract<Entry, { readonly _tag: "Request" }>) {
    const admission = yield* admitRequest(one, { turnId: turn.turnId, options })
    if (admission._tag !== "Admitted") return admission
    requestBySlot.set(one.slot.key, admission.options.request.requestId)
    const isTaken = yield* turn.request(admission.options)
    return isTaken ? ({ _tag: "Taken" } as const) : ({ _tag: "TurnOver" } as const)
  })

  const pump = yield* makePump({
    sessionId,
    workspace: launch.cwd,
    agent: { provider: options.agent, model: options.model ?? null },
    claim,
    calls,
    agentSessionId: () => agentSessionId,
    running: () => running,
    turnSettled: settled,
    batchDone: startNext,
    request: (turn, one) => Effect.provideContext(request(turn, one), context),
    withdrawn: (slotKey) => {
      const found = requests.get(requestBySlot.get(slotKey) ?? "")
      return found === undefined ? Effect.void : Effect.ignore(found.tell({ _tag: "Withdraw" }))
    },
    died,
    append: (made, bytes, turnDraining) => Effect.asVoid(journal.append(entry(made, bytes), turnDraining ?? draining))
  })
  yield* forkOwned(pump.run)

  yield* force(drafts.harnessReady(options.agent, claim.initialized))
  const created = yield* setUpSession(
    { agent: options.agent, cwd: launch.cwd, mcpServers: options.mcpServers, mode: options.mode, model: options.model },
    {
      calls,
      initialized: claim.initialized,
      lastFrameMs: pump.lastFrameMs,
      stderrTail: connection.link.stderrTail,
      sessionKnown: (id) => void (agentSessionId = id)
    }
  )
  yield* force(drafts.sessionStarted(sessionId, options.agent, created.sessionId))
  if (options.unverified.length > 0) yield* force(drafts.gateUnverified(sessionId, options.unverified))

  const accept = Effect.fnUntraced(function* (
    payload: Extract<SessionMessage, { readonly _tag: "Prompt" }>["payload"]
  ): Effect.fn.Return<void, PromptRefused | SessionClosed, Actor.Self | Scope.Scope> {
    const { turnId, parts, deadlineMs } = payload
    if (dead !== undefined || isClosing) return yield* new SessionClosed({ sessionId })
    if (!isTurnId(turnId)) return yield* new PromptRefused({ reason: "turn_id_invalid", detail: "not a stable id" })
    if (outcomes.has(turnId)) return yield* new PromptRefused({ reason: "duplicate_turn_id", detail: turnId })
    if (waiting.length >= limits.queuedPromptsMax) {
      return yield* new PromptRefused({ reason: "queue_full", detail: `${waiting.length} prompts are waiting` })
    }
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
      workspace: launch.cwd,
      agent: { provider: options.agent, model: options.model ?? null },
      requests
    }).pipe(Effect.orDie, Effect.provideContext(context))
    turns.set(turnId, turn)
    remember(outcomes, turnId, turn.outcome)
    waiting.push(turn)
    yield* forkOwned(
      Effect.andThen(
        turn.outcome,
        Effect.suspend(() => {
          settled(turn)
          return startNext
        })
      )
    )
    if (remembered.delete(turnId)) yield* turn.cancel("interrupt")
    else yield* startNext
  })

  const cancel = ({ turnId, by }: Extract<SessionMessage, { readonly _tag: "Cancel" }>["payload"]) =>
    Effect.suspend((): Effect.Effect<CancelReceipt> => {
      if (by === "agent") return Effect.succeed("idle")
      const turn = turnId === undefined ? running : turns.get(turnId)
      if (turn !== undefined) return Effect.as(turn.cancel(by), "cancelling")
      if (turnId === undefined) return Effect.succeed("idle")
      if (outcomes.has(turnId)) return Effect.succeed("ended")
      remembered.add(turnId)
      if (remembered.size > limits.queuedPromptsMax) remembered.delete(remembered.values().next().value ?? "")
      return Effect.succeed("remembered")
    })

  const end = Effect.gen(function* () {
    isClosing = true
    draining.openUnsafe()
    const open = [...turns.values()]
    yield* Effect.forEach(open, (turn) => turn.cancel("shutdown"), { discard: true })
    yield* Effect.forEach(open, (turn) => turn.outcome, { discard: true })
    const report = yield* connection.close
    yield* sayExit(report.exit)
    yield* force(drafts.sessionClosed(report))
    return report
  })

  Deferred.doneUnsafe(opened, Exit.succeed({ claim, created, outcome: (turnId) => outcomes.get(turnId), end }))
  const handlers: Handlers<SessionMessage, Actor.Self | Scope.Scope> = {
    Prompt: ({ payload }) => accept(payload),
    Outcome: ({ payload }) => {
      const outcome = outcomes.get(payload.turnId)
      return outcome === undefined ? Effect.fail(new SessionClosed({ sessionId })) : Actor.later(outcome)
    },
    Cancel: ({ payload }) => cancel(payload),
    Answer: ({ payload: { requestId, answer } }) => {
      const found = requests.get(requestId)
      const refused = (reason: AnswerRefused["reason"]) => new AnswerRefused({ requestId, reason })
      if (found === undefined) return Effect.fail(refused("unknown_request"))
      return Actor.later(
        Effect.mapError(found.ask({ _tag: "Answer", answer }), (error) =>
          error._tag === "AnswerRefused" ? error : refused("stale")
        )
      )
    },
    SetMode: ({ payload: { modeId } }) => {
      const available = created.modes?.availableModes.map((mode) => mode.id) ?? []
      if (!available.includes(modeId)) {
        return Effect.fail(new SettingRefused({ setting: "mode", value: modeId, available }))
      }
      const params = { sessionId: created.sessionId, modeId }
      return Actor.later(
        Effect.mapError(Effect.asVoid(calls.call(agentMethods.sessionSetMode, params, Schema.Unknown)), (error) =>
          error._tag === "AgentError" || error._tag === "ConnectionClosed" ? error : new SessionClosed({ sessionId })
        )
      )
    }
  }
  return handlers
})

/** Keeps the outcomes of the latest turns, to answer who asks late. */
const remember = (
  outcomes: Map<string, Effect.Effect<TurnOutcome>>,
  turnId: string,
  outcome: Effect.Effect<TurnOutcome>
) => {
  outcomes.set(turnId, outcome)
  for (const oldest of outcomes.keys()) {
    if (outcomes.size <= limits.rememberedTurnsMax) return
    outcomes.delete(oldest)
  }
}
