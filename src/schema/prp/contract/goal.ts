/** Goals of a session (v2): what a runner can do with them, and where one stands. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { Timestamp } from "../timestamp.ts"
import { Count, Label, NotNegative, NullableShortText, open, Revision } from "./primitives.ts"
import { unique } from "./unique.ts"

export const Availability = Schema.Literals(["available", "unsupported", "policy_disabled"])
export type Availability = typeof Availability.Type

export const GoalAction = Schema.Literals(["set", "pause", "resume", "clear"])
export type GoalAction = typeof GoalAction.Type

/** Only an action that is listed may be offered. */
export const GoalCapability = open({
  availability: Availability,
  actions: Schema.Array(GoalAction).check(unique),
  autonomousUpdates: Schema.Boolean,
  persistentAcrossResume: Schema.Boolean,
  maxObjectiveChars: Revision.check(Schema.isLessThanOrEqualTo(limits.shortTextCharactersMax)),
  tokenBudgetControl: Schema.Boolean,
  usageReporting: Schema.Boolean,
  reasonCode: Schema.optionalKey(Label),
  reason: Schema.optionalKey(textOf(1, limits.goalReasonCharactersMax))
})
export type GoalCapability = typeof GoalCapability.Type

export const GoalStatus = Schema.Literals([
  "active",
  "paused",
  "blocked",
  "limited",
  "usage_limited",
  "budget_limited",
  "complete"
])
export type GoalStatus = typeof GoalStatus.Type

/** `workingNow` false: an active goal may be idle. */
export const GoalSnapshot = open({
  objective: textOf(1, limits.shortTextCharactersMax),
  status: GoalStatus,
  tokenBudget: Schema.NullOr(Revision),
  tokensUsed: Schema.NullOr(Count),
  elapsedSeconds: Schema.NullOr(NotNegative),
  iterations: Schema.NullOr(Count),
  lastReason: NullableShortText,
  createdAt: Schema.NullOr(Timestamp),
  updatedAt: Schema.NullOr(Timestamp),
  completedAt: Schema.NullOr(Timestamp),
  workingNow: Schema.Boolean
})
export type GoalSnapshot = typeof GoalSnapshot.Type
