/**
 * A run as others see it: what a control plane has prepared, opened and asked for, and how a command of it ended.
 */
import * as Schema from "effect/Schema"
import { Terminal } from "./prp/contract/terminal.ts"

/** `prepared`: no agent yet. `suspended`: its agent has ended, the run has not. `terminal`: `run.terminal` was said. */
export const RunState = Schema.Literals(["prepared", "active", "suspended", "terminal"])
export type RunState = typeof RunState.Type

export const RunSessionState = Schema.Literals(["not_started", "starting", "running", "closed", "failed"])
export type RunSessionState = typeof RunSessionState.Type

export const RunnerState = Schema.Literals([
  "ready",
  "draining",
  "suspending",
  "suspended",
  "stopping",
  "stopped",
  "failed"
])
export type RunnerState = typeof RunnerState.Type

export const RunStatus = Schema.Struct({
  runId: Schema.String,
  /** `null`: a run of the operator's own. */
  companyId: Schema.NullOr(Schema.String),
  agent: Schema.String,
  cwd: Schema.String,
  runState: RunState,
  sessionState: RunSessionState,
  sessionId: Schema.NullOr(Schema.String),
  activeTurnId: Schema.NullOr(Schema.String),
  /** Ids of the agent's requests that are open. */
  openRequests: Schema.Array(Schema.String),
  /** The number of the last command that was taken; the next one is one more. */
  lastControllerSeq: Schema.Int,
  terminal: Schema.NullOr(Terminal)
})
export type RunStatus = typeof RunStatus.Type

/**
 * How a command ended. `rejected`: it had no effect. `failed`: it was tried. `indeterminate`: it was pending when the process
 * of the runner ended, and nobody knows; it is never carried out again.
 */
export const CommandReply = Schema.Struct({
  commandId: Schema.String,
  commandType: Schema.String,
  controllerSeq: Schema.Int,
  status: Schema.Literals(["completed", "failed", "rejected", "indeterminate"]),
  /** JSON, by the type of the command; `null` where there is none. */
  result: Schema.Unknown,
  /** With every status but `completed`. */
  code: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.String),
  /** Where the number was wrong: the one that would be taken. */
  expectedSeq: Schema.optionalKey(Schema.Int)
})
export type CommandReply = typeof CommandReply.Type
