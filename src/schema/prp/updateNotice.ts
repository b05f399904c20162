/**
 * What cannot be told in PRP's typed events is told in a notice, with the whole update in `debug.native`: nothing is lost.
 */
import type { ProviderNotice } from "./activity.ts"
import { nativeAt } from "./native.ts"
import { noticeDraft } from "./notices.ts"
import type { ProjectionState, Step } from "./projectionState.ts"

/**
 * - `unknown_update`, `malformed_update`: not of a kind, or not of a shape, that is known here.
 * - `late_update`: it belongs to a turn, and there is none (any more).
 * - `late_tool_update`: it belongs to a tool call that has ended, or that is not known.
 * - `too_many_tool_calls`: beyond the bound of open ones.
 * - `unplaced_change`: a changed file without a safe path inside the workspace, or beyond the bound of files.
 * - `tool_input`: the arguments of a tool call, which have no typed place.
 * - `unplaced_content`, `unplaced_output`: parts of a tool call that have none either.
 * - `prompt_result`, `malformed_result`: the answer of the prompt says more than its stop reason, or none.
 * - `agent_notice`, `compaction`: the agent's own.
 */
export type NoticeCategory =
  | "unknown_update"
  | "malformed_update"
  | "late_update"
  | "late_tool_update"
  | "too_many_tool_calls"
  | "unplaced_change"
  | "tool_input"
  | "unplaced_content"
  | "unplaced_output"
  | "prompt_result"
  | "malformed_result"
  | "agent_notice"
  | "compaction"

export interface NoticeFacts {
  readonly category: NoticeCategory
  readonly severity: ProviderNotice["severity"]
  readonly summary: string
}

export const projectNotice = (state: ProjectionState, facts: NoticeFacts, native: unknown): Step => {
  const noticeCount = state.noticeCount + 1
  const draft = noticeDraft({
    ...facts,
    id: `${state.scopeId}.notice-${noticeCount}`,
    ...(state.turnId === undefined ? {} : { turnId: state.turnId }),
    // JSON has no `undefined`; a caller in this process may still hand one in.
    native: native ?? null
  })
  return [{ ...state, noticeCount }, [draft]]
}

/** About an item whose own event carries the update. */
export const projectItemNotice = (state: ProjectionState, facts: NoticeFacts, itemId: string): Step => {
  const noticeCount = state.noticeCount + 1
  const draft = noticeDraft({
    ...facts,
    id: `${state.scopeId}.notice-${noticeCount}`,
    itemId,
    ...(state.turnId === undefined ? {} : { turnId: state.turnId })
  })
  return [{ ...state, noticeCount }, [draft]]
}

export const projectUnknown = (state: ProjectionState, update: unknown): Step =>
  projectNotice(
    state,
    { category: "unknown_update", severity: "info", summary: `The agent sent ${kindOf(update)}.` },
    update
  )

export const projectMalformed = (state: ProjectionState, update: unknown): Step =>
  projectNotice(
    state,
    {
      category: "malformed_update",
      severity: "warning",
      summary: `The agent sent ${kindOf(update)} that is not of the protocol's shape.`
    },
    update
  )

export const projectLate = (state: ProjectionState, update: unknown): Step =>
  projectNotice(
    state,
    {
      category: "late_update",
      severity: "info",
      summary: `The agent sent ${kindOf(update)} outside a turn.`
    },
    update
  )

/** The kind is the agent's text, so it is shown only when it reads like one. */
const kindOf = (update: unknown): string => {
  const kind = nativeAt(update, "sessionUpdate")
  return typeof kind === "string" && /^[A-Za-z0-9_./-]{1,80}$/.test(kind)
    ? `an update of kind ${kind}`
    : "an update without a readable kind"
}
