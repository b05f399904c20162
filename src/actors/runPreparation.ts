/** What `run.prepare` must bring, and what of it becomes a run. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Authority } from "../schema/authority.ts"
import type { CommandRejected } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { RunnerState } from "../schema/run.ts"
import { decodePayload, PreparePayload } from "../schema/runCommand.ts"
import { gateVerdict } from "../services/gate.ts"
import type { Ids } from "../services/Ids.ts"
import type { Provider } from "../services/Provider.ts"
import type { Providers } from "../services/Providers.ts"
import type { Journal } from "./Journal.ts"
import type { OwnedRuns } from "./ownedRuns.ts"
import { rejected } from "./runLife.ts"
import type { RunRecord } from "./runRecord.ts"

export interface PreparationHost {
  readonly ids: Ids["Service"]
  readonly journal: Journal["Service"]
  readonly providers: Providers["Service"]
  readonly runnerState: () => RunnerState
  readonly runs: OwnedRuns
}

/** The record of the run that the command asks for, or why there will be none. Nothing has happened yet. */
export const preparedRun = Effect.fnUntraced(function* (
  runId: string,
  authority: Authority,
  payload: unknown,
  { ids, journal, providers, runnerState, runs }: PreparationHost
) {
  const prepare = yield* decoded(decodePayload(PreparePayload, payload))
  const { identity, provider, workspace } = prepare
  const agent = provider.agent ?? provider.kind
  const cwd = provider.cwd ?? workspace
  if (cwd === undefined) return yield* rejected("payload_invalid", "payload/provider/cwd: Expected this property")
  const companyId = authority._tag === "Tenant" ? authority.companyId : (identity?.companyId ?? null)
  if (identity?.companyId !== undefined && identity.companyId !== companyId) {
    return yield* rejected("tenant_mismatch", "the token is of another company")
  }
  if (runs.live().length >= limits.liveRunsMax) return yield* rejected("too_many_runs", "too many runs have not ended")
  if (runnerState() !== "ready") return yield* rejected("runner_draining", "the runner takes nothing new")
  const found = yield* providerOf(providers, agent)
  const policy = provider.permissionMode ?? "ask"
  const verdict = gateVerdict(policy, found.traits)
  if (verdict._tag === "NotEnforceable") {
    return yield* rejected("policy_not_enforceable", `the agent does not ask before: ${verdict.effects.join(", ")}`)
  }
  const record: RunRecord = {
    runId,
    afterSeq: journal.sequence(),
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
  if (runs.all().some(({ life }) => life.record().sessionId === record.sessionId)) {
    return yield* rejected("session_exists", "another run has a session of this id")
  }
  return { record, mcpServers: provider.mcpServers ?? [] }
})

export const providerOf = (providers: Providers["Service"], agent: string): Effect.Effect<Provider, CommandRejected> =>
  Effect.flatMap(providers.find(agent), (found) =>
    found === undefined ? Effect.fail(rejected("agent_unknown", "there is no such agent here")) : Effect.succeed(found)
  )

/** The payload, or the command is rejected for it. */
export const decoded = <A>(result: Result.Result<A, string>): Effect.Effect<A, CommandRejected> =>
  Effect.fromResult(Result.mapError(result, (reason) => rejected("payload_invalid", reason)))
