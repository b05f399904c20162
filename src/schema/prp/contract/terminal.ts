/** How a run ended: exactly one per run, and it is the last word. */
import * as Schema from "effect/Schema"
import { open } from "./primitives.ts"
import { Disposition } from "./result.ts"
import { StopReason } from "./stopReason.ts"

export const Terminal = open({
  schema: Schema.Literal("paperclip.prp.terminal.v1"),
  turnTerminalState: Schema.Literals(["completed", "failed", "interrupted", "cancelled"]),
  runTerminalState: Schema.Literals(["succeeded", "failed", "cancelled"]),
  reportedWorkDisposition: Disposition,
  workAssessmentId: Schema.optionalKey(Schema.NonEmptyString),
  statusDecisionId: Schema.optionalKey(Schema.NonEmptyString),
  stopReason: Schema.optionalKey(StopReason)
})
export type Terminal = typeof Terminal.Type
