/**
 * What each command of a control plane does to its run. A command that is refused has had no effect.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CommandRejected } from "../schema/errors.ts"
import { noGoals } from "../schema/prp/capabilitiesOf.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import { judgeResolution, type OpenRequest } from "../schema/prp/rules/requestResolution.ts"
import type { OptionKind, PermissionRequest, RequestAnswer } from "../schema/request.ts"
import type { RunnerState, RunStatus } from "../schema/run.ts"
import { decodePayload, InterruptPayload, ResolvePayload, TurnStartPayload } from "../schema/runCommand.ts"
import type { Ids } from "../services/Ids.ts"
import type { Journal } from "./Journal.ts"
import type { OpenedSession, OpenOptions } from "./Runner.ts"
import { rejected, type RunLife } from "./runLife.ts"

/** What a command has to do with, beside its run. */
export interface CommandContext {
  readonly run: RunLife
  readonly status: () => RunStatus
  readonly runnerState: () => RunnerState
  readonly journal: Journal["Service"]
  readonly ids: Ids["Service"]
  /** Everything that opens the session of this run. */
  readonly openOptions: Effect.Effect<OpenOptions, CommandRejected>
  /** Why its session could not go over to another run now. */
  readonly attachBlockers: () => ReadonlyArray<string>
}

type Performed = Effect.Effect<unknown, CommandRejected>

export const performRunCommand = (command: Command, context: CommandContext): Performed => {
  const { run } = context
  switch (command.type) {
    case "session.open":
      return openSession(context)
    case "turn.start":
      return startTurn(command.payload, context)
    case "turn.interrupt":
      return interrupt(command.payload, run)
    case "turn.stop":
      return Effect.map(run.suspend, (report) => ({
        status: "stopped",
        providerExitConfirmed: report === undefined || report.survivors.length === 0
      }))
    case "request.resolve":
      return resolve(command.payload, run)
    case "session.snapshot":
      return Effect.sync(() => snapshot(context))
    case "session.close":
      return Effect.as(closing(run), { status: "closed" })
    case "session.destroy":
      return Effect.as(closing(run), { status: "destroyed" })
    case "run.cancel":
      return cancelRun(command.payload, run)
    case "session.goal.get":
      return Effect.sync(() => goal(run))
    default:
      return Effect.fail(rejected("command_unavailable", "this runner does not know how"))
  }
}

const decoded = <A>(result: Result.Result<A, string>): Effect.Effect<A, CommandRejected> =>
  Effect.fromResult(Result.mapError(result, (reason) => rejected("payload_invalid", reason)))

const openSession = Effect.fnUntraced(function* ({ openOptions, run, runnerState }: CommandContext) {
  if (runnerState() !== "ready") return yield* rejected("runner_draining", "the runner takes nothing new")
  const session = yield* run.open(yield* openOptions)
  const { agent, cwd } = run.record()
  return {
    status: "started",
    provider: agent,
    driver: "acp",
    providerVersion: session.agent.agentInfo?.version ?? null,
    providerSessionId: session.settings.sessionId,
    sessionId: session.sessionId,
    processId: session.link.identity?.pid ?? null,
    cwd
  }
})

const startTurn = Effect.fnUntraced(function* (payload: unknown, { ids, journal, run, runnerState }: CommandContext) {
  const { turnId = yield* ids.next("turn"), text } = yield* decoded(decodePayload(TurnStartPayload, payload))
  if (runnerState() !== "ready") return yield* rejected("runner_draining", "the runner takes no new turn")
  yield* Effect.mapError(journal.admitsTurns, ({ reason }) => rejected("turns_refused", reason))
  yield* run.startTurn(turnId, text)
  // Agents do not name their turns.
  return { status: "accepted", turnId, providerTurnId: null }
})

const interrupt = Effect.fnUntraced(function* (payload: unknown, run: RunLife) {
  const { reason = null, turnId } = yield* decoded(decodePayload(InterruptPayload, payload))
  const session = run.session()
  const receipt = session === undefined ? "ended" : yield* gone(session.cancel(turnId), "ended" as const)
  return { status: settledBy[receipt], turnId: turnId ?? null, providerTurnId: null, reason }
})

const settledBy = {
  cancelling: "interrupt_requested",
  remembered: "interrupt_requested",
  ended: "already_settled",
  idle: "already_settled"
} as const

/** What ends anyway does not fail. */
const gone = <A, B, E>(effect: Effect.Effect<A, E>, instead: B): Effect.Effect<A | B> =>
  Effect.catch(effect, () => Effect.succeed(instead))

const cancelRun = Effect.fnUntraced(function* (payload: unknown, run: RunLife) {
  const { reason = null } = yield* decoded(decodePayload(InterruptPayload, payload))
  const wasOver = run.isOver()
  yield* run.end("run_cancelled")
  return { status: wasOver ? "already_settled" : "interrupt_requested", providerTurnId: null, reason }
})

const closing = (run: RunLife) => run.end("session_closed")

const goal = (run: RunLife) => ({
  schema: "paperclip.session_goal.snapshot.v1",
  sessionGoals: noGoals,
  goal: null,
  workingNow: run.session()?.view().runningTurnId !== undefined,
  revision: 1,
  providerRevision: null
})

const snapshot = ({ attachBlockers, run, status }: CommandContext) => {
  const { agent } = run.record()
  const { activeTurnId, openRequests, runState, sessionId, sessionState } = status()
  const session = run.session()
  const blockers = attachBlockers()
  return {
    status: sessionState,
    runState,
    provider: agent,
    driver: "acp",
    driverSessionId: sessionId,
    providerSessionId: session?.settings.sessionId ?? null,
    sessionId,
    providerIdentity: session?.link.identity ?? null,
    activeTurnId,
    activeProviderTurnId: null,
    openRequests,
    warmAttachReady: blockers.length === 0,
    warmAttachBlockers: blockers
  }
}

const resolve = Effect.fnUntraced(function* (payload: unknown, run: RunLife) {
  const { optionId, requestId, response } = yield* decoded(decodePayload(ResolvePayload, payload))
  const session = run.session()
  const request = session?.view().openRequests.find((one) => one.requestId === requestId)
  if (session === undefined || request === undefined) {
    return yield* rejected("already_terminal", "no such request is open")
  }
  const answer = yield* Effect.fromResult(answerOf(request, session, response, optionId))
  yield* session.answer(requestId, answer).pipe(
    Effect.catchTags({
      AnswerRefused: ({ reason }) => Effect.fail(new CommandRejected({ ...refusals[reason], isTried: false })),
      SessionClosed: () => Effect.fail(rejected("stale_turn", "the session is over")),
      ActorCrashed: () =>
        Effect.fail(new CommandRejected({ code: "actor_crashed", reason: "a defect of the runner", isTried: true }))
    })
  )
  return { status: "delivered", requestId }
})

const refusals = {
  stale: { code: "stale_turn", reason: "the turn of the request is over" },
  already_answered: { code: "already_terminal", reason: "somebody else has answered it" },
  unknown_request: { code: "already_terminal", reason: "no such request is open" },
  option_not_offered: { code: "invalid_resolution", reason: "the agent does not offer this choice" },
  connection_dead: { code: "stale_turn", reason: "the agent is gone" }
} as const

/** The choice of the agent's that the answer of the control plane means. */
const answerOf = (
  request: PermissionRequest,
  session: OpenedSession,
  response: unknown,
  optionId: string | undefined
): Result.Result<RequestAnswer, CommandRejected> => {
  const open: OpenRequest = {
    kind: "permission_approval",
    status: "pending",
    turnId: request.turnId,
    questionSet: undefined
  }
  const judged = Result.mapError(judgeResolution(open, session.view().runningTurnId, response), ({ code, reason }) =>
    rejected(code, reason)
  )
  return Result.flatMap(judged, ({ action }): Result.Result<RequestAnswer, CommandRejected> => {
    if (action === "cancel") return Result.succeed({ _tag: "Cancelled" })
    const kinds = optionKinds[action]
    const fitting = request.options.filter((option) =>
      optionId === undefined ? option.kind === kinds[0] : option.optionId === optionId && kinds.includes(option.kind)
    )
    const [option] = fitting
    if (option === undefined) return invalid(`the agent does not offer to ${action} it`)
    if (fitting.length > 1) return invalid("several choices are of this kind: name one with optionId")
    return Result.succeed({ _tag: "Selected", optionId: option.optionId })
  })
}

const invalid = (reason: string) => Result.fail(rejected("invalid_resolution", reason))

/**
 * The first is meant where no choice is named. An agent's "always" is not proven to end with its session, so nothing is
 * accepted for the session; whoever wants it names it.
 */
const optionKinds: Readonly<Record<"accept" | "accept_for_session" | "decline" | "submit", ReadonlyArray<OptionKind>>> =
  {
    accept: ["allow_once", "allow_always"],
    accept_for_session: [],
    decline: ["reject_once", "reject_always"],
    submit: []
  }

/** Why the command meets another state than it presumes; `undefined`: it does not. */
export const unmetPrecondition = (
  { deadlineAt, precondition }: Command,
  status: RunStatus | undefined,
  runnerState: RunnerState,
  nowMs: number
): CommandRejected | undefined => {
  if (deadlineAt !== undefined && instantMs(deadlineAt) < nowMs) {
    return rejected("deadline_exceeded", "the deadline of the command has passed")
  }
  if (precondition === undefined) return undefined
  const unmet = (what: string) => rejected("precondition_failed", `${what} is another`)
  if (precondition.runnerState?.includes(runnerState) === false) return unmet("the state of the runner")
  if (precondition.runState?.includes(status?.runState ?? "not_started") === false) return unmet("the state of the run")
  if (precondition.sessionState?.includes(status?.sessionState ?? "not_started") === false) {
    return unmet("the state of the session")
  }
  const expected = precondition.activeTurnId
  return expected === undefined || expected === (status?.activeTurnId ?? null) ? undefined : unmet("the active turn")
}

/** The clock knows no leap second. */
const instantMs = (timestamp: string): number =>
  Option.getOrThrow(Option.map(DateTime.make(timestamp.replace(/(T\d\d:\d\d):60/iu, "$1:59")), DateTime.toEpochMillis))
