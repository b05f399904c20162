/**
 * A turn of the bundled agent, and the ways in which its steps speak to the host.
 *
 * Everything that a step does goes through here, so that a cancel is noticed at every point: the next word after an abort
 * throws, and `runTurn` closes what is open.
 */
import type {
  AgentContext,
  PermissionOption,
  PlanEntry,
  SessionUpdate,
  ToolCall,
  ToolCallContent,
  ToolCallUpdate
} from "@agentclientprotocol/sdk"
import type { Session } from "./session.ts"
import { remember } from "./session.ts"

export interface Turn {
  readonly session: Session
  readonly client: AgentContext
  readonly signal: AbortSignal
  readonly openTools: Set<string>
}

/** Resolves when the host's pipe took the update. Rejects with the abort once the turn is cancelled. */
export const send = async (turn: Turn, update: SessionUpdate): Promise<void> => {
  turn.signal.throwIfAborted()
  await sendAnyway(turn, update)
}

const sendAnyway = async (turn: Turn, update: SessionUpdate): Promise<void> => {
  remember(turn.session, update)
  await turn.client.notify("session/update", { sessionId: turn.session.id, update })
}

const nextId = (turn: Turn, what: string): string => `${what}-${turn.session.nextItem++}`

export const newMessageId = (turn: Turn): string => nextId(turn, "message")

/** Streams a message in pieces, as the model of the session does: words or lines. */
export const say = async (turn: Turn, text: string, messageId = newMessageId(turn)): Promise<void> => {
  await stream(turn, "agent_message_chunk", text, messageId)
}

export const think = async (turn: Turn, text: string): Promise<void> => {
  await stream(turn, "agent_thought_chunk", text, newMessageId(turn))
}

const stream = async (
  turn: Turn,
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId: string
): Promise<void> => {
  const pieces = text.match(turn.session.model === "demo-words" ? /\S+\s*/g : /[^\n]*\n|[^\n]+/g) ?? []
  for (const piece of pieces) await send(turn, { sessionUpdate, content: { type: "text", text: piece }, messageId })
}

/** Shows the plan: what comes before `current` is done. */
export const showPlan = (turn: Turn, contents: ReadonlyArray<string>, current: number): Promise<void> =>
  send(turn, {
    sessionUpdate: "plan",
    entries: contents.map((content, index) => ({ content, priority: "medium", status: statusOf(index, current) }))
  })

const statusOf = (index: number, current: number): PlanEntry["status"] =>
  index < current ? "completed" : index === current ? "in_progress" : "pending"

export type Tool = Omit<ToolCall, "toolCallId" | "status"> & { readonly kind: NonNullable<ToolCall["kind"]> }

/** Announces a tool call and gives its id. */
export const startTool = async (turn: Turn, tool: Tool): Promise<string> => {
  const toolCallId = nextId(turn, "tool")
  turn.openTools.add(toolCallId)
  await send(turn, { sessionUpdate: "tool_call", toolCallId, status: "pending", ...tool })
  return toolCallId
}

export const updateTool = (turn: Turn, fields: ToolCallUpdate): Promise<void> =>
  send(turn, { sessionUpdate: "tool_call_update", ...fields })

export const endTool = async (
  turn: Turn,
  toolCallId: string,
  status: "completed" | "failed",
  fields: Omit<ToolCallUpdate, "toolCallId" | "status"> = {}
): Promise<void> => {
  await updateTool(turn, { toolCallId, status, ...fields })
  turn.openTools.delete(toolCallId)
}

/** Fails every tool call that is open. The one thing that is still said after a cancel. */
export const closeTools = async (turn: Turn): Promise<void> => {
  for (const toolCallId of turn.openTools)
    await sendAnyway(turn, {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
      content: [textContent("Cancelled")]
    })
  turn.openTools.clear()
}

export const textContent = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } })

const options: Array<PermissionOption> = [
  { optionId: "allow_once", name: "Allow", kind: "allow_once" },
  { optionId: "allow_always", name: "Allow for this session", kind: "allow_always" },
  { optionId: "reject_once", name: "Reject", kind: "reject_once" }
]

/** Asks the host whether a tool may run. Only an answer that names an allowing option allows it. */
export const mayRun = async (turn: Turn, toolCallId: string, tool: Tool): Promise<boolean> => {
  const { session, signal } = turn
  if (session.mode === "auto" || session.allowed.has(tool.kind)) return true
  const toolCall: ToolCallUpdate = { toolCallId, status: "pending", ...tool }
  const outcome = await turn.client
    .request(
      "session/request_permission",
      { sessionId: session.id, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true }
    )
    .then(
      (answer) => answer.outcome,
      () => undefined
    )
  signal.throwIfAborted()
  const optionId = outcome?.outcome === "selected" ? outcome.optionId : undefined
  if (optionId === "allow_always") session.allowed.add(tool.kind)
  return optionId === "allow_once" || optionId === "allow_always"
}
