/** Requests of the agent as event drafts: created, and how they ended. */
import type { PermissionRequest, RequestResolution, UndeliveredReason } from "../request.ts"
import { draftOf, type EventDraft } from "./event.ts"
import { isEmpty, nativeAt } from "./native.ts"
import { redactedJson } from "./redactedJson.ts"
import type { RuntimeRequest } from "./runtimeRequest.ts"

/** Everything that a person needs to decide stands in the open part of the request. */
export const requestCreated = (request: PermissionRequest): EventDraft =>
  draftOf("runtime_request.created", { request: pending(request) }, about(request, { native: request.raw }))

/** Somebody or a policy answered, and the operating system took the answer. */
export const requestResolved = (request: PermissionRequest, resolution: RequestResolution): EventDraft =>
  draftOf("runtime_request.resolved", settled(resolution, actionOf(resolution)), about(request))

/** Answered without a decision: withdrawn, expired, refused, or its turn is over. */
export const requestEnded = (request: PermissionRequest, resolution: RequestResolution): EventDraft =>
  draftOf(
    resolution.by === "expired" ? "runtime_request.expired" : "runtime_request.cancelled",
    settled(resolution, "cancel"),
    about(request)
  )

/** No answer reached the agent, and none ever will. */
export const requestUndelivered = (
  request: PermissionRequest,
  reason: UndeliveredReason,
  resolution: RequestResolution | undefined
): EventDraft =>
  draftOf(
    "runtime_request.cancelled",
    {
      requestId: request.requestId,
      requestKind: "runtime",
      action: "undelivered",
      reason,
      ...(resolution === undefined ? {} : { intended: actionOf(resolution), by: resolution.by })
    },
    about(request)
  )

const pending = (request: PermissionRequest): RuntimeRequest => ({
  schema: "paperclip.runtime_request.v1",
  requestKind: "runtime",
  requestId: request.requestId,
  type: "permission",
  status: "pending",
  prompt: request.title === "" ? request.kind : request.title,
  choices: request.options.flatMap(({ optionId, name, kind }) =>
    optionId === "" ? [] : [{ key: optionId, label: name === "" ? optionId : name, kind }]
  ),
  toolCallId: request.toolCallId,
  toolKind: request.kind,
  target: request.target,
  locations: request.locations,
  content: request.content,
  ...toolInput(nativeAt(request.raw, "toolCall", "rawInput"))
})

/** Bounded, without secrets. */
const toolInput = (rawInput: unknown) => {
  if (isEmpty(rawInput)) return {}
  const { isWhole, text } = redactedJson(rawInput)
  return { toolInput: text, toolInputWhole: isWhole }
}

const about = (request: PermissionRequest, debug?: Readonly<Record<string, unknown>>) =>
  debug === undefined ? { turnId: request.turnId } : { turnId: request.turnId, debug }

const settled = (resolution: RequestResolution, action: string) => ({
  requestId: resolution.requestId,
  requestKind: "runtime",
  action,
  by: resolution.by,
  ...(resolution.reason === undefined ? {} : { reason: resolution.reason }),
  ...(resolution.optionKind === undefined ? {} : { optionKind: resolution.optionKind })
})

/** In PRP's words for choices. */
const actionOf = ({ answer, optionKind }: RequestResolution): string => {
  if (answer._tag !== "Selected") return "cancel"
  switch (optionKind) {
    case "allow_once":
      return "accept"
    case "allow_always":
      return "accept_always"
    case "reject_once":
    case "reject_always":
      return "decline"
    default:
      return "select"
  }
}
