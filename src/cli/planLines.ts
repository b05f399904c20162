/** The agent's plan on the screen: all of it when it is new, then only the steps that are done. */
import type { PlanStep } from "../schema/prp/activity.ts"
import type { Paint } from "./paint.ts"
import { shownLine } from "./shownText.ts"

export const planLines = (
  before: ReadonlyArray<PlanStep>,
  after: ReadonlyArray<PlanStep>,
  paint: Paint
): ReadonlyArray<string> => {
  const isSamePlan = before.length === after.length && after.every((step, index) => step.body === before[index]?.body)
  if (isSamePlan) {
    return after
      .filter((step, index) => step.status !== before[index]?.status && step.status !== "in_progress")
      .map((step) => stepLine(step, paint))
  }
  return after.length === 0 ? [] : [paint.bold("Plan"), ...after.map((step) => stepLine(step, paint))]
}

const stepLine = (step: PlanStep, paint: Paint): string => {
  const body = shownLine(step.body)
  switch (step.status) {
    case "completed":
      return `${paint.green("☑")} ${paint.dim(body)}`
    case "in_progress":
      return `${paint.cyan("▸")} ${body}`
    case "blocked":
      return `${paint.red("☒")} ${body}`
    case "pending":
      return `${paint.dim("☐")} ${paint.dim(body)}`
  }
}
