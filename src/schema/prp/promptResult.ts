/**
 * What the answer of a prompt says beyond how the turn ended: the tokens that the agent counts, and anything else.
 *
 * The counts are told as they came and never as PRP's receipt: agents repeat the numbers of an earlier turn here, or add turns
 * up, and none says of what it counts.
 */
import { isAbsent, isEmpty, isNativeObject, type NativeObject } from "./native.ts"
import type { ProjectionState, Step } from "./projectionState.ts"
import { projectNotice } from "./updateNotice.ts"
import { partialUsage } from "./usage.ts"

/** `result` is the answer as it came. Nothing, if it says no more than its stop reason. */
export const projectPromptResult = (state: ProjectionState, result: unknown): Step => {
  if (!isNativeObject(result) || typeof result["stopReason"] !== "string") {
    const summary = "The agent answered the prompt without a stop reason."
    return projectNotice(state, { category: "malformed_result", severity: "warning", summary }, result)
  }
  const counts = countsOf(result["usage"])
  if (counts !== undefined) {
    return [state, [partialUsage(state, { promptResult: counts }, "prompt_result_of_unknown_scope", result)]]
  }
  const others = Object.keys(result).filter((key) => key !== "stopReason" && !isEmpty(result[key]))
  if (others.length === 0) return [state, []]
  const summary = "The agent's answer says more than its stop reason."
  return projectNotice(state, { category: "prompt_result", severity: "info", summary }, result)
}

/** The agent's words, and PRP's. */
const names = {
  inputTokens: "inputTokens",
  outputTokens: "outputTokens",
  cachedReadTokens: "cacheReadTokens",
  cachedWriteTokens: "cacheWriteTokens",
  thoughtTokens: "thoughtTokens",
  totalTokens: "totalTokens"
} as const

/** What is missing is missing, and not zero. `undefined`: there is no count that can be read. */
const countsOf = (usage: unknown): NativeObject | undefined => {
  if (isAbsent(usage) || !isNativeObject(usage)) return undefined
  const counts = Object.entries(names).flatMap(([key, name]) => (isCount(usage[key]) ? [[name, usage[key]]] : []))
  return counts.length === 0 ? undefined : Object.fromEntries(counts)
}

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0
