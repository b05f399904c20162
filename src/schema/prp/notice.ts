/**
 * What cannot be told in PRP's typed events is told in a notice, with the whole update in `debug.native`: nothing is lost.
 */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { ProviderNotice } from "./activity.ts"
import { nativeAt } from "./native.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"

/**
 * - `unknown_update`, `malformed_update`: not of a kind, or not of a shape, that is known here.
 * - `late_update`: it belongs to a turn that has ended. `late_tool_update`: to a tool call that has ended or is not known.
 * - `too_many_tool_calls`: beyond the bound of open ones. `unplaced_change`: a changed file without a safe path.
 * - `agent_notice`, `compaction`: the agent's own.
 */
export type NoticeCategory =
  | "unknown_update"
  | "malformed_update"
  | "late_update"
  | "late_tool_update"
  | "too_many_tool_calls"
  | "unplaced_change"
  | "agent_notice"
  | "compaction"

export interface NoticeFacts {
  readonly category: NoticeCategory
  readonly severity: ProviderNotice["severity"]
  readonly summary: string
}

export const projectNotice = (state: ProjectionState, facts: NoticeFacts, native: unknown): Step => {
  const noticeCount = state.noticeCount + 1
  const payload: ProviderNotice = {
    schema: "paperclip.provider.notice.v1",
    noticeId: `${state.scopeId}.notice-${noticeCount}`,
    severity: facts.severity,
    category: facts.category,
    scope: state.turnId === undefined ? "session" : "turn",
    recoverable: true,
    userActionable: false,
    summary: shortText(facts.summary, limits.shortTextCharactersMax)
  }
  // JSON has no `undefined`; a caller in this process may still hand one in.
  const draft = draftIn(state, "provider.notice.recorded", payload, { native: native ?? null })
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
      summary: `The agent sent ${kindOf(update)} after the turn had ended.`
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
