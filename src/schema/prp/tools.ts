/**
 * Tool calls as `tool.execution.*`: started at the first update, progressed, and completed exactly once, by the agent or by
 * us when their turn ends. The agent's whole update rides along in `debug.native`.
 */
import { stableIdOf } from "../identity.ts"
import { limits } from "../limits.ts"
import type { ToolExecution, ToolOperation, ToolStatus, ToolTransport } from "./activity.ts"
import { noChanges, workspaceDiff, type Changes } from "./changes.ts"
import type { EventDraft } from "./event.ts"
import type { NativeObject } from "./native.ts"
import { projectMalformed, projectNotice, type NoticeFacts } from "./updateNotice.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"
import { toolDetails } from "./toolDetails.ts"
import { exitCodeOf, noOutput, outputAfter, outputFields, type ToolOutput } from "./toolOutput.ts"
import { readToolUpdate, unknownNature, type ToolReading } from "./toolUpdate.ts"

/** An open tool call. */
export interface ToolCall {
  readonly key: string
  /** The key, or one made from it when the agent uses its id for a further call in the same turn. */
  readonly executionId: string
  readonly transport: ToolTransport
  readonly operation: ToolOperation
  readonly name: string | null
  readonly target: string | null
  readonly output: ToolOutput
  readonly exitCode: number | undefined
  readonly changes: Changes
  /** Ids of the files and media that it has pointed to; at most `toolReferencesMax`. */
  readonly referred: ReadonlySet<string>
  /** The last notice of each category about it. */
  readonly noticed: ReadonlyMap<string, string>
}

/** The id under which events speak of the first tool call with this id in a turn. */
export const executionIdOf = (toolCallId: string): string => stableIdOf("call", toolCallId)

export const projectTool = (state: ProjectionState, update: NativeObject, workspace: string): Step => {
  const toolCallId = update["toolCallId"]
  if (typeof toolCallId !== "string" || toolCallId === "") return projectMalformed(state, update)
  const key = executionIdOf(toolCallId)
  const seen = { ...state, sawTool: true }
  const known = state.tools.get(key)
  const refused = known === undefined ? refusalOf(state, key, update) : undefined
  if (refused !== undefined) return projectNotice(seen, refused, update)

  const reading = readToolUpdate(update, workspace)
  const call = known ?? newCall(state, key)
  const [told, changed, details] = toolDetails(seen, afterUpdate(call, reading, update), reading, update)
  const [next, drafts] =
    reading.status === undefined
      ? goesOn(told, known === undefined ? "started" : "progressed", changed, details, reading, update)
      : ends(told, changed, reading.status, details, reading, update)
  const begun =
    known === undefined && reading.status !== undefined ? [execution(seen, "started", call, "running", {})] : []
  const [settled, notices] = reading.malformed ? projectMalformed(next, update) : [next, []]
  return [settled, [...begun, ...drafts, ...notices]]
}

/** Closes every open tool call: the agent will not, or nobody listens to it any more. */
export const closeTools = (state: ProjectionState, how: "completed" | "failed" | "cancelled"): Step => {
  const status = how === "cancelled" ? "cancelled" : "interrupted"
  const progress = `Closed by the runner: the turn is ${how} and the agent left this tool call open.`
  const drafts = [...state.tools.values()].map((call) => ({
    ...execution(state, "completed", call, status, { progress }),
    debug: { closedBy: "runner", turn: how }
  }))
  return [{ ...state, tools: new Map(), endedTools: new Map() }, drafts]
}

const refusalOf = (state: ProjectionState, key: string, update: NativeObject): NoticeFacts | undefined => {
  const continues = update["sessionUpdate"] === "tool_call_update"
  if (continues && (state.turnId === undefined || state.endedTools.has(key))) {
    const summary = "The agent sent an update for a tool call that is not open."
    return { category: "late_tool_update", severity: "info", summary }
  }
  if (state.tools.size < limits.toolCallsMax) return undefined
  const summary = `More than ${limits.toolCallsMax} tool calls are open; this one is not followed.`
  return { category: "too_many_tool_calls", severity: "warning", summary }
}

const newCall = (state: ProjectionState, key: string): ToolCall => {
  const uses = (state.endedTools.get(key) ?? 0) + 1
  return {
    key,
    executionId: uses === 1 ? key : executionIdOf(`${key}.${uses}`),
    ...unknownNature,
    name: null,
    target: null,
    output: noOutput,
    exitCode: undefined,
    changes: noChanges,
    referred: new Set(),
    noticed: new Map()
  }
}

const afterUpdate = (call: ToolCall, reading: ToolReading, update: NativeObject): ToolCall => ({
  key: call.key,
  executionId: call.executionId,
  transport: reading.transport ?? call.transport,
  operation: reading.operation ?? call.operation,
  name: reading.name ?? call.name,
  target: reading.target === undefined ? call.target : reading.target,
  output: outputAfter(call.output, reading.text, update),
  exitCode: exitCodeOf(update) ?? call.exitCode,
  changes: reading.changes ?? call.changes,
  referred: call.referred,
  noticed: call.noticed
})

const goesOn = (
  state: ProjectionState,
  phase: "started" | "progressed",
  call: ToolCall,
  details: ReadonlyArray<EventDraft>,
  reading: ToolReading,
  native: NativeObject
): Step => {
  const tools = new Map(state.tools).set(call.key, call)
  const draft = execution(state, phase, call, "running", { progress: reading.title, native })
  return [{ ...state, tools }, [draft, ...details]]
}

/** Only a completed call has changed anything; what a failed one did is not known. */
const ends = (
  state: ProjectionState,
  call: ToolCall,
  status: "completed" | "failed",
  details: ReadonlyArray<EventDraft>,
  reading: ToolReading,
  native: NativeObject
): Step => {
  const itemId = call.executionId
  const { files, unplaced } = status === "completed" ? call.changes : noChanges
  const changed =
    files.length === 0 ? [] : [draftIn(state, "workspace.change.updated", workspaceDiff(itemId, files), { itemId })]
  const ended = withEnded(state, call.key)
  const summary = `${unplaced} reported changes have no safe path inside the workspace, or are beyond the bound.`
  const [next, notices] =
    unplaced === 0
      ? [ended, []]
      : projectNotice(ended, { category: "unplaced_change", severity: "warning", summary }, native)
  const completed = execution(state, "completed", call, status, { progress: reading.title, native })
  return [next, [...details, ...changed, completed, ...notices]]
}

const withEnded = (state: ProjectionState, key: string): ProjectionState => {
  const tools = new Map(state.tools)
  tools.delete(key)
  const endedTools = new Map(state.endedTools)
  endedTools.delete(key)
  endedTools.set(key, (state.endedTools.get(key) ?? 0) + 1)
  const [oldest] = endedTools.keys()
  if (endedTools.size > limits.toolCallsMax && oldest !== undefined) endedTools.delete(oldest)
  return { ...state, tools, endedTools }
}

const execution = (
  state: ProjectionState,
  phase: "started" | "progressed" | "completed",
  call: ToolCall,
  status: ToolStatus,
  about: { readonly progress?: string | undefined; readonly native?: NativeObject }
): EventDraft => {
  const payload: ToolExecution = {
    schema: "paperclip.tool.execution.v1",
    executionId: call.executionId,
    transport: call.transport,
    operation: call.operation,
    name: call.name,
    target: call.target,
    status,
    ...(call.exitCode === undefined ? {} : { exitCode: call.exitCode }),
    progress: about.progress ?? null,
    ...outputFields(call.output, status !== "running")
  }
  return draftIn(state, `tool.execution.${phase}`, payload, { itemId: call.executionId, native: about.native })
}
