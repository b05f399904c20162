/**
 * What a runner keeps of a run, across restarts, and what follows from it. Pure.
 */
import * as Schema from "effect/Schema"
import { RunResult } from "../schema/prp/contract/result.ts"
import { Terminal } from "../schema/prp/contract/terminal.ts"
import { PermissionPolicy } from "../schema/request.ts"
import { RunSessionState, RunState } from "../schema/run.ts"
import type { TurnOutcome } from "../schema/turn.ts"

export const RunRecord = Schema.Struct({
  runId: Schema.String,
  /** Events up to this one are of an earlier run of this id, which may have been another company's. */
  afterSeq: Schema.Int,
  companyId: Schema.NullOr(Schema.String),
  agent: Schema.String,
  cwd: Schema.String,
  model: Schema.NullOr(Schema.String),
  mode: Schema.NullOr(Schema.String),
  policy: PermissionPolicy,
  /** They may hold secrets, and are not kept. */
  hasMcpServers: Schema.Boolean,
  completionContract: Schema.NullOr(
    Schema.Struct({ revision: Schema.String, criterionIds: Schema.Array(Schema.String) })
  ),
  sessionId: Schema.String,
  runState: RunState,
  sessionState: RunSessionState,
  lastTurn: Schema.NullOr(Schema.Literals(["completed", "failed", "interrupted", "cancelled"])),
  proposed: Schema.NullOr(RunResult),
  /** Without a process of its own it ends at this time (milliseconds of the epoch); `null`: it has one, or has ended. */
  deadlineMs: Schema.NullOr(Schema.Number),
  terminal: Schema.NullOr(Terminal)
})
export type RunRecord = typeof RunRecord.Type

/** Why a run ends. */
export type EndCause =
  | "session_closed"
  | "run_cancelled"
  | "controller_closed"
  | "session_failed"
  | "run_abandoned"
  | "runner_restarted"
  | "session_taken_over"

export const turnStateOf = (outcome: TurnOutcome): NonNullable<RunRecord["lastTurn"]> => {
  switch (outcome._tag) {
    case "Completed":
      return "completed"
    case "Failed":
      return "failed"
    case "Cancelled":
      return outcome.by === "interrupt" ? "interrupted" : "cancelled"
  }
}

/** A run that ends well stands on its last turn; any other end is imposed, and no claim of success survives it. */
export const terminalOf = ({ lastTurn, proposed }: RunRecord, cause: EndCause): Terminal => {
  const { turn, run } = imposed(cause, lastTurn)
  const reported = proposed?.reportedWorkDisposition
  return {
    schema: "paperclip.prp.terminal.v1",
    turnTerminalState: turn,
    runTerminalState: run,
    reportedWorkDisposition:
      run === "succeeded"
        ? (reported ?? "needs_review")
        : reported === undefined || reported === "done"
          ? "yielded"
          : reported,
    reconciliation: { authority: "runner", reason: reasonOf(cause, lastTurn) }
  }
}

type Verdict = { readonly turn: Terminal["turnTerminalState"]; readonly run: Terminal["runTerminalState"] }

const imposed = (cause: EndCause, lastTurn: RunRecord["lastTurn"]): Verdict => {
  switch (cause) {
    case "session_closed":
    case "session_taken_over":
      return { turn: lastTurn ?? "cancelled", run: runStates[lastTurn ?? "cancelled"] }
    case "run_cancelled":
    case "controller_closed":
      return { turn: lastTurn ?? "cancelled", run: "cancelled" }
    case "session_failed":
    case "run_abandoned":
    case "runner_restarted":
      return { turn: lastTurn ?? "failed", run: "failed" }
  }
}

const runStates = {
  completed: "succeeded",
  failed: "failed",
  interrupted: "cancelled",
  cancelled: "cancelled"
} as const

const reasonOf = (cause: EndCause, lastTurn: RunRecord["lastTurn"]): string =>
  lastTurn === null && cause === "session_closed" ? "no_turn" : cause

/**
 * The result of a run whose last turn was completed and of which nobody proposed one: nothing is claimed, somebody has to look.
 */
export const defaultResult = ({ completionContract }: RunRecord): RunResult => ({
  schema: "paperclip.run_result.v1",
  reportedWorkDisposition: "needs_review",
  summary: "The agent ended its last turn; nobody has proposed a result.",
  completionClaim: {
    contractRevision: completionContract?.revision ?? "none",
    objectiveSatisfied: false,
    criteria: (completionContract?.criterionIds ?? []).map((criterionId) => ({
      criterionId,
      status: "unknown",
      evidenceRefs: []
    })),
    remainingWork: []
  },
  evidence: [],
  verification: [],
  attentionRequests: [],
  artifacts: [],
  provenance: "runner_default"
})
