/**
 * How a turn ended. A turn has exactly one outcome, decided once: by the prompt response, or by the last entry of the
 * connection. Late text or a late answer never changes it.
 *
 * Words of the agent stand in fields of their own (`agentError`, `providerStopReason`); `detail` is always ours.
 */
import * as Schema from "effect/Schema"
import { CloseReason, ExitFact } from "./errors.ts"

/** The closed set of ACP v1, and `unknown` for a string that is not in it (kept as `providerStopReason`). */
export const StopReason = Schema.Literals([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
  "unknown"
])
export type StopReason = typeof StopReason.Type

const stopReasons: ReadonlySet<string> = new Set<StopReason>(StopReason.literals)

/** Any string is a stop reason; one that ACP does not know is `unknown`. */
export const stopReasonOf = (word: string): StopReason => (isStopReason(word) ? word : "unknown")

const isStopReason = (word: string): word is StopReason => stopReasons.has(word)

/** `none`: tools, thoughts or a plan, but not one message. Neither is an empty completion. */
export const Reply = Schema.Literals(["message", "none"])
export type Reply = typeof Reply.Type

/**
 * Why a turn failed.
 *
 * - `empty_completion`: success without any message, thought, tool or plan.
 * - `turn_timeout`: our deadline for the turn passed.
 * - `agent_error`: the prompt was answered with a JSON-RPC error; `auth_required` when it asks for a login.
 * - `answer_malformed`: the answer of the prompt is not of the protocol's shape.
 * - `refused`: stop reason `refusal`.
 * - `connection_closed`: the connection ended before the answer.
 * - `frame_too_large`: the prompt did not fit into a frame; nothing was written.
 * - `crashed`: a defect of ours.
 * - `runner_restarted`: the process of the runner ended under it. Said by the next one; nobody in that process waits for it.
 */
export const TurnFailureReason = Schema.Literals([
  "empty_completion",
  "turn_timeout",
  "agent_error",
  "auth_required",
  "answer_malformed",
  "refused",
  "connection_closed",
  "frame_too_large",
  "crashed",
  "runner_restarted"
])
export type TurnFailureReason = typeof TurnFailureReason.Type

/** A JSON-RPC error as the agent wrote it. */
export const AgentErrorFact = Schema.Struct({
  rpcCode: Schema.Finite,
  rpcMessage: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})
export type AgentErrorFact = typeof AgentErrorFact.Type

/** Events of the turn that its subscriber did not get. Only a turn that is being cancelled drops events. */
const undeliveredEvents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The agent ended the turn, and not by refusing or by cancelling it. */
export const TurnCompleted = Schema.TaggedStruct("Completed", {
  stopReason: Schema.Literals(["end_turn", "max_tokens", "max_turn_requests", "unknown"]),
  /** The agent's own word, when it is not one of the protocol's. */
  providerStopReason: Schema.optionalKey(Schema.String),
  reply: Reply,
  undeliveredEvents,
  /** As it stands in the answer. Agents are known to repeat the numbers of an earlier turn here: never add it up. */
  usage: Schema.optionalKey(Schema.Unknown)
})
export type TurnCompleted = typeof TurnCompleted.Type

export const TurnFailed = Schema.TaggedStruct("Failed", {
  reason: TurnFailureReason,
  detail: Schema.String,
  /** What the provider's `classify` makes of it, such as `rate_limited`. */
  classification: Schema.optionalKey(Schema.String),
  agentError: Schema.optionalKey(AgentErrorFact),
  providerStopReason: Schema.optionalKey(Schema.String),
  closeReason: Schema.optionalKey(CloseReason),
  exit: Schema.optionalKey(ExitFact),
  stderrTail: Schema.optionalKey(Schema.Array(Schema.String)),
  undeliveredEvents
})
export type TurnFailed = typeof TurnFailed.Type

/**
 * `agent`: the agent answered `cancelled` although nobody here asked for it (some do when a permission is rejected).
 * A deadline is never `Cancelled`; it is `Failed` with `turn_timeout`.
 */
export const CancelledBy = Schema.Literals(["interrupt", "runCancel", "shutdown", "agent"])
export type CancelledBy = typeof CancelledBy.Type

export const TurnCancelled = Schema.TaggedStruct("Cancelled", {
  by: CancelledBy,
  /** The agent answered the prompt within the deadline of the cancel. */
  acknowledged: Schema.Boolean,
  /** What that answer said, `end_turn` included: our own fact, cancelled, stands beside it. */
  providerStopReason: Schema.optionalKey(Schema.String),
  /** When that answer was an error: some agents report an abort so. */
  agentError: Schema.optionalKey(AgentErrorFact),
  /** Whether the prompt had been written. A turn that was cancelled before never reached the agent. */
  written: Schema.Boolean,
  exit: Schema.optionalKey(ExitFact),
  undeliveredEvents
})
export type TurnCancelled = typeof TurnCancelled.Type

export const TurnOutcome = Schema.Union([TurnCompleted, TurnFailed, TurnCancelled])
export type TurnOutcome = typeof TurnOutcome.Type
