/**
 * The one projection from what an agent does to event drafts, for every agent: pure, and total over whatever JSON an agent
 * sends. What PRP has no event for, and what is not of the protocol's shape, becomes a notice that carries the whole update.
 *
 * One state belongs to one turn, or to a session for what happens outside its turns.
 */
import { closeItem, projectChunk, projectUserChunk } from "./items.ts"
import { isNativeObject } from "./native.ts"
import { projectLate, projectMalformed, projectUnknown } from "./updateNotice.ts"
import { projectPlan } from "./plan.ts"
import type { ProjectionState, Step } from "./projectionState.ts"
import { projectPromptResult } from "./promptResult.ts"
import { projectSessionUpdate } from "./sessionUpdates.ts"
import { closeTools, projectTool } from "./tools.ts"

export { initialState, type ProjectionScope, type ProjectionState, type Step } from "./projectionState.ts"
export { turnTerminal } from "./turnTerminal.ts"

export type ProjectionInput =
  /** The `update` of one `session/update`, as it came. `workspace` is the absolute path of the session's folder. */
  | { readonly _tag: "Update"; readonly update: unknown; readonly workspace: string }
  /** The answer of the turn's prompt, as it came: behind its updates, before its end. */
  | { readonly _tag: "PromptResult"; readonly result: unknown }
  /** Closes what is open. After it, whatever belongs to a turn is a late notice. */
  | { readonly _tag: "TurnEnded"; readonly how: "completed" | "failed" | "cancelled" }

export const project = (state: ProjectionState, input: ProjectionInput): Step => {
  switch (input._tag) {
    case "Update":
      return projectUpdate(state, input.update, input.workspace)
    case "PromptResult":
      return projectPromptResult(state, input.result)
    case "TurnEnded":
      return endTurn(state, input.how)
  }
}

const projectUpdate = (state: ProjectionState, update: unknown, workspace: string): Step => {
  if (!isNativeObject(update)) return projectMalformed(state, update)
  if (state.ended) return projectSessionUpdate(state, update) ?? projectLate(state, update)
  switch (update["sessionUpdate"]) {
    case "agent_message_chunk":
      return projectChunk(state, "assistant_message", update)
    case "agent_thought_chunk":
      return projectChunk(state, "reasoning", update)
    case "user_message_chunk":
      return projectUserChunk(state, update)
    case "tool_call":
    case "tool_call_update":
      return projectTool(state, update, workspace)
    case "plan":
      return projectPlan(state, update)
    default:
      return projectSessionUpdate(state, update) ?? projectUnknown(state, update)
  }
}

const endTurn = (state: ProjectionState, how: "completed" | "failed" | "cancelled"): Step => {
  if (state.ended) return [state, []]
  const [withoutItem, items] = closeItem(state, how)
  const [closed, tools] = closeTools(withoutItem, how)
  return [{ ...closed, ended: true, turnId: undefined }, [...items, ...tools]]
}
