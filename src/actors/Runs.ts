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
import type { Authority } from "../schema/authority.ts"
import { CommandRejected, type JournalFailed, ResultRefused } from "../schema/errors.ts"
import { StableId } from "../schema/identity.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import { decodePrp } from "../schema/prp/contract/decode.ts"
import type { CommandEntry } from "../schema/prp/rules/commandJournal.ts"
import { withoutAliases } from "../schema/prp/rules/resultAliases.ts"
import * as drafts from "../schema/prp/runDrafts.ts"
import type { CommandReply, RunnerState, RunStatus } from "../schema/run.ts"
import { AttachPayload, decodePayload } from "../schema/runCommand.ts"
import { Ids } from "../services/Ids.ts"
import type { Backend } from "../services/Os.ts"
import type { HostEnvironment } from "../services/Provider.ts"
import { Providers } from "../services/Providers.ts"
import { makeArrivals } from "./arrivals.ts"
import { indeterminate, notAdmitted, outcomeOf, refusal, replyOf, unreadable } from "./commandReplies.ts"
import { commandTable } from "./commandTable.ts"
import { DurableJournal } from "./durableJournal.ts"
import { Journal } from "./Journal.ts"
import { type AgentProcess, makeOwnedRuns, type OwnedRun, processOf, streamOf } from "./ownedRuns.ts"
import { type CommandContext, performRunCommand, unmetPrecondition } from "./runCommands.ts"
import { rejected, storedRun } from "./runLife.ts"
import { makeLifecycle } from "./runnerLifecycle.ts"
import { decoded, preparedRun, providerOf } from "./runPreparation.ts"
import { isPeerOf } from "./peerNames.ts"
import { Runner } from "./Runner.ts"
import type { RunRecord } from "./runRecord.ts"
import { recoverRuns } from "./runRecovery.ts"

export interface RunsOptions {
  /** The host's environment, from which agents get what the allow-list picks. */
  readonly hostEnv: HostEnvironment
  /** Default: `private`. */
  readonly home?: "user" | "private"
  readonly backend?: Backend
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
    /** Whether the event of that number, which names the run, is for that authority. */
    readonly isVisible: (authority: Authority, runId: string, seq: number) => boolean
    readonly runnerState: () => RunnerState
    /** The reply to `runner.suspend` or `runner.shutdown` has arrived. Any other command id is ignored. */
    readonly acknowledged: (commandId: string) => Effect.Effect<void>
    /** Completes when the runner was told to end, and that was acknowledged or `lifecycleAckMs` have passed. */
    readonly ended: Effect.Effect<"suspended" | "stopped">
  }
>()("greenroom/actors/Runs") {}

type Performed = Effect.Effect<unknown, CommandRejected>

interface Plan {
  readonly work: Performed
  readonly order?: Semaphore.Semaphore
  /** The run that there is once it is done, if it succeeds. */
  readonly arrives?: string
}

const isRunId = Schema.is(StableId)

const make = Effect.fnUntraced(function* (options: RunsOptions) {
  /** Of everything that is under way. Closed once every run has ended, which needs it. */
  const scope = yield* Scope.make()
  const runner = yield* Runner
  const journal = yield* Journal
  const durable = yield* DurableJournal
  const ids = yield* Ids
  const providers = yield* Providers
  const runs = makeOwnedRuns({ runner, journal, scope }, durable)
  const { forgetOldest, isReachable, statusOf } = runs
  const lifecycle = makeLifecycle(runs, journal, scope)
  const preparation = { ids, journal, providers, runnerState: lifecycle.state, runs }
  /** Replies of commands that are being carried out, by stream and id. */
  const underWay = new Map<string, Deferred.Deferred<CommandReply>>()
  /** Admission of one stream is one step: its commands are queued in the order of their numbers. */
  const admission = Semaphore.makeUnsafe(1)
  const arrivals = makeArrivals()
  const runnerOrder = Semaphore.makeUnsafe(1)

  const begin = ({ record, mcpServers }: Effect.Success<ReturnType<typeof preparedRun>>) =>
    Effect.gen(function* () {
      yield* runs.adopt(record, mcpServers)
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
    const { companyId } = run.life.record()
    const isBehind = [...durable.peers.acknowledged()].some(
      ([peer, through]) => through < produced && isPeerOf(peer, companyId)
    )
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
    if (lifecycle.state() !== "ready") return yield* rejected("runner_draining", "the runner takes nothing new")
    const old = runs
      .live()
      .find(
        ({ life }) => life.record().sessionId === normalizedSessionId && isReachable(authority, life.record().runId)
      )
    if (old === undefined) return yield* rejected("session_unknown", "no run of this session goes on")
    const [blocker] = attachBlockers(old)
    if (blocker !== undefined) return yield* rejected(blocker, "the session cannot go over now")
    return old
  })

  const attach = Effect.fnUntraced(function* (runId: string, old: OwnedRun) {
    const from = old.life.record()
    if (runs.get(runId) !== undefined) return yield* rejected("run_exists", "the run was prepared before")
    const given = yield* old.life.handOver(runId)
    const record: RunRecord = {
      ...from,
      runId,
      lastTurn: null,
      proposed: null,
      terminal: null,
      runState: "prepared",
      afterSeq: journal.sequence()
    }
    const run = yield* runs.adopt({ ...record, sessionState: "running" }, old.mcpServers)
    yield* run.life.takeOver(given, from.runId)
    yield* forgetOldest
    return { status: "attached", sessionId: from.sessionId }
  }, Effect.uninterruptible)

  // Commands

  /** What carries it out, or why it is not even taken: then its number is still free. */
  const plan = Effect.fnUntraced(function* (
    authority: Authority,
    runId: string | null,
    command: Command,
    version: number
  ): Effect.fn.Return<Plan, CommandRejected> {
    const row = commandTable[command.type]
    if (version < 2 && command.schema === "paperclip.prp.command.v2") {
      return yield* rejected("unsupported_required_version", "the connection speaks version 1")
    }
    if (row.of === "runner") {
      if (authority._tag !== "Operator") return yield* rejected("not_authorized", "only an operator may")
      if (runId !== null) return yield* rejected("run_unexpected", "this command is for the runner, not for a run")
      return { work: lifecycle.perform(command), order: runnerOrder }
    }
    if (runId === null || !isRunId(runId)) return yield* rejected("run_required", "this command needs the id of a run")
    const run = runs.get(runId)
    if (run === undefined && (command.type === "run.prepare" || command.type === "run.attach")) {
      if (authority._tag === "Tenant" && authority.runIds?.includes(runId) === false) {
        return yield* rejected("run_unknown", "there is no such run")
      }
      if (command.type === "run.attach") {
        const old = yield* attachable(authority, command.payload, version)
        return { work: attach(runId, old), order: old.order, arrives: runId }
      }
      return { work: begin(yield* preparedRun(runId, authority, command.payload, preparation)) }
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
    runnerState: lifecycle.state,
    journal,
    ids,
    attachBlockers: () => attachBlockers(run),
    openOptions: Effect.suspend(() => {
      const { agent, cwd, mode, model, policy } = run.life.record()
      const { mcpServers } = run
      if (mcpServers === undefined) return Effect.fail(rejected("session_unavailable", "the runner was restarted"))
      return Effect.map(providerOf(providers, agent), (provider) => ({
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
    const admit = admitted(authority, runId, one.success, version)
    const reply = yield* admission.withPermits(1)(
      Effect.suspend(() => (arrivals.has(runId) ? Effect.undefined : admit))
    )
    return yield* Deferred.await(reply ?? (yield* arrivals.alone(runId, admission.withPermits(1)(admit))))
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
    if (Result.isFailure(taken)) {
      const { failure } = taken
      return answered(failure._tag === "CommandRefused" ? notAdmitted(one, failure) : notKept(one, failure))
    }
    const key = `${stream} ${one.commandId}`
    if (taken.success._tag === "Replay" || planned === undefined) {
      const current = underWay.get(key)
      return current ?? answered(replyOf(taken.success.entry))
    }
    underWay.set(key, reply)
    const { arrives, order, work } = planned.success
    const performed = checked(one, runId, work)
    const ordered = order === undefined ? performed : order.withPermits(1)(performed)
    const settled = Effect.flatMap(Effect.exit(ordered), (exit) => settle(stream, one, exit))
    const carried = Effect.ensuring(
      Effect.flatMap(settled, (given) => Deferred.succeed(reply, given)),
      Effect.sync(() => underWay.delete(key))
    )
    yield* Effect.forkIn(arrives === undefined ? carried : arrivals.alone(arrives, carried), scope, {
      startImmediately: true
    })
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
      const unmet = unmetPrecondition(one, status, lifecycle.state(), yield* Clock.currentTimeMillis)
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

  const failedJournal = (one: Command, { code }: JournalFailed): CommandReply => {
    lifecycle.failed()
    return indeterminate(one, code)
  }

  const notKept = (one: Command, { code }: JournalFailed): CommandReply => {
    lifecycle.failed()
    return refusal(one, { code, reason: "the runner cannot keep anything any more" })
  }

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

  yield* recoverRuns(runs, journal, durable.recovered)
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      lifecycle.stopping()
      const going = runs.live().filter(({ life }) => life.record().runState !== "suspended")
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
    statuses: Effect.sync(() => runs.all().map(statusOf)),
    processes: Effect.sync(() => runs.all().flatMap(processOf)),
    isVisible: runs.isVisible,
    runnerState: lifecycle.state,
    acknowledged: lifecycle.acknowledged,
    ended: lifecycle.ended
  })
})

/** Over a durable journal: nobody else may end what its predecessor left. Its release ends every run, and awaits that. */
export const layer = (
  options: RunsOptions
): Layer.Layer<Runs, never, DurableJournal | Ids | Journal | Providers | Runner> => Layer.effect(Runs, make(options))

const runnerStream = "runner"
