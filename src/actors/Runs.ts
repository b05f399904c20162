/**
 * The runs of a runner, for control planes: commands in, replies out. Their events go through the journal.
 *
 * Guarantees: a command is taken once, in the order of its run, and carried out once, whatever becomes of whoever sent it; its
 * reply is stored when it is given; one that was pending when an earlier process ended is `indeterminate` and never carried out
 * again. After a restart everything that was open is ended, and said to be, before the first command. A run has an agent, or a
 * deadline, or its terminal. Bounds: runs that have not ended, and ended ones that are remembered.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Authority, mayReach } from "../schema/authority.ts"
import { CommandRejected, type JournalFailed, ResultRefused } from "../schema/errors.ts"
import { StableId } from "../schema/identity.ts"
import { limits } from "../schema/limits.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import { decodePrp } from "../schema/prp/contract/decode.ts"
import { nativeAt } from "../schema/prp/native.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import type { CommandEntry } from "../schema/prp/rules/commandJournal.ts"
import { withoutAliases } from "../schema/prp/rules/resultAliases.ts"
import { recoveryOf } from "../schema/prp/recoveryDrafts.ts"
import * as drafts from "../schema/prp/runDrafts.ts"
import type { CommandReply, RunnerState, RunStatus } from "../schema/run.ts"
import { AttachPayload, decodePayload, PreparePayload } from "../schema/runCommand.ts"
import { gateVerdict } from "../services/gate.ts"
import { Ids } from "../services/Ids.ts"
import type { Backend, ProcessIdentity } from "../services/Os.ts"
import type { HostEnvironment, Provider } from "../services/Provider.ts"
import { Providers } from "../services/Providers.ts"
import { commandTable } from "./commandTable.ts"
import { DurableJournal } from "./durableJournal.ts"
import { Journal } from "./Journal.ts"
import { type CommandContext, performRunCommand, unmetPrecondition } from "./runCommands.ts"
import { makeRunLife, rejected, type RunLife, storedRun } from "./runLife.ts"
import { Runner } from "./Runner.ts"
import { RunRecord } from "./runRecord.ts"

export interface RunsOptions {
  /** The host's environment, from which agents get what the allow-list picks. */
  readonly hostEnv: HostEnvironment
  /** Default: `private`. */
  readonly home?: "user" | "private"
  readonly backend?: Backend
}

export interface AgentProcess {
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly backend: Backend | "in-process"
  /** `undefined`: it is no process. */
  readonly identity: ProcessIdentity | undefined
}

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * Carries out a command, once. Whatever is wrong with it is said in the reply. `runId` is that of the frame; `null` for a
     * command to the runner as a whole (`runner.*`), whose sequence is one of its own. `version` is the negotiated one.
     * If interrupted: a command that was taken goes on, and sent again it is answered with its outcome.
     */
    readonly command: (
      authority: Authority,
      runId: string | null,
      command: unknown,
      version: number
    ) => Effect.Effect<CommandReply>
    /** The result that `run.terminal` will stand on, instead of the default. The first one counts. */
    readonly proposeResult: (runId: string, result: unknown) => Effect.Effect<void, ResultRefused>
    /** Of every run that is remembered, the oldest first. */
    readonly statuses: Effect.Effect<ReadonlyArray<RunStatus>>
    /** The agents of the runs, each the root of a tree of processes that the runner owns. */
    readonly processes: Effect.Effect<ReadonlyArray<AgentProcess>>
    /** Whether events and requests of the run are for that authority. */
    readonly isVisible: (authority: Authority, runId: string) => boolean
    readonly runnerState: () => RunnerState
    /** The reply to `runner.suspend` or `runner.shutdown` has arrived. Any other command id is ignored. */
    readonly acknowledged: (commandId: string) => Effect.Effect<void>
    /** Completes when the runner was told to end, and that was acknowledged or `lifecycleAckMs` have passed. */
    readonly ended: Effect.Effect<"suspended" | "stopped">
  }
>()("greenroom/actors/Runs") {}

/** A run with what is not kept of it. */
interface OwnedRun {
  readonly life: RunLife
  /** `undefined`: they are not known any more, so no session can be opened. */
  readonly mcpServers: ReadonlyArray<unknown> | undefined
  /** The commands that must be carried out one behind the other. */
  readonly order: Semaphore.Semaphore
}

type Performed = Effect.Effect<unknown, CommandRejected>

const isRunId = Schema.is(StableId)
const decodeRecord = Schema.decodeUnknownSync(RunRecord)

const make = Effect.fnUntraced(function* (options: RunsOptions) {
  /** Of everything that is under way. Closed once every run has ended, which needs it. */
  const scope = yield* Scope.make()
  const runner = yield* Runner
  const journal = yield* Journal
  const durable = yield* DurableJournal
  const ids = yield* Ids
  const providers = yield* Providers
  const runs = new Map<string, OwnedRun>()
  /** Replies of commands that are being carried out, by stream and id. */
  const underWay = new Map<string, Deferred.Deferred<CommandReply>>()
  /** Admission of one stream is one step: its commands are queued in the order of their numbers. */
  const admission = Semaphore.makeUnsafe(1)
  const runnerOrder = Semaphore.makeUnsafe(1)
  const ended = Deferred.makeUnsafe<"suspended" | "stopped">()
  let state: RunnerState = "ready"
  let lifecycleCommand: string | undefined

  const live = () => [...runs.values()].filter(({ life }) => !life.isOver())

  const adopt = (record: RunRecord, mcpServers: ReadonlyArray<unknown> | undefined) =>
    Effect.gen(function* () {
      const life = makeRunLife(record, { runner, journal, scope })
      const run: OwnedRun = { life, mcpServers, order: Semaphore.makeUnsafe(1) }
      runs.set(record.runId, run)
      yield* Effect.forkIn(life.expire, scope)
      return run
    })

  const forgetOldest = Effect.suspend(() => {
    const over = [...runs].filter(([, { life }]) => life.record().runState === "terminal")
    const forgotten = over.slice(0, Math.max(0, over.length - limits.rememberedRunsMax)).map(([runId]) => runId)
    for (const runId of forgotten) runs.delete(runId)
    const records = forgotten.map((id) => ({ kind: "run", id, value: undefined }) as const)
    // What cannot be stored any more is told by whatever comes next.
    return Effect.ignore(Effect.andThen(durable.commands.forget(forgotten.map(streamOf)), durable.record(records)))
  })

  const statusOf = ({ life }: OwnedRun): RunStatus => {
    const record = life.record()
    const view = life.session()?.view()
    return {
      runId: record.runId,
      companyId: record.companyId,
      agent: record.agent,
      cwd: record.cwd,
      runState: record.runState,
      sessionState: record.sessionState,
      sessionId: record.sessionId,
      activeTurnId: view?.runningTurnId ?? null,
      openRequests: view?.openRequests.map(({ requestId }) => requestId) ?? [],
      lastControllerSeq: durable.commands.journal(streamOf(record.runId)).lastSeq,
      terminal: record.terminal
    }
  }

  // What only makes a new run

  const prepared = Effect.fnUntraced(function* (runId: string, authority: Authority, payload: unknown) {
    const prepare = yield* decoded(decodePayload(PreparePayload, payload))
    const { identity, provider, workspace } = prepare
    const agent = provider.agent ?? provider.kind
    const cwd = provider.cwd ?? workspace
    if (cwd === undefined) return yield* rejected("payload_invalid", "payload/provider/cwd: Expected this property")
    const companyId = authority._tag === "Tenant" ? authority.companyId : (identity?.companyId ?? null)
    if (identity?.companyId !== undefined && identity.companyId !== companyId) {
      return yield* rejected("tenant_mismatch", "the token is of another company")
    }
    if (live().length >= limits.liveRunsMax) return yield* rejected("too_many_runs", "too many runs have not ended")
    if (state !== "ready") return yield* rejected("runner_draining", "the runner takes nothing new")
    const found = yield* foundProvider(agent)
    const policy = provider.permissionMode ?? "ask"
    const verdict = gateVerdict(policy, found.traits)
    if (verdict._tag === "NotEnforceable") {
      return yield* rejected("policy_not_enforceable", `the agent does not ask before: ${verdict.effects.join(", ")}`)
    }
    const record: RunRecord = {
      runId,
      companyId,
      agent,
      cwd,
      model: provider.model ?? null,
      mode: provider.mode ?? null,
      policy,
      hasMcpServers: (provider.mcpServers ?? []).length > 0,
      completionContract: prepare.completionContract ?? null,
      sessionId: identity?.normalizedSessionId ?? (yield* ids.next("session")),
      runState: "prepared",
      sessionState: "not_started",
      lastTurn: null,
      proposed: null,
      deadlineMs: (yield* Clock.currentTimeMillis) + limits.idleRunMs,
      terminal: null
    }
    if ([...runs.values()].some(({ life }) => life.record().sessionId === record.sessionId)) {
      return yield* rejected("session_exists", "another run has a session of this id")
    }
    return { record, mcpServers: provider.mcpServers ?? [] }
  })

  const foundProvider = (agent: string): Effect.Effect<Provider, CommandRejected> =>
    Effect.flatMap(providers.find(agent), (found) =>
      found === undefined
        ? Effect.fail(rejected("agent_unknown", "there is no such agent here"))
        : Effect.succeed(found)
    )

  const begin = ({ record, mcpServers }: Effect.Success<ReturnType<typeof prepared>>) =>
    Effect.gen(function* () {
      yield* adopt(record, mcpServers)
      const { runId, sessionId } = record
      const said = [drafts.phase("workspace_preparing"), drafts.workspaceReady(record.cwd)]
      yield* journal.force({ runId, sessionId, drafts: said, bytes: 0, records: [storedRun(record)] })
      yield* forgetOldest
      return { status: "prepared", normalizedSessionId: sessionId }
    })

  const attachBlockers = (run: OwnedRun): ReadonlyArray<string> => {
    const view = run.life.session()?.view()
    if (view === undefined) return ["provider_identity_unavailable"]
    const produced = journal.sequence()
    const isBehind = [...durable.peers.acknowledged().values()].some((through) => through < produced)
    return [
      ...(view.openTurnIds.length > 0 ? ["durable_active_turn"] : []),
      ...(isBehind ? ["durable_pending_events"] : [])
    ]
  }

  /** The run whose session goes over. */
  const attachable = Effect.fnUntraced(function* (authority: Authority, payload: unknown, version: number) {
    const { paperclipNextAuthority } = yield* decoded(decodePayload(AttachPayload, payload))
    const { normalizedSessionId } = paperclipNextAuthority.identity
    if (version < 2) return yield* rejected("version_unsupported", "a run is attached in version 2 of the protocol")
    if (state !== "ready") return yield* rejected("runner_draining", "the runner takes nothing new")
    const old = live().find(
      ({ life }) => life.record().sessionId === normalizedSessionId && isReachable(authority, life.record().runId)
    )
    if (old === undefined) return yield* rejected("session_unknown", "no run of this session goes on")
    const [blocker] = attachBlockers(old)
    if (blocker !== undefined) return yield* rejected(blocker, "the session cannot go over now")
    return old
  })

  const attach = Effect.fnUntraced(function* (runId: string, old: OwnedRun) {
    const from = old.life.record()
    const given = yield* old.life.handOver(runId)
    const record: RunRecord = { ...from, runId, lastTurn: null, proposed: null, terminal: null, runState: "prepared" }
    const run = yield* adopt({ ...record, sessionState: "running" }, old.mcpServers)
    yield* run.life.takeOver(given, from.runId)
    yield* forgetOldest
    return { status: "attached", sessionId: from.sessionId }
  }, Effect.uninterruptible)

  // Commands

  const isReachable = (authority: Authority, runId: string): boolean => {
    const run = runs.get(runId)
    return run !== undefined && mayReach(authority, runId, run.life.record().companyId)
  }

  /** What carries it out, or why it is not even taken: then its number is still free. */
  const plan = Effect.fnUntraced(function* (
    authority: Authority,
    runId: string | null,
    command: Command,
    version: number
  ): Effect.fn.Return<{ readonly work: Performed; readonly order?: Semaphore.Semaphore }, CommandRejected> {
    const row = commandTable[command.type]
    if (version < 2 && command.schema === "paperclip.prp.command.v2") {
      return yield* rejected("unsupported_required_version", "the connection speaks version 1")
    }
    if (row.of === "runner") {
      if (authority._tag !== "Operator") return yield* rejected("not_authorized", "only an operator may")
      if (runId !== null) return yield* rejected("run_unexpected", "this command is for the runner, not for a run")
      return { work: lifecycle(command), order: runnerOrder }
    }
    if (runId === null || !isRunId(runId)) return yield* rejected("run_required", "this command needs the id of a run")
    const run = runs.get(runId)
    if (run === undefined && (command.type === "run.prepare" || command.type === "run.attach")) {
      if (authority._tag === "Tenant" && authority.runIds?.includes(runId) === false) {
        return yield* rejected("run_unknown", "there is no such run")
      }
      if (command.type === "run.attach") {
        const old = yield* attachable(authority, command.payload, version)
        return { work: attach(runId, old), order: old.order }
      }
      return { work: begin(yield* prepared(runId, authority, command.payload)) }
    }
    if (run === undefined || !isReachable(authority, runId))
      return yield* rejected("run_unknown", "there is no such run")
    if (row.taken === "unavailable") return { work: Effect.fail(rejected(row.code, row.reason)) }
    if (command.type === "run.prepare" || command.type === "run.attach") {
      return { work: Effect.fail(rejected("run_exists", "the run was prepared before")) }
    }
    const work = performRunCommand(command, contextOf(run))
    return row.taken === "inOrder" ? { work, order: run.order } : { work }
  })

  const contextOf = (run: OwnedRun): CommandContext => ({
    run: run.life,
    status: () => statusOf(run),
    runnerState: () => state,
    journal,
    ids,
    attachBlockers: () => attachBlockers(run),
    openOptions: Effect.suspend(() => {
      const { agent, cwd, mode, model, policy } = run.life.record()
      const { mcpServers } = run
      if (mcpServers === undefined) return Effect.fail(rejected("session_unavailable", "the runner was restarted"))
      return Effect.map(foundProvider(agent), (provider) => ({
        provider,
        cwd,
        policy,
        mcpServers,
        canAsk: true,
        home: options.home ?? "private",
        hostEnv: options.hostEnv,
        ...(options.backend === undefined ? {} : { backend: options.backend }),
        ...(mode === null ? {} : { mode }),
        ...(model === null ? {} : { model })
      }))
    })
  })

  const command = Effect.fnUntraced(function* (
    authority: Authority,
    runId: string | null,
    raw: unknown,
    version: number
  ) {
    const one = decodePrp("command", raw)
    if (Result.isFailure(one)) return unreadable(raw, one.failure)
    const reply = yield* admission.withPermits(1)(admitted(authority, runId, one.success, version))
    return yield* Deferred.await(reply)
  })

  /** Taken and begun, or answered. */
  const admitted = Effect.fnUntraced(function* (
    authority: Authority,
    runId: string | null,
    one: Command,
    version: number
  ) {
    const reply = Deferred.makeUnsafe<CommandReply>()
    const answered = (given: CommandReply) => (Deferred.doneUnsafe(reply, Exit.succeed(given)), reply)
    const stream = runId === null ? runnerStream : streamOf(runId)
    const known = isReachableStream(authority, runId) ? entryOf(stream, one.commandId) : undefined
    const planned = known === undefined ? yield* Effect.result(plan(authority, runId, one, version)) : undefined
    if (planned !== undefined && Result.isFailure(planned)) return answered(refusal(one, planned.failure))
    const taken = yield* Effect.result(durable.commands.admit(stream, { ...one }))
    if (Result.isFailure(taken)) return answered(notTaken(one, taken.failure))
    const key = `${stream} ${one.commandId}`
    if (taken.success._tag === "Replay" || planned === undefined) {
      const current = underWay.get(key)
      return current ?? answered(replyOf(taken.success.entry))
    }
    underWay.set(key, reply)
    const { order, work } = planned.success
    const performed = checked(one, runId, work)
    const ordered = order === undefined ? performed : order.withPermits(1)(performed)
    const settled = Effect.flatMap(Effect.exit(ordered), (exit) => settle(stream, one, exit))
    yield* Effect.forkIn(
      Effect.ensuring(
        Effect.flatMap(settled, (given) => Deferred.succeed(reply, given)),
        Effect.sync(() => underWay.delete(key))
      ),
      scope,
      { startImmediately: true }
    )
    return reply
  }, Effect.uninterruptible)

  const isReachableStream = (authority: Authority, runId: string | null): boolean =>
    runId === null ? authority._tag === "Operator" : isReachable(authority, runId)

  const entryOf = (stream: string, commandId: string): CommandEntry | undefined =>
    durable.commands.journal(stream).entries.find((entry) => entry.commandId === commandId)

  /** In its turn: what was so when it came may be different now. */
  const checked = (one: Command, runId: string | null, work: Performed): Performed =>
    Effect.gen(function* () {
      const run = runId === null ? undefined : runs.get(runId)
      const status = run === undefined ? undefined : statusOf(run)
      const unmet = unmetPrecondition(one, status, state, yield* Clock.currentTimeMillis)
      return yield* unmet ?? work
    })

  const settle = Effect.fnUntraced(function* (stream: string, one: Command, exit: Exit.Exit<unknown, CommandRejected>) {
    const outcome = outcomeOf(exit)
    const stored = yield* Effect.result(durable.commands.settle(stream, one.commandId, outcome))
    if (Result.isSuccess(stored)) return replyOf(stored.success)
    if (stored.failure._tag === "JournalFailed") return failedJournal(one, stored.failure)
    const tooLarge = { result: null, code: stored.failure.code, reason: "the result cannot be kept" }
    const kept = yield* Effect.result(
      durable.commands.settle(stream, one.commandId, { status: "failed", result: tooLarge })
    )
    return Result.isSuccess(kept) ? replyOf(kept.success) : indeterminate(one, "journal_failed")
  })

  const failedJournal = (one: Command, failure: JournalFailed): CommandReply => {
    state = "failed"
    return indeterminate(one, failure.code)
  }

  const notTaken = (one: Command, failure: Effect.Error<ReturnType<typeof durable.commands.admit>>): CommandReply => {
    if (failure._tag === "CommandRefused") {
      const reason = "the runner's log of commands does not admit it"
      return {
        ...headOf(one),
        status: "rejected",
        result: null,
        code: failure.code,
        reason,
        expectedSeq: failure.expectedSeq
      }
    }
    state = "failed"
    return refusal(one, rejected(failure.code, "the runner cannot keep anything any more"))
  }

  const refusal = (one: Command, { code, reason }: CommandRejected): CommandReply => ({
    ...headOf(one),
    status: "rejected",
    result: null,
    code,
    reason
  })

  // The runner as a whole

  const sayEverywhere = (draft: (runId: string) => EventDraft) =>
    Effect.forEach(
      live(),
      ({ life }) => {
        if (life.isOver()) return Effect.void
        const { runId, sessionId } = life.record()
        return journal.force({ runId, sessionId, drafts: [draft(runId)], bytes: 0 })
      },
      { discard: true }
    )

  const lifecycle = (one: Command): Performed => {
    switch (one.type) {
      case "runner.drain":
        return Effect.gen(function* () {
          if (state === "ready") state = "draining"
          yield* sayEverywhere(() => drafts.runnerDraining)
          return { status: state }
        })
      case "runner.suspend":
        return Effect.gen(function* () {
          state = "suspending"
          yield* sayEverywhere(() => drafts.runnerSuspending)
          yield* Effect.forEach(live(), ({ life }) => Effect.ignore(life.suspend), {
            concurrency: "unbounded",
            discard: true
          })
          yield* sayEverywhere(() => drafts.runnerSuspended)
          state = "suspended"
          return yield* told(one, "suspended")
        })
      default:
        return Effect.gen(function* () {
          state = "stopping"
          const going = live()
          yield* Effect.forEach(going, ({ life }) => life.end("controller_closed"), {
            concurrency: "unbounded",
            discard: true
          })
          state = "stopped"
          return yield* told(one, "stopped")
        })
    }
  }

  /** The end waits for the acknowledgement of the reply that is about to be given. */
  const told = (one: Command, how: "suspended" | "stopped") => {
    lifecycleCommand = one.commandId
    const late = Effect.andThen(Effect.sleep(limits.lifecycleAckMs), Deferred.succeed(ended, how))
    return Effect.as(Effect.forkIn(late, scope), { status: how })
  }

  const acknowledged = (commandId: string) =>
    Effect.suspend(() =>
      commandId === lifecycleCommand && (state === "suspended" || state === "stopped")
        ? Effect.asVoid(Deferred.succeed(ended, state))
        : Effect.void
    )

  const proposeResult = Effect.fnUntraced(function* (runId: string, result: unknown) {
    const refused = (code: ResultRefused["code"], issues: ResultRefused["issues"] = []) =>
      new ResultRefused({ code, runId, issues })
    const run = runs.get(runId)
    if (run === undefined) return yield* refused("run_unknown")
    const judged = decodePrp("paperclip.run_result.v1", withoutAliases(result))
    if (Result.isFailure(judged)) return yield* refused("result_invalid", judged.failure.issues)
    if (run.life.isOver()) return yield* refused("run_ended")
    if (!(yield* run.life.propose(judged.success))) return yield* refused("result_already_proposed")
  })

  // What an earlier process left

  const recover = Effect.gen(function* () {
    const { records } = durable.recovered
    const left = recoveryOf(durable.recovered)
    for (const entry of left) yield* journal.force({ ...entry, bytes: 0 })
    const lost = new Map(left.map(({ drafts: said, runId }) => [runId, said]))
    for (const { kind, value } of records) {
      if (kind !== "run") continue
      const stored = decodeRecord(value)
      const isUntouched =
        stored.runState === "prepared" && stored.sessionState === "not_started" && !stored.hasMcpServers
      const run = yield* adopt(afterLoss(stored, lost.get(stored.runId)), isUntouched ? [] : undefined)
      if (run.life.isOver() || stored.runState === "suspended" || isUntouched) continue
      const { runId, sessionId } = stored
      yield* journal.force({ runId, sessionId, drafts: [drafts.runnerReconciled("session_lost")], bytes: 0 })
      yield* run.life.end("runner_restarted")
    }
    yield* forgetOldest
  })

  yield* recover
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      if (state === "ready" || state === "draining") state = "stopping"
      const going = live().filter(({ life }) => life.record().runState !== "suspended")
      const over = Effect.forEach(going, ({ life }) => life.end("controller_closed"), {
        concurrency: "unbounded",
        discard: true
      })
      return Effect.ensuring(over, Scope.close(scope, Exit.void))
    })
  )

  return Runs.of({
    command: Effect.fn("Runs.command")(command),
    proposeResult: Effect.fn("Runs.proposeResult")(proposeResult),
    statuses: Effect.sync(() => [...runs.values()].map(statusOf)),
    processes: Effect.sync(() => [...runs.values()].flatMap(processOf)),
    isVisible: (authority, runId) => authority._tag === "Operator" || isReachable(authority, runId),
    runnerState: () => state,
    acknowledged,
    ended: Deferred.await(ended)
  })
})

/** Over a durable journal: nobody else may end what its predecessor left. Its release ends every run, and awaits that. */
export const layer = (
  options: RunsOptions
): Layer.Layer<Runs, never, DurableJournal | Ids | Journal | Providers | Runner> => Layer.effect(Runs, make(options))

const runnerStream = "runner"
const streamOf = (runId: string): string => `run:${runId}`

const decoded = <A>(result: Result.Result<A, string>): Effect.Effect<A, CommandRejected> =>
  Effect.fromResult(Result.mapError(result, (reason) => rejected("payload_invalid", reason)))

/** Its process is gone, and with it the turn that was open. */
const afterLoss = (record: RunRecord, said: ReadonlyArray<EventDraft> = []): RunRecord => {
  if (record.runState === "terminal") return record
  const sessionState =
    record.sessionState === "starting" || record.sessionState === "running" ? "failed" : record.sessionState
  const isTurnLost = said.some(({ eventType }) => eventType === "turn.failed")
  return { ...record, sessionState, lastTurn: isTurnLost ? "failed" : record.lastTurn }
}

const processOf = ({ life }: OwnedRun): ReadonlyArray<AgentProcess> => {
  const session = life.session()
  if (session === undefined) return []
  const { agent, runId, sessionId } = life.record()
  return [{ runId, sessionId, agent, backend: session.link.backend, identity: session.link.identity }]
}

const headOf = ({ commandId, controllerSeq, type }: Command) => ({ commandId, commandType: type, controllerSeq })

const indeterminate = (one: Command, code: string): CommandReply => ({
  ...headOf(one),
  status: "indeterminate",
  result: null,
  code,
  reason: "what became of it could not be kept"
})

const unreadable = (
  raw: unknown,
  failure: { readonly code: string; readonly issues: ResultRefused["issues"] }
): CommandReply => {
  const commandId = nativeAt(raw, "commandId")
  const controllerSeq = nativeAt(raw, "controllerSeq")
  const [first] = failure.issues
  return {
    commandId: typeof commandId === "string" ? commandId.slice(0, limits.idCharactersMax) : "",
    commandType: "",
    controllerSeq: typeof controllerSeq === "number" && Number.isSafeInteger(controllerSeq) ? controllerSeq : 0,
    status: "rejected",
    result: null,
    code: failure.code,
    reason: first === undefined ? "not a command" : `${first.path}: ${first.expectation}`
  }
}

/** As it is stored. */
const outcomeOf = (exit: Exit.Exit<unknown, CommandRejected>) => {
  if (Exit.isSuccess(exit)) return { status: "completed", result: { result: exit.value ?? null } } as const
  const [first] = exit.cause.reasons
  if (first?._tag === "Fail") {
    const { code, isTried, reason } = first.error
    return { status: isTried ? "failed" : "rejected", result: { result: null, code, reason } } as const
  }
  const code = first?._tag === "Interrupt" ? "runner_stopped" : "actor_crashed"
  return { status: "failed", result: { result: null, code, reason: "the runner could not finish it" } } as const
}

const replyOf = ({ commandId, controllerSeq, result, status, type }: CommandEntry): CommandReply => {
  const text = (name: string) => {
    const value = nativeAt(result, name)
    return typeof value === "string" ? { [name]: value } : {}
  }
  const isOpen = status === "pending" || status === "indeterminate"
  return {
    commandId,
    commandType: type,
    controllerSeq,
    status: status === "pending" ? "indeterminate" : status,
    result: nativeAt(result, "result") ?? null,
    ...(isOpen ? { code: "command_indeterminate", reason: "the runner ended while it was pending" } : {}),
    ...text("code"),
    ...text("reason")
  }
}
