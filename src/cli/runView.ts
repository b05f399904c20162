/**
 * A run as a person follows it: a reducer over its events.
 *
 * Guarantees: all text of the agent is safe to show; every output but the answer consists of whole lines. What is shown is a
 * selection: `--json` has everything.
 */
import type { FileChange, PlanStep, ProviderNotice, ToolExecution } from "../schema/prp/activity.ts"
import type { Event } from "../schema/prp/event.ts"
import { isTurnTerminal } from "../schema/prp/terminals.ts"
import { limits } from "../schema/limits.ts"
import { firstCharacters } from "../schema/characters.ts"
import { displayText } from "../schema/displayText.ts"
import type { Paint } from "./paint.ts"
import { type Question, questionOf } from "./permissionCard.ts"
import { planLines } from "./planLines.ts"
import { type RequestCounts, requestEnd } from "./requestEnd.ts"
import { shownLine, shownLines, headLines } from "./shownText.ts"
import { toolLines, type RunningTool, toolTitle } from "./toolLines.ts"

/**
 * `answer`: what the agent says; data. `progress`: what it does meanwhile. `notice`: what a person must know even when only
 * data is wanted.
 */
export interface Output {
  readonly channel: "answer" | "progress" | "notice"
  readonly text: string
}

export interface View {
  readonly activity: string
  readonly counts: RequestCounts
  /** Open ones, the oldest first. */
  readonly questions: ReadonlyArray<Question>
  readonly tools: ReadonlyMap<string, RunningTool>
  /** Of tool calls that have not ended. */
  readonly changes: ReadonlyMap<string, ReadonlyArray<FileChange>>
  readonly plan: ReadonlyArray<PlanStep>
  /** What the agent has thought and is not yet shown: thoughts come in pieces, and are shown in lines. */
  readonly thought: string
  /** The answer stands in the middle of a line. */
  readonly midLine: boolean
  /** A tool has run since: what is said next begins a line. */
  readonly endsLine: boolean
  /** A carriage return at the end of a delta: what it means shows the next one. */
  readonly heldReturn: string
}

export const newView: View = {
  activity: "starting",
  counts: { asked: 0, allowed: 0, denied: 0 },
  questions: [],
  tools: new Map(),
  changes: new Map(),
  plan: [],
  thought: "",
  midLine: false,
  endsLine: false,
  heldReturn: ""
}

type Step = readonly [View, ReadonlyArray<Output>]

export const viewed = (view: View, event: Event, paint: Paint): Step => {
  const [thoughtless, thoughts] = endsThought(event) ? thoughtShown(view, paint) : [view, []]
  const [next, outputs] = seen(thoughtless, event, paint)
  return [next, [...thoughts, ...outputs]]
}

const seen = (view: View, event: Event, paint: Paint): Step => {
  if (isTurnTerminal(event)) return ended(view)
  switch (event.eventType) {
    case "harness.ready": {
      const { driverKind, driverVersion } = event.payload
      return [view, progress(paint.dim(shownLine(`agent ${driverKind} ${driverVersion ?? "of unknown version"}`)))]
    }
    case "turn.started":
      return [{ ...view, activity: "waiting for the agent" }, []]
    case "item.delta":
      return delta(view, event.payload)
    case "item.completed":
    case "item.failed":
      return itemEnded(view, event.payload)
    case "tool.execution.started":
    case "tool.execution.progressed":
      return toolRuns(view, event.payload)
    case "tool.execution.completed":
      return toolEnded(view, event.payload, paint)
    case "workspace.change.updated":
      return [{ ...view, changes: new Map(view.changes).set(event.payload.changeSetId, event.payload.files) }, []]
    case "plan.updated":
      return [
        { ...view, plan: event.payload.steps },
        planLines(view.plan, event.payload.steps, paint).flatMap(progress)
      ]
    case "runtime_request.created":
      return asked(view, questionOf(event.payload.request, event.debug?.["native"]))
    case "runtime_request.resolved":
    case "runtime_request.expired":
    case "runtime_request.cancelled":
      return settled(view, event.payload, paint)
    case "provider.notice.recorded":
      return [view, noticeOf(event.payload, paint)]
    case "context.compacted":
      return [view, progress(paint.dim("the agent has compacted its context"))]
    default:
      return [view, []]
  }
}

/** What the agent is at, for the line that moves. */
export const activityOf = (view: View): string => {
  const running = [...view.tools.values()].at(-1)
  return running === undefined ? view.activity : toolTitle(running)
}

const progress = (line: string): ReadonlyArray<Output> => [{ channel: "progress", text: `  ${line}\n` }]

const delta = (view: View, payload: Extract<Event, { eventType: "item.delta" }>["payload"]): Step => {
  if (payload.kind === "reasoning") {
    const thought = firstCharacters(view.thought + payload.text, limits.shownThoughtCharactersMax)
    return [{ ...view, activity: "thinking", thought }, []]
  }
  const media = payload.content
  const lineEnd = view.endsLine && view.midLine ? "\n" : ""
  const raw = view.heldReturn + lineEnd + (media === undefined ? payload.text : mediaText(media))
  const heldReturn = raw.endsWith("\r") ? "\r" : ""
  const text = displayText(heldReturn === "" ? raw : raw.slice(0, -1), 2 * limits.deltaCharactersMax)
  return answered({ ...view, activity: "answering", endsLine: false, heldReturn }, text)
}

const mediaText = ({ type, mimeType, name, uri }: { type: string; mimeType?: string; name?: string; uri?: string }) =>
  `[${shownLine([type, mimeType, name ?? uri].filter((word) => word !== undefined).join(" "))}]`

const answered = (view: View, text: string): Step =>
  text === "" ? [view, []] : [{ ...view, midLine: !text.endsWith("\n") }, [{ channel: "answer", text }]]

/** A message ends with its line. */
const itemEnded = (
  view: View,
  payload: Extract<Event, { eventType: "item.completed" | "item.failed" }>["payload"]
): Step => {
  if (payload.kind === "reasoning") return [view, []]
  const complete = { ...view, heldReturn: "" }
  return view.midLine || view.heldReturn !== "" ? answered(complete, "\n") : [complete, []]
}

/** Whatever the agent says or does next. */
const endsThought = (event: Event): boolean => {
  switch (event.eventType) {
    case "item.delta":
      return event.payload.kind !== "reasoning"
    case "item.started":
    case "item.completed":
    case "item.failed":
    case "tool.execution.started":
    case "plan.updated":
    case "runtime_request.created":
      return true
    default:
      return isTurnTerminal(event)
  }
}

const thoughtShown = (view: View, paint: Paint): Step => {
  if (view.thought === "") return [view, []]
  const lines = shownLines(view.thought, limits.shownThoughtCharactersMax).filter((line) => line.trim() !== "")
  return [
    { ...view, thought: "" },
    headLines(lines, limits.shownOutputLinesMax).flatMap((line) => progress(paint.dim(`· ${line}`)))
  ]
}

const toolRuns = (view: View, tool: ToolExecution): Step => {
  const known = view.tools.get(tool.executionId)
  const running = {
    operation: tool.operation,
    title: tool.progress ?? known?.title,
    name: tool.name ?? null,
    target: tool.target ?? null
  }
  return [{ ...view, tools: new Map(view.tools).set(tool.executionId, running), endsLine: true }, []]
}

const toolEnded = (view: View, tool: ToolExecution, paint: Paint): Step => {
  const tools = new Map(view.tools)
  const changes = new Map(view.changes)
  tools.delete(tool.executionId)
  changes.delete(tool.executionId)
  const lines = toolLines(
    tool,
    view.tools.get(tool.executionId)?.title,
    view.changes.get(tool.executionId) ?? [],
    paint
  )
  return [{ ...view, tools, changes, activity: "waiting for the agent" }, lines.flatMap(progress)]
}

const asked = (view: View, question: Question): Step => [
  {
    ...view,
    counts: { ...view.counts, asked: view.counts.asked + 1 },
    questions: [...view.questions, question]
  },
  []
]

const settled = (
  view: View,
  payload: Extract<Event, { eventType: "runtime_request.resolved" }>["payload"],
  paint: Paint
): Step => {
  const question = view.questions.find(({ requestId }) => requestId === payload.requestId)
  const { allowed, isNotice, lines } = requestEnd(payload, question, paint)
  const { counts } = view
  return [
    {
      ...view,
      questions: view.questions.filter((open) => open !== question),
      counts: allowed ? { ...counts, allowed: counts.allowed + 1 } : { ...counts, denied: counts.denied + 1 }
    },
    lines.map((line) => ({ channel: isNotice ? "notice" : "progress", text: `  ${line}\n` }))
  ]
}

/** Whatever is open is over with the turn. */
const ended = (view: View): Step => [
  { ...view, activity: "ending the agent", questions: [], tools: new Map(), changes: new Map() },
  []
]

const noticeOf = (notice: ProviderNotice, paint: Paint): ReadonlyArray<Output> => {
  if (notice.severity === "info") return []
  const tone = notice.severity === "error" ? paint.red : paint.yellow
  return [{ channel: "notice", text: `  ${tone("!")} ${shownLine(notice.summary)}\n` }]
}
