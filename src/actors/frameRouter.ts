/**
 * From frames to the entries of a connection's queue: responses find their ticket, requests get an answer slot or are answered
 * at once, and everything odd is kept as an anomaly.
 *
 * Guarantees: one entry at most per frame, in the order of the frames; whatever asks for an answer has a slot or an answer
 * that is owed.
 */
import type { Frame, Invalid, Notification, Request, RequestId, Response, RpcError } from "../schema/acp/frame.ts"
import { sessionUpdateOf } from "../schema/acp/protocol.ts"
import type { ConnectionClosed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { type AnswerSlot, type AnswerSlots, safeAnswer } from "./answerSlot.ts"

/** What arrives, in order. `bytes` is the size on the wire. */
export type Entry =
  | { readonly _tag: "Update"; readonly sessionId: string; readonly update: unknown; readonly bytes: number }
  | { readonly _tag: "Notification"; readonly method: string; readonly params: unknown; readonly bytes: number }
  | {
      readonly _tag: "Response"
      readonly ticket: Ticket
      /** Meaningless when there is an `error` or it is `malformed`. */
      readonly result: unknown
      readonly error: RpcError | undefined
      /** What is wrong with it: our request will get no other answer. */
      readonly malformed: string | undefined
      readonly bytes: number
    }
  | { readonly _tag: "Request"; readonly slot: AnswerSlot; readonly params: unknown; readonly bytes: number }
  | { readonly _tag: "Withdrawn"; readonly slot: AnswerSlot; readonly bytes: number }
  | { readonly _tag: "Anomaly"; readonly anomaly: Anomaly; readonly detail: string; readonly bytes: number }
  /** Our own mark: what stands before it was read before this request was written, and cannot come of it. */
  | { readonly _tag: "Asked"; readonly ticket: Ticket; readonly bytes: number }
  /** The last one: the cause that everything pending got. */
  | { readonly _tag: "Closed"; readonly cause: ConnectionClosed; readonly bytes: number }

/** What an agent did against the protocol, or what was answered in its holder's place. None is fatal by itself. */
export type Anomaly =
  | "unmatched_response"
  | "oversized_notification"
  | "oversized_request"
  | "invalid_frame"
  | "request_refused"
  | "too_many_requests"
  | "early_frames_dropped"

/** Names one request of ours; its response is an entry of the queue. */
export interface Ticket {
  readonly id: number
  readonly method: string
}

/** What a frame makes the connection do besides queueing an entry. */
export type Duty =
  | { readonly _tag: "Refuse"; readonly id: RequestId; readonly code: number; readonly message: string }
  | { readonly _tag: "AnswerSafely"; readonly id: RequestId; readonly result: object }
  | { readonly _tag: "Retire"; readonly reason: "oversized_response" }

export interface FrameRouter {
  /** Appends to both lists. */
  readonly route: (frame: Frame, entries: Array<Entry>, duties: Array<Duty>) => void
  /** From now on a response with this id is the ticket's. */
  readonly expect: (ticket: Ticket) => void
}

export const makeFrameRouter = (slots: AnswerSlots): FrameRouter => {
  const tickets = new Map<number, Ticket>()

  const notification = (frame: Notification): Entry | undefined => {
    if (frame.method === "$/cancel_request") {
      const slot = slots.openById(requestIdOf(frame.params))
      return slot === undefined ? undefined : { _tag: "Withdrawn", slot, bytes: frame.bytes }
    }
    const found = frame.method === "session/update" ? sessionUpdateOf(frame.params) : undefined
    return found === undefined
      ? { _tag: "Notification", method: frame.method, params: frame.params, bytes: frame.bytes }
      : { _tag: "Update", sessionId: found.sessionId, update: found.update, bytes: frame.bytes }
  }

  const settle = (id: RequestId | undefined): Ticket | undefined => {
    const ticket = typeof id === "number" ? tickets.get(id) : undefined
    if (ticket !== undefined) tickets.delete(ticket.id)
    return ticket
  }

  const response = ({ id, result, error, bytes }: Response): Entry => {
    const ticket = settle(id)
    return ticket === undefined
      ? anomaly("unmatched_response", typeof id, bytes)
      : { _tag: "Response", ticket, result, error, malformed: undefined, bytes }
  }

  const request = ({ id, method, params, bytes }: Request, duties: Array<Duty>): Entry => {
    if (!isEchoable(id)) {
      duties.push({ _tag: "Refuse", id: null, code: invalidRequest, message: "Id too long" })
      return anomaly("invalid_frame", "id", bytes)
    }
    const safe = safeAnswer(method)
    if (safe._tag === "Refuse") {
      duties.push({ _tag: "Refuse", id, code: methodNotFound, message: "Method not found" })
      return anomaly("request_refused", method, bytes)
    }
    const slot = slots.create(id, method, safe.result)
    if (slot !== undefined) return { _tag: "Request", slot, params, bytes }
    duties.push({ _tag: "AnswerSafely", id, result: safe.result })
    return anomaly("too_many_requests", method, bytes)
  }

  const invalid = (frame: Invalid, duties: Array<Duty>): Entry => {
    if (frame.id !== undefined) {
      const id = isEchoable(frame.id) ? frame.id : null
      duties.push({ _tag: "Refuse", id, code: invalidRequest, message: "Invalid request" })
    }
    const ticket = settle(frame.responseTo)
    return ticket === undefined
      ? anomaly("invalid_frame", frame.reason, frame.bytes)
      : { _tag: "Response", ticket, result: undefined, error: undefined, malformed: frame.reason, bytes: frame.bytes }
  }

  const oversized = (frame: Extract<Frame, { _tag: "Oversized" }>, duties: Array<Duty>): Entry | undefined => {
    switch (frame.kind) {
      case "response":
        // The prompt's own answer may be lost with it: nothing on this connection can be trusted to end.
        duties.push({ _tag: "Retire", reason: "oversized_response" })
        return undefined
      case "request":
        if (frame.id !== undefined) {
          duties.push({ _tag: "Refuse", id: frame.id, code: invalidRequest, message: "Frame too large" })
        }
        return anomaly("oversized_request", `${frame.bytes} bytes`, 0)
      case "notification":
        return anomaly("oversized_notification", `${frame.bytes} bytes`, 0)
    }
  }

  const entryOf = (frame: Frame, duties: Array<Duty>): Entry | undefined => {
    switch (frame._tag) {
      case "Notification":
        return notification(frame)
      case "Response":
        return response(frame)
      case "Request":
        return request(frame, duties)
      case "Invalid":
        return invalid(frame, duties)
      case "Oversized":
        return oversized(frame, duties)
    }
  }

  return {
    route: (frame, entries, duties) => {
      const entry = entryOf(frame, duties)
      if (entry !== undefined) entries.push(entry)
    },
    expect: (ticket) => void tickets.set(ticket.id, ticket)
  }
}

/** An id goes back with every answer, and is held until then. */
const isEchoable = (id: RequestId): boolean => typeof id !== "string" || id.length <= limits.notedValueBytesMax

const methodNotFound = -32601
const invalidRequest = -32600

const anomaly = (what: Anomaly, detail: string, bytes: number): Entry => ({
  _tag: "Anomaly",
  anomaly: what,
  detail,
  bytes
})

const requestIdOf = (params: unknown): unknown =>
  typeof params === "object" && params !== null && "requestId" in params ? params.requestId : undefined
