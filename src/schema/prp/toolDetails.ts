/**
 * What a tool call says beyond its execution: what it points to as events of their own, and what has no typed place (its
 * arguments, output that is no text, content of other kinds) as bounded notices. Nothing is said twice in a row.
 */
import { limits } from "../limits.ts"
import type { EventDraft } from "./event.ts"
import { isEmpty, type NativeObject } from "./native.ts"
import type { ProjectionState } from "./projectionState.ts"
import { redactedJson } from "./redactedJson.ts"
import { referenceDrafts } from "./toolReferences.ts"
import type { ToolCall } from "./tools.ts"
import type { ToolReading } from "./toolUpdate.ts"
import { type NoticeCategory, projectItemNotice } from "./updateNotice.ts"

/** The next state, the call with what has been said of it, and the drafts. */
export type Detailed = readonly [ProjectionState, ToolCall, ReadonlyArray<EventDraft>]

export const toolDetails = (
  state: ProjectionState,
  call: ToolCall,
  reading: ToolReading,
  update: NativeObject
): Detailed => {
  const { drafts, omitted, referred } = referenceDrafts(state, call.executionId, call.referred, reading.references)
  const summaries = [
    ["tool_input", reading.input],
    ["unplaced_content", unplacedContent(reading, omitted)],
    ["unplaced_output", unplacedOutput(call, update)]
  ] as const
  return summaries.reduce<Detailed>(
    (before, [category, summary]) => (summary === undefined ? before : withNotice(before, category, summary)),
    [state, { ...call, referred }, drafts]
  )
}

const withNotice = ([state, call, drafts]: Detailed, category: NoticeCategory, summary: string): Detailed => {
  if (call.noticed.get(category) === summary) return [state, call, drafts]
  const noticed = new Map(call.noticed).set(category, summary)
  const [next, made] = projectItemNotice(state, { category, severity: "info", summary }, call.executionId)
  return [next, { ...call, noticed }, [...drafts, ...made]]
}

const unplacedContent = ({ unplaced }: ToolReading, omitted: number): string | undefined => {
  const beyond =
    omitted === 0 ? [] : [`${omitted} files or media more than the ${limits.toolReferencesMax} that are told`]
  const all = [...unplaced, ...beyond]
  return all.length === 0 ? undefined : `No event has a place for this of the tool call: ${all.join("; ")}.`
}

/** Agents that show their output as text often repeat it in a shape of their own. */
const unplacedOutput = ({ output }: ToolCall, { rawOutput }: NativeObject): string | undefined => {
  if (output.text !== null || isEmpty(rawOutput)) return undefined
  const { isWhole, text } = redactedJson(rawOutput)
  return `The output of this tool call is no text${isWhole ? "" : "; a part of it"}: ${text}`
}
