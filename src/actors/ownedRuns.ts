/** The runs that a runner has, live ones and those that have ended and are still told of. Bounds: the latter. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { type Authority, mayReach } from "../schema/authority.ts"
import { limits } from "../schema/limits.ts"
import type { RunStatus } from "../schema/run.ts"
import type { Backend, ProcessIdentity } from "../services/Os.ts"
import type { DurableJournal } from "./durableJournal.ts"
import { makeRunLife, type RunHost, type RunLife } from "./runLife.ts"
import { isPeerOfCompany } from "./peerNames.ts"
import type { RunRecord } from "./runRecord.ts"

/** A run with what is not kept of it. */
export interface OwnedRun {
  readonly life: RunLife
  /** `undefined`: they are not known any more, so no session can be opened. */
  readonly mcpServers: ReadonlyArray<unknown> | undefined
  /** The commands that must be carried out one behind the other. */
  readonly order: Semaphore.Semaphore
}

export interface AgentProcess {
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly backend: Backend | "in-process"
  /** `undefined`: it is no process. */
  readonly identity: ProcessIdentity | undefined
}

export interface OwnedRuns {
  readonly get: (runId: string) => OwnedRun | undefined
  readonly all: () => ReadonlyArray<OwnedRun>
  /** Those that have not ended, and are not about to. */
  readonly live: () => ReadonlyArray<OwnedRun>
  readonly isReachable: (authority: Authority, runId: string) => boolean
  /** Whether the event of that number, which names the run, is for them: an id may have been of another run before. */
  readonly isVisible: (authority: Authority, runId: string, seq: number) => boolean
  readonly statusOf: (run: OwnedRun) => RunStatus
  /** From now on it is one of them, and ends when its deadline comes. */
  readonly adopt: (record: RunRecord, mcpServers: OwnedRun["mcpServers"]) => Effect.Effect<OwnedRun>
  /** Of those that have ended the oldest beyond the bound, with their commands. Not while a peer of theirs has yet to read. */
  readonly forgetOldest: Effect.Effect<void>
}

/** The commands of a run in the journal's log. */
export const streamOf = (runId: string): string => `run:${runId}`

export const makeOwnedRuns = (host: RunHost, durable: DurableJournal["Service"]): OwnedRuns => {
  const runs = new Map<string, OwnedRun>()

  const adopt: OwnedRuns["adopt"] = (record, mcpServers) =>
    Effect.gen(function* () {
      const life = makeRunLife(record, host)
      const run: OwnedRun = { life, mcpServers, order: Semaphore.makeUnsafe(1) }
      runs.set(record.runId, run)
      yield* Effect.forkIn(life.expire, host.scope)
      return run
    })

  const forgetOldest = Effect.suspend(() => {
    const over = [...runs].filter(([, { life }]) => life.record().runState === "terminal")
    const peers = [...durable.peers.acknowledged()]
    const oldest = over.slice(0, Math.max(0, over.length - limits.rememberedRunsMax))
    const forgotten = oldest.filter(([, { life }]) => isRead(life, peers)).map(([runId]) => runId)
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

  return {
    get: (runId) => runs.get(runId),
    all: () => [...runs.values()],
    live: () => [...runs.values()].filter(({ life }) => !life.isOver()),
    isReachable: (authority, runId) => {
      const run = runs.get(runId)
      return run !== undefined && mayReach(authority, runId, run.life.record().companyId)
    },
    isVisible: (authority, runId, seq) => {
      if (authority._tag === "Operator") return true
      const record = runs.get(runId)?.life.record()
      return record !== undefined && seq > record.afterSeq && mayReach(authority, runId, record.companyId)
    },
    statusOf,
    adopt,
    forgetOldest
  }
}

/** Operators see the events of what is forgotten too. */
const isRead = (life: RunLife, peers: ReadonlyArray<readonly [string, number]>): boolean => {
  const { companyId } = life.record()
  const lastSeq = life.lastSeq() ?? Infinity
  return peers.every(([peer, through]) => through >= lastSeq || !isPeerOfCompany(peer, companyId))
}

export const processOf = ({ life }: OwnedRun): ReadonlyArray<AgentProcess> => {
  const session = life.session()
  if (session === undefined) return []
  const { agent, runId, sessionId } = life.record()
  return [{ runId, sessionId, agent, backend: session.link.backend, identity: session.link.identity }]
}
