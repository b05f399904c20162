/** The agent's checklist as `plan.updated`: every one replaces the plan of its turn (spec 1.4). */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { PlanUpdated } from "./activity.ts"
import type { NativeObject } from "./native.ts"
import { projectMalformed } from "./notice.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"

const AcpPlan = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({ content: Schema.String, status: Schema.Literals(["pending", "in_progress", "completed"]) })
  )
})

const decodePlan = Schema.decodeUnknownResult(AcpPlan)

export const projectPlan = (state: ProjectionState, update: NativeObject): Step => {
  const decoded = decodePlan(update)
  if (Result.isFailure(decoded)) return projectMalformed(state, update)
  const entries = decoded.success.entries
  const revision = state.planRevision + 1
  const payload: PlanUpdated = {
    schema: "paperclip.plan.updated.v1",
    planId: `${state.scopeId}.plan`,
    revision,
    explanation:
      entries.length <= limits.planStepsMax
        ? null
        : `The plan has ${entries.length} steps; the first ${limits.planStepsMax} are listed.`,
    steps: entries.slice(0, limits.planStepsMax).map((entry, index) => ({
      stepId: `step-${index + 1}`,
      body: shortText(entry.content, limits.shortTextCharactersMax),
      status: entry.status
    })),
    complete: entries.length > 0 && entries.every((entry) => entry.status === "completed"),
    syncStatus: "not_applicable",
    documentRevision: null
  }
  return [
    { ...state, planRevision: revision, sawPlan: true },
    [draftIn(state, "plan.updated", payload, { native: update })]
  ]
}
