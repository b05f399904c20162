import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Draft, EmittedEvent, envelope, type EventDraft } from "../../../src/schema/prp/event.ts"
import type { EmittedEventType, EventPayloads } from "../../../src/schema/prp/payload.ts"
import {
  initialState,
  project,
  type ProjectionInput,
  type ProjectionState
} from "../../../src/schema/prp/projection.ts"

export const workspace = "/workspace"

export const agent = { provider: "fake", model: null }

export const turnState = (turnId = "t1") => initialState({ _tag: "Turn", turnId }, agent)

export const sessionState = () => initialState({ _tag: "Session", sessionId: "s1" }, agent)

export const update = (value: unknown): ProjectionInput => ({ _tag: "Update", update: value, workspace })

export const ended = (how: "completed" | "failed" | "cancelled"): ProjectionInput => ({ _tag: "TurnEnded", how })

/** Projects the inputs in order; every draft must make a valid event. */
export const feed = (state: ProjectionState, ...inputs: ReadonlyArray<ProjectionInput>) => {
  const drafts: Array<EventDraft> = []
  let current = state
  for (const input of inputs) {
    const [next, made] = project(current, input)
    current = next
    drafts.push(...made)
  }
  for (const draft of drafts) requireValid(draft)
  return { state: current, drafts }
}

/** Feeds updates of one turn. */
export const feedTurn = (...updates: ReadonlyArray<unknown>) => feed(turnState(), ...updates.map(update))

export const eventOf = (draft: EventDraft) =>
  envelope(draft, {
    sourceEventId: "e1",
    sourceSeq: 1,
    sourceInstanceId: "i1",
    runId: "r1",
    emittedAt: "2026-01-02T03:04:05.678Z",
    normalizedSessionId: "s1"
  })

const decodeEmitted = Schema.decodeUnknownResult(EmittedEvent)

/** As it would be read from a wire. `debug` is not encoded: it may be deeper than an encoder goes. */
export const requireValid = (draft: EventDraft) => {
  const { debug, ...shown } = eventOf(draft)
  const read: object = JSON.parse(JSON.stringify(shown))
  const validated = decodeEmitted(debug === undefined ? read : { ...read, debug })
  if (Result.isFailure(validated)) throw new Error(`${draft.eventType}: ${validated.failure.message}`)
}

export const types = (drafts: ReadonlyArray<EventDraft>) => drafts.map((draft) => draft.eventType)

/** The payloads of one event type. */
export const payloadsOf = <Type extends EmittedEventType>(
  drafts: ReadonlyArray<EventDraft>,
  eventType: Type
): ReadonlyArray<EventPayloads[Type]> => {
  const isOne = (draft: EventDraft): draft is EventDraft & Draft<Type> => draft.eventType === eventType
  return drafts.filter(isOne).map((draft): EventPayloads[Type] => draft.payload)
}

export const message = (text: string, messageId?: string) => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
  ...(messageId === undefined ? {} : { messageId })
})

export const thought = (text: string) => ({ ...message(text), sessionUpdate: "agent_thought_chunk" })

export const toolCall = (toolCallId: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: "A tool",
  kind: "execute",
  status: "pending",
  ...fields
})

export const toolUpdate = (toolCallId: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  ...fields
})

export const textContent = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => ({ type: "content", content: { type: "text", text } }))
