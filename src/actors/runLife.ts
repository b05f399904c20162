/**
 * The life of one run: its session, its turns, its end.
 *
 * Guarantees: at most one session at a time; what is told of the run is kept in the commit that tells it; the run ends exactly
 * once, and only when its session has ended or has gone over to another run; behind `run.terminal` nothing is said of it.
 * Everything that it starts belongs to the runner's scope.
 */
import * as Deferred from "effect/Deferred"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { CommandRejected, invariant } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { capabilitiesOf } from "../schema/prp/capabilitiesOf.ts"
import type { RunResult } from "../schema/prp/contract/result.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import * as drafts from "../schema/prp/runDrafts.ts"
import type { TurnOutcome } from "../schema/turn.ts"
import type { CleanupReport } from "../services/AgentLink.ts"
import type { StoredRecord } from "../services/JournalStore.ts"
import type { Journal } from "./Journal.ts"
import type { OpenedSession, OpenError, OpenOptions, Runner } from "./Runner.ts"
import { defaultResult, type EndCause, type RunRecord, terminalOf, turnStateOf } from "./runRecord.ts"

export interface RunLife {
  readonly record: () => RunRecord
  readonly session: () => OpenedSession | undefined
  /** If interrupted it goes on. A failed one leaves nothing, and may be tried again. */
  readonly open: (options: OpenOptions) => Effect.Effect<OpenedSession, CommandRejected>
  /** Completes when the turn is accepted. If interrupted it goes on. */
  readonly startTurn: (turnId: string, text: string) => Effect.Effect<void, CommandRejected>
  /** Ends the turns and the agent, and keeps the run for a time. */
  readonly suspend: Effect.Effect<CleanupReport | undefined, CommandRejected>
  /** `false`: another one was first, or the run is over. */
  readonly propose: (result: RunResult) => Effect.Effect<boolean>
  /** Ends this run and gives its session to another. The session must be idle. */
  readonly handOver: (to: string) => Effect.Effect<HeldSession, CommandRejected>
  /** Takes the session of another run. */
  readonly takeOver: (held: HeldSession, from: string) => Effect.Effect<void>
  /** Idempotent; completes when the run is over. If interrupted it goes on. */
  readonly end: (cause: EndCause) => Effect.Effect<void>
  readonly isOver: () => boolean
  /** No event of it has a higher number; `undefined` until its terminal is stored. */
  readonly lastSeq: () => number | undefined
  /** Ends a run that has no process when its deadline comes. */
  readonly expire: Effect.Effect<void>
}

/** A session with those who own it. */
export interface HeldSession {
  readonly session: OpenedSession
  readonly scope: Scope.Closeable
  /** The run that keeps what becomes of its turns. */
  owner: (outcome: TurnOutcome) => ReadonlyArray<StoredRecord>
}

export interface RunHost {
  readonly runner: Runner["Service"]
  readonly journal: Journal["Service"]
  readonly scope: Scope.Scope
}

export const storedRun = (record: RunRecord): StoredRecord => ({ kind: "run", id: record.runId, value: record })

export const rejected = (code: string, reason: string) => new CommandRejected({ code, reason, isTried: false })
const working = { runState: "active", sessionState: "running", deadlineMs: null } as const

const failed = (code: string, reason: string) => new CommandRejected({ code, reason, isTried: true })

export const makeRunLife = (first: RunRecord, { runner, journal, scope: host }: RunHost): RunLife => {
  const { runId, sessionId } = first
  let record = first
  let held: HeldSession | undefined
  let opening: Fiber.Fiber<OpenedSession, CommandRejected> | undefined
  let watching: Fiber.Fiber<void> | undefined
  let ending: Deferred.Deferred<void> | undefined
  let isExecuting = false
  let lastSeq = first.runState === "terminal" ? journal.sequence() : undefined
  /** Its agent is being ended, or was: nothing begins with it any more. */
  let isStopped = first.runState === "suspended"
  const turns = new Set<Fiber.Fiber<void>>()

  const say = (said: ReadonlyArray<EventDraft>, change: Partial<RunRecord> = {}) =>
    Effect.suspend(() => {
      if (record.runState === "terminal") return Effect.void
      record = { ...record, ...change }
      return journal.force({ runId, sessionId, drafts: said, bytes: 0, records: [storedRun(record)] })
    })

  /** In the step that makes the terminal of the turn. */
  const owner: HeldSession["owner"] = (outcome) => {
    record = { ...record, lastTurn: turnStateOf(outcome) }
    return [storedRun(record)]
  }

  const offers = () => (held === undefined ? [] : drafts.offers(capabilitiesOf(record.agent, held.session.agent)))

  const take = (taken: HeldSession) => {
    held = taken
    taken.owner = owner
    const watch = Effect.andThen(taken.session.died, Effect.forkIn(end("session_failed"), host))
    return Effect.map(Effect.forkIn(Effect.asVoid(watch), host), (fiber) => void (watching = fiber))
  }

  /** Whoever waits for its end has waited for everything that is said of it. */
  const openHeld = (options: OpenOptions) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* say([drafts.harnessStarting(record.agent), drafts.sessionStarting(sessionId)], {
          sessionState: "starting"
        })
        const scope = Scope.forkUnsafe(host)
        let taken: HeldSession | undefined
        const recordsOf = (_turnId: string, outcome: TurnOutcome) => (taken?.owner ?? owner)(outcome)
        const opened = runner.open({ ...options, runId, sessionId, recordsOf })
        const exit = yield* Effect.exit(restore(Scope.provide(opened, scope)))
        if (Exit.isFailure(exit)) {
          yield* Scope.close(scope, exit)
          const failure = failureOf(exit.cause)
          yield* say([drafts.sessionNotOpened(failure.code, failure.reason)], { sessionState: "failed" })
          return yield* failure
        }
        taken = { session: exit.value, scope, owner }
        yield* take(taken)
        yield* say([...offers(), drafts.phase("ready")], working)
        return exit.value
      })
    )

  const open: RunLife["open"] = Effect.fnUntraced(function* (options) {
    if (ending !== undefined) return yield* rejected("run_ended", "the run is over")
    if (isStopped) return yield* rejected("session_unavailable", "its agent was ended")
    if (held !== undefined || opening !== undefined) return yield* rejected("session_exists", "the run has a session")
    const fiber = (opening = yield* Effect.forkIn(openHeld(options), host, { startImmediately: true }))
    fiber.addObserver(() => void (opening = undefined))
    return yield* Fiber.join(fiber)
  })

  /** What something may begin with. */
  const usable = Effect.suspend(() =>
    held === undefined || ending !== undefined || isStopped
      ? Effect.fail(rejected("session_not_open", "no session is open"))
      : Effect.succeed(held)
  )

  const startTurn: RunLife["startTurn"] = Effect.fnUntraced(function* (turnId, text) {
    const { session } = yield* usable
    const accepted = Deferred.makeUnsafe<void, CommandRejected>()
    const refuse = (error: CommandRejected) => Effect.sync(() => void Deferred.doneUnsafe(accepted, Exit.fail(error)))
    const turn = Effect.gen(function* () {
      const { outcome } = yield* session.prompt(text, { turnId, events: "discard" })
      Deferred.doneUnsafe(accepted, Exit.void)
      if (!isExecuting) {
        isExecuting = true
        yield* say([drafts.phase("executing")])
      }
      yield* outcome
      yield* say(offers())
    }).pipe(
      Effect.scoped,
      Effect.catchTags({
        PromptRefused: ({ reason, detail }) => refuse(rejected(`prompt_${reason}`, detail)),
        SessionClosed: () => refuse(rejected("session_not_open", "the session is over")),
        ActorCrashed: () => refuse(failed("actor_crashed", "a defect of the runner ended it"))
      })
    )
    const fiber = yield* Effect.forkIn(turn, host, { startImmediately: true })
    turns.add(fiber)
    fiber.addObserver((exit) => {
      turns.delete(fiber)
      Deferred.doneUnsafe(accepted, Exit.isFailure(exit) ? Exit.fail(failureOf(exit.cause)) : Exit.void)
    })
    yield* Deferred.await(accepted)
  })

  const turnsOver = Effect.suspend(() => Effect.forEach([...turns], Fiber.await, { discard: true }))

  /** Ends the turns and the agent. */
  const closeSession = (by: "runCancel" | "shutdown") =>
    Effect.gen(function* () {
      if (opening !== undefined) yield* Fiber.interrupt(opening)
      const closing = held
      if (closing === undefined) return undefined
      const { session } = closing
      if (by === "runCancel") {
        for (const turnId of session.view().openTurnIds) yield* Effect.ignore(session.cancel(turnId, by))
        yield* turnsOver
      }
      if (watching !== undefined) yield* Fiber.interrupt(watching)
      yield* proposeDefault
      const report = yield* session.close
      yield* turnsOver
      yield* Scope.close(closing.scope, Exit.void)
      held = undefined
      record = { ...record, sessionState: record.sessionState === "failed" ? "failed" : "closed" }
      return report
    })

  /** Of what a cancel or the close of the session has yet to end nothing is proposed. */
  const proposeDefault = Effect.suspend(() => {
    const isIdle = held === undefined || held.session.view().openTurnIds.length === 0
    if (!isIdle || record.lastTurn !== "completed" || record.proposed !== null) return Effect.void
    const proposed = defaultResult(record)
    return say([drafts.resultProposed(proposed)], { proposed })
  })

  const propose: RunLife["propose"] = (proposed) =>
    Effect.suspend(() =>
      ending !== undefined || record.proposed !== null
        ? Effect.succeed(false)
        : Effect.as(say([drafts.resultProposed(proposed)], { proposed }), true)
    )

  const suspend: RunLife["suspend"] = Effect.gen(function* () {
    if (ending !== undefined) return yield* rejected("run_ended", "the run is over")
    isStopped = true
    const report = yield* Effect.uninterruptible(closeSession("shutdown"))
    yield* say([], { runState: "suspended", deadlineMs: (yield* Clock.currentTimeMillis) + limits.idleRunMs })
    yield* Effect.forkIn(expire, host)
    return report
  })

  const end = (cause: EndCause): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (ending !== undefined) return Deferred.await(ending)
      const over = (ending = Deferred.makeUnsafe<void>())
      const work = Effect.gen(function* () {
        if (cause === "session_failed") record = { ...record, sessionState: "failed" }
        yield* closeSession(cause === "run_cancelled" ? "runCancel" : "shutdown")
        yield* terminate(cause)
      })
      return Effect.andThen(
        Effect.forkIn(
          Effect.onExit(Effect.uninterruptible(work), (exit) => Deferred.done(over, exit)),
          host
        ),
        Deferred.await(over)
      )
    })

  const terminate = (cause: EndCause) =>
    Effect.suspend(() => {
      const terminal = terminalOf(record, cause)
      const said = say([drafts.runTerminal(terminal)], { runState: "terminal", deadlineMs: null, terminal })
      return Effect.map(said, () => void (lastSeq = journal.sequence()))
    })

  const handOver: RunLife["handOver"] = Effect.fnUntraced(function* (to) {
    const given = yield* usable
    if (given.session.view().openTurnIds.length > 0) {
      return yield* rejected("turn_active", "a turn of the session has not ended")
    }
    ending = Deferred.makeUnsafe<void>()
    if (watching !== undefined) yield* Fiber.interrupt(watching)
    yield* turnsOver
    yield* proposeDefault
    yield* say([drafts.runDetached(to)], { sessionState: "closed" })
    yield* terminate("session_taken_over")
    held = undefined
    Deferred.doneUnsafe(ending, Exit.void)
    return given
  }, Effect.uninterruptible)

  const takeOver: RunLife["takeOver"] = (given, from) =>
    Effect.gen(function* () {
      invariant(given.session.attach(runId), "a session that goes over has no turn", sessionId)
      yield* take(given)
      yield* say([drafts.runAttached(from), ...offers()], working)
    })

  const expire: Effect.Effect<void> = Effect.gen(function* () {
    const { deadlineMs } = record
    if (deadlineMs === null) return
    yield* Effect.sleep(Math.max(0, deadlineMs - (yield* Clock.currentTimeMillis)))
    if (record.deadlineMs === deadlineMs) yield* end("run_abandoned")
  })

  return {
    record: () => record,
    session: () => held?.session,
    open,
    startTurn,
    suspend,
    propose,
    handOver,
    takeOver,
    end,
    lastSeq: () => lastSeq,
    isOver: () => ending !== undefined || record.runState === "terminal",
    expire
  }
}

/** A defect is one of ours; the run goes on. */
const failureOf = (cause: Cause.Cause<OpenError>): CommandRejected => {
  const [first] = cause.reasons
  if (first === undefined || first._tag === "Interrupt") return failed("cancelled", "the run was ended meanwhile")
  if (first._tag === "Die") return failed("actor_crashed", "a defect of the runner ended it")
  const { error } = first
  const reason = "reason" in error ? error.reason : "hint" in error ? error.hint : "the agent could not be made ready"
  return failed(error.code, reason)
}
