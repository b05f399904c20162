/** Goals of a session: what may be asked of whom, and what the status of a goal says about the work. */
import * as Result from "effect/Result"
import { fitsCharacters } from "../../characters.ts"
import { GoalCommandRefused } from "../../errors.ts"
import type { Capabilities } from "../contract/capabilities.ts"
import type { GoalAction, GoalCapability, GoalSnapshot, GoalStatus } from "../contract/goal.ts"
import type { Disposition } from "../contract/result.ts"
import { nativeAt } from "../native.ts"

/** What a runner offers about goals. Only v2 has any: what a v1 object holds by that name is ignored. */
export const goalCapabilityOf = (capabilities: Capabilities): GoalCapability | undefined =>
  capabilities.schema === "paperclip.prp.capabilities.v2" ? capabilities.sessionGoals : undefined

/** A command as far as this rule looks at it. */
export interface GoalCommand {
  readonly schema: string
  readonly type: string
  readonly payload: unknown
}

/**
 * Whether the command may be sent, and likewise whether it may be carried out. `version` is the negotiated one. A command that
 * is not about goals always may. Reading is no action: whoever speaks v2 answers it, if only to say that there is none.
 */
export const checkGoalCommand = (
  version: number,
  capability: GoalCapability | undefined,
  command: GoalCommand
): Result.Result<void, GoalCommandRefused> => {
  if (!command.type.startsWith("session.goal.")) return Result.succeed(undefined)
  const reason = versionReason(version, command) ?? offerReason(capability, command)
  return reason === undefined ? Result.succeed(undefined) : Result.fail(reason)
}

const versionReason = (version: number, { schema, type }: GoalCommand): GoalCommandRefused | undefined => {
  const refused = (reason: string) =>
    new GoalCommandRefused({ code: "session_goal_version_unsupported", command: type, reason })
  if (version < 2) return refused(`version ${version} of the protocol has no goals`)
  return schema === "paperclip.prp.command.v1" ? refused("a command of version 1 is not about goals") : undefined
}

const offerReason = (
  capability: GoalCapability | undefined,
  { type, payload }: GoalCommand
): GoalCommandRefused | undefined => {
  if (type === "session.goal.get") return undefined
  const refused = (reason: string) =>
    new GoalCommandRefused({ code: "session_goal_action_unavailable", command: type, reason })
  if (capability?.availability !== "available") return refused(`goals are ${capability?.availability ?? "unsupported"}`)
  const action = goalActionOf(type, payload)
  if (!capability.actions.includes(action)) return refused(`the action ${action} is not offered`)
  if (type !== "session.goal.set") return undefined
  const objective = nativeAt(payload, "objective")
  if (typeof objective === "string" && !fitsCharacters(objective, capability.maxObjectiveChars)) {
    return refused(`an objective has at most ${capability.maxObjectiveChars} characters`)
  }
  const budgeted = typeof nativeAt(payload, "tokenBudget") === "number"
  return budgeted && !capability.tokenBudgetControl ? refused("a token budget cannot be set") : undefined
}

/** A new objective sets the goal, in whatever status; without one the goal is paused, or goes on. */
const goalActionOf = (type: string, payload: unknown): GoalAction => {
  if (type === "session.goal.clear") return "clear"
  if (typeof nativeAt(payload, "objective") === "string") return "set"
  return nativeAt(payload, "status") === "paused" ? "pause" : "resume"
}

/** Whether the end of the run must wait: the goal is active. It may be idle all the same. */
export const withholdsTerminal = (goal: Pick<GoalSnapshot, "status"> | null): boolean => goal?.status === "active"

/** What becomes of the work. `reported` is what the run's result says, if there is one. */
export const goalDisposition = (
  goal: Pick<GoalSnapshot, "status"> | null,
  reported: Disposition | undefined,
  succeeded: boolean
): Disposition =>
  (goal === null ? undefined : dispositions[goal.status]) ?? reported ?? (succeeded ? "done" : "needs_review")

const dispositions: Readonly<Record<GoalStatus, Disposition | undefined>> = {
  active: undefined,
  blocked: "blocked",
  paused: "yielded",
  limited: "yielded",
  usage_limited: "yielded",
  budget_limited: "yielded",
  complete: "done"
}
