/** The agent's checklist as `plan.updated`: every one replaces the plan of its turn. */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { PlanStep, PlanUpdated } from "./activity.ts"
import { nativeAt, type NativeObject } from "./native.ts"
import { projectMalformed } from "./updateNotice.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"

export const projectPlan = (state: ProjectionState, update: NativeObject): Step => {
  const entries = update["entries"]
  if (!Array.isArray(entries) || !entries.every(isEntry)) return projectMalformed(state, update)
  const revision = state.planRevision + 1
  const payload: PlanUpdated = {
    schema: "paperclip.plan.updated.v1",
    planId: `${state.scopeId}.plan`,
    revision,
    explanation: explanationOf(entries),
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

/** What the steps have no place for: that there are more of them, and their priorities. */
const explanationOf = (entries: ReadonlyArray<Entry>): string | null => {
  const sentences = [
    ...(entries.length <= limits.planStepsMax
      ? []
      : [`The plan has ${entries.length} steps; the first ${limits.planStepsMax} are listed.`]),
    ...["high", "low"].flatMap((priority) => {
      const steps = entries
        .slice(0, limits.planStepsMax)
        .flatMap((entry, index) => (entry.priority === priority ? [index + 1] : []))
      return steps.length === 0 ? [] : [`Steps of ${priority} priority: ${steps.join(", ")}.`]
    })
  ]
  return sentences.length === 0 ? null : sentences.join(" ")
}

interface Entry {
  readonly content: string
  /** Of the agent: anything. */
  readonly priority?: unknown
  readonly status: Exclude<PlanStep["status"], "blocked">
}

/** A plan with one entry that cannot be read is not shown in part. By hand, because a plan can have very many entries. */
const isEntry = (entry: unknown): entry is Entry =>
  typeof nativeAt(entry, "content") === "string" && statuses.has(nativeAt(entry, "status"))

const statuses: ReadonlySet<unknown> = new Set<Entry["status"]>(["pending", "in_progress", "completed"])
