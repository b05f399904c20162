/** What an earlier process of the runner left, in its journal and of its runs. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { EventDraft } from "../schema/prp/event.ts"
import { recoveryOf } from "../schema/prp/recoveryDrafts.ts"
import * as drafts from "../schema/prp/runDrafts.ts"
import type { Recovered } from "./durableJournal.ts"
import type { Journal } from "./Journal.ts"
import type { OwnedRuns } from "./ownedRuns.ts"
import { RunRecord } from "./runRecord.ts"

/**
 * Ends what the earlier process left open, and says so, before anything new. What it had only prepared, or suspended, goes on.
 */
export const recoverRuns = Effect.fnUntraced(function* (
  runs: OwnedRuns,
  journal: Journal["Service"],
  recovered: Recovered
) {
  const left = recoveryOf(recovered)
  for (const entry of left) yield* journal.force({ ...entry, bytes: 0 })
  const lost = new Map(left.map(({ drafts: said, runId }) => [runId, said]))
  for (const { kind, value } of recovered.records) {
    if (kind !== "run") continue
    const stored = decodeRecord(value)
    const isUntouched = stored.runState === "prepared" && stored.sessionState === "not_started" && !stored.hasMcpServers
    const run = yield* runs.adopt(afterLoss(stored, lost.get(stored.runId)), isUntouched ? [] : undefined)
    if (run.life.isOver() || stored.runState === "suspended" || isUntouched) continue
    const { runId, sessionId } = stored
    yield* journal.force({ runId, sessionId, drafts: [drafts.runnerReconciled("session_lost")], bytes: 0 })
    yield* run.life.end("runner_restarted")
  }
  yield* runs.forgetOldest
})

const decodeRecord = Schema.decodeUnknownSync(RunRecord)

/** Its process is gone, and with it the turn that was open. */
const afterLoss = (record: RunRecord, said: ReadonlyArray<EventDraft> = []): RunRecord => {
  if (record.runState === "terminal") return record
  const sessionState =
    record.sessionState === "starting" || record.sessionState === "running" ? "failed" : record.sessionState
  const isTurnLost = said.some(({ eventType }) => eventType === "turn.failed")
  return { ...record, sessionState, lastTurn: isTurnLost ? "failed" : record.lastTurn }
}
