/** What is open from one event to another: requests, turns and sessions. Kept in the commits of those two events. */
import type { EventDraft } from "../schema/prp/event.ts"
import type { OpenSession, OpenTurn } from "../schema/prp/recoveryDrafts.ts"
import type { Change } from "../services/JournalStore.ts"
import type { Entry } from "./Journal.ts"

/** The change that comes with the event. A session that goes on under another run is that run's. */
export const openChange = (draft: EventDraft, entry: Entry, json: string): Change | undefined => {
  switch (draft.eventType) {
    case "runtime_request.created":
      return { _tag: "Request", requestId: draft.payload.request.requestId, created: JSON.parse(json) }
    case "runtime_request.resolved":
    case "runtime_request.expired":
    case "runtime_request.cancelled":
      return { _tag: "Request", requestId: draft.payload.requestId, created: undefined }
    case "turn.submitted":
      return turnChange(draft, entry, true)
    case "turn.completed":
    case "turn.failed":
    case "turn.interrupted":
    case "turn.cancelled":
      return turnChange(draft, entry, false)
    case "session.starting":
    case "session.started":
    case "run.attached":
      return sessionChange(entry, true)
    case "session.closed":
    case "session.failed":
    case "run.detached":
      return sessionChange(entry, false)
    default:
      return undefined
  }
}

const turnChange = ({ turnId }: EventDraft, { runId, sessionId }: Entry, isOpen: boolean): Change | undefined => {
  if (turnId === undefined) return undefined
  const value: OpenTurn | undefined = isOpen ? { runId, sessionId, turnId } : undefined
  return { _tag: "Record", kind: "turn", id: `${sessionId}/${turnId}`, value }
}

const sessionChange = ({ runId, sessionId }: Entry, isOpen: boolean): Change => {
  const value: OpenSession | undefined = isOpen ? { runId, sessionId } : undefined
  return { _tag: "Record", kind: "session", id: sessionId, value }
}
