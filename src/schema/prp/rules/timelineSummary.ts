/** One line of a timeline for an event. The texts are part of the contract: readers compare them. */
import { nativeAt } from "../native.ts"
import type { RequestState } from "./sessionSnapshot.ts"

/** `request` is the known request that the event ends, if it is such an event and the request is known. */
export const timelineSummary = (eventType: string, payload: unknown, request: RequestState | undefined): string => {
  const word = (name: string, absent: string): string => wordAt(payload, name) ?? absent
  switch (eventType) {
    case "runtime.phase.changed":
      return `Phase changed to ${spaced(word("phase", "unknown"))}`
    case "item.started":
      return `Started ${word("kind", "item")}`
    case "item.delta":
      return word("text", "Item updated")
    case "item.completed":
      return `Completed ${word("kind", "item")}`
    case "item.failed":
      return word("message", "Item failed")
    case "run.result.proposed":
      return word("summary", "Structured result proposed")
    case "run.terminal":
      return `Run ${word("runTerminalState", "terminal")}`
    case "runner.diagnostic":
    case "harness.diagnostic":
      return word("message", "") || capitalized(spaced(word("code", ""))) || plain(eventType)
    case "runtime_request.created":
      return requestText(requestOf(payload))
    case "runtime_request.resolved":
    case "runtime_request.expired":
    case "runtime_request.cancelled":
      return requestEnd(capitalized(endOfRequest(eventType)), word("requestId", ""), request)
    default:
      return plain(eventType)
  }
}

/** A string, or `undefined`: what has another type counts as absent. */
export const wordAt = (value: unknown, name: string): string | undefined => {
  const word = nativeAt(value, name)
  return typeof word === "string" ? word : undefined
}

/** The request that a `runtime_request.created` tells of: its `request`, or the payload itself. */
export const requestOf = (payload: unknown): RequestState => {
  const request = nativeAt(payload, "request") ?? payload
  return {
    requestId: wordAt(request, "requestId") ?? "",
    requestKind: wordAt(request, "requestKind") ?? "runtime",
    type: wordAt(request, "type") ?? "runtime",
    status: wordAt(request, "status") ?? "pending",
    prompt: wordAt(request, "prompt") ?? ""
  }
}

/** The last word of the event type, which is the new status of the request. */
export const endOfRequest = (eventType: string): string => eventType.slice(eventType.lastIndexOf(".") + 1)

const requestText = ({ type, prompt }: RequestState): string =>
  prompt === "" ? `${type} request` : `${type}: ${prompt}`

const requestEnd = (end: string, requestId: string, request: RequestState | undefined): string =>
  request === undefined ? `${end} runtime request ${requestId}`.trim() : `${end} ${requestText(request)}`

const plain = (eventType: string): string => eventType.replaceAll(".", " ")

const spaced = (word: string): string => word.replaceAll("_", " ")

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
