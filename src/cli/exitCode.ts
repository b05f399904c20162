/**
 * What the `greenroom` command exits with.
 *
 * | code | meaning |
 * |---|---|
 * | 0 | completed |
 * | 1 | failed |
 * | 2 | usage |
 * | 3 | refused, or the policy cannot be kept with this agent |
 * | 4 | the agent is missing, or its command could not be started |
 * | 5 | not clean: processes are left, whatever else happened |
 * | 124 | timed out |
 * | 130 | cancelled |
 */
import type { OpenError } from "../actors/Runner.ts"
import type { ActorCrashed, ProfileInvalid, PromptRefused, SessionClosed } from "../schema/errors.ts"
import type { TurnFailureReason, TurnOutcome } from "../schema/turn.ts"

export const exitCodes = {
  completed: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  agentMissing: 4,
  notClean: 5,
  timedOut: 124,
  cancelled: 130
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export type RunError = OpenError | ProfileInvalid | PromptRefused | SessionClosed | ActorCrashed

/** How a run ended. `TimedOut` and `Interrupted`: before there was a turn; a turn says so itself. */
export type RunEnd =
  | { readonly _tag: "Ended"; readonly outcome: TurnOutcome }
  | { readonly _tag: "Failed"; readonly error: RunError }
  | { readonly _tag: "TimedOut" }
  | { readonly _tag: "Interrupted" }

/** `survivors`: processes that could not be ended. */
export const exitCodeOf = (end: RunEnd, survivors: number): ExitCode => {
  if (survivors > 0) return exitCodes.notClean
  switch (end._tag) {
    case "Ended":
      return codeOfOutcome(end.outcome)
    case "Failed":
      return codeOfError(end.error)
    case "TimedOut":
      return exitCodes.timedOut
    case "Interrupted":
      return exitCodes.cancelled
  }
}

const codeOfOutcome = (outcome: TurnOutcome): ExitCode => {
  switch (outcome._tag) {
    case "Completed":
      return exitCodes.completed
    case "Cancelled":
      return exitCodes.cancelled
    case "Failed":
      return codeOfReason(outcome.reason)
  }
}

const codeOfReason = (reason: TurnFailureReason): ExitCode => {
  switch (reason) {
    case "turn_timeout":
      return exitCodes.timedOut
    case "refused":
      return exitCodes.refused
    default:
      return exitCodes.failed
  }
}

export const codeOfError = (error: RunError): ExitCode => {
  switch (error._tag) {
    case "ProfileInvalid":
      return exitCodes.usage
    case "AgentMissing":
    case "LaunchFailed":
      return exitCodes.agentMissing
    case "PolicyNotEnforceable":
    case "PromptRefused":
    case "SettingRefused":
    case "McpServerRefused":
    case "EnvironmentRefused":
    case "BackendUnavailable":
      return exitCodes.refused
    default:
      return exitCodes.failed
  }
}
