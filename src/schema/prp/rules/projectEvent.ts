/** What an event that is taken changes in what is known of the session. Goals and everything unnamed change nothing. */
import { isNativeObject } from "../native.ts"
import type { ItemState, RequestState, SessionSnapshot } from "./sessionSnapshot.ts"
import { endOfRequest, requestOf, wordAt } from "./timelineSummary.ts"

/** What of an event is looked at, whatever else it holds. */
export interface ProjectedEvent {
  readonly eventType: string
  readonly turnId?: string | undefined
  readonly itemId?: string | undefined
  readonly payload: unknown
}

/** A snapshot in the making. */
export interface Projection {
  runPhase: SessionSnapshot["runPhase"]
  sessionState: SessionSnapshot["sessionState"]
  turnState: SessionSnapshot["turnState"]
  activeTurnId: SessionSnapshot["activeTurnId"]
  proposedResult: SessionSnapshot["proposedResult"]
  terminal: SessionSnapshot["terminal"]
  readonly items: Map<string, ItemState>
  readonly requests: Map<string, RequestState>
}

/** Changes the projection in place. */
export const projectEvent = (state: Projection, event: ProjectedEvent): void => {
  const { eventType, payload } = event
  switch (eventType) {
    case "runtime.phase.changed":
      state.runPhase = wordAt(payload, "phase") ?? state.runPhase
      break
    case "session.started":
    case "session.resumed":
      state.sessionState = "running"
      break
    case "session.closed":
      state.sessionState = "closed"
      break
    case "session.failed":
      state.sessionState = "failed"
      break
    case "turn.started":
      state.turnState = "running"
      state.activeTurnId = event.turnId ?? null
      break
    case "turn.completed":
      return endTurn(state, "completed")
    case "turn.failed":
      return endTurn(state, "failed")
    case "turn.interrupted":
      return endTurn(state, "interrupted")
    case "turn.cancelled":
      return endTurn(state, "cancelled")
    case "item.started":
    case "item.delta":
      return changeItem(state, event, "running")
    case "item.completed":
      return changeItem(state, event, "completed")
    case "item.failed":
      return changeItem(state, event, "failed")
    case "runtime_request.created":
      return addRequest(state, requestOf(payload))
    case "runtime_request.resolved":
    case "runtime_request.expired":
    case "runtime_request.cancelled":
      return endRequest(state, wordAt(payload, "requestId") ?? "", endOfRequest(eventType))
    case "run.result.proposed":
      state.proposedResult = isNativeObject(payload) ? payload : {}
      break
    case "run.terminal":
      state.terminal = isNativeObject(payload) ? payload : {}
      state.runPhase = "terminal"
  }
}

/** Requests that wait stay as they are: only an event of their own ends them. */
const endTurn = (state: Projection, turnState: Projection["turnState"]): void => {
  state.turnState = turnState
  state.activeTurnId = null
}

const changeItem = (state: Projection, { eventType, itemId, payload }: ProjectedEvent, status: ItemState["status"]) => {
  if (itemId === undefined) return
  const known = state.items.get(itemId)
  const text = wordAt(payload, "text") ?? ""
  const before = known?.text ?? ""
  state.items.set(itemId, {
    itemId,
    kind: wordAt(payload, "kind") ?? known?.kind ?? "diagnostic",
    status,
    text: eventType === "item.delta" ? before + text : text === "" ? before : text
  })
}

/** Without an id nothing could end it. */
const addRequest = (state: Projection, request: RequestState): void => {
  if (request.requestId !== "" && !state.requests.has(request.requestId)) state.requests.set(request.requestId, request)
}

const endRequest = (state: Projection, requestId: string, status: string): void => {
  const known = state.requests.get(requestId)
  if (known !== undefined) state.requests.set(requestId, { ...known, status })
}
