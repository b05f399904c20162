/**
 * The life of one permission request, as a reducer. The actor around it performs the outputs in order and feeds back what came
 * of them; it decides nothing.
 *
 * Guarantees, for any order of inputs: at most one `Write`; `RecordCreated` once and before every other output; nothing is
 * recorded as resolved before its write was acknowledged; after the answer was handed out every other answer is refused with a
 * reason and changes nothing; an answer that names no offered option changes nothing. Authority dies with the connection:
 * what could not be written is recorded as undelivered and never tried again.
 *
 * | state \ input | Decided | Persisted | Answered | Withdrawn, TurnOver, DeadlineFired | WriteAcknowledged | WriteFailed | ConnectionClosed | RecordAcknowledged |
 * |---|---|---|---|---|---|---|---|---|
 * | Received | Persisting, or Answering | - | refuse unknown_request | Answering (cancelled) | - | - | Undelivered | - |
 * | Persisting | - | Shown | refuse unknown_request | Answering (cancelled) | - | - | Undelivered | - |
 * | Shown | - | - | Answering; refuse option_not_offered | Answering (cancelled) | - | - | Undelivered | - |
 * | Answering | - | - | refuse already_answered or stale | - | Delivered | Undelivered | Undelivered | - |
 * | Delivered | - | - | refuse already_answered or stale | - | - | - | - | Recorded |
 * | Recorded (end) | - | - | refuse already_answered or stale | - | - | - | - | - |
 * | Undelivered (end) | - | - | refuse connection_dead | - | - | - | - | - |
 *
 * `-` changes nothing and says nothing. `stale`: the request was settled by something else than an answer.
 */
import { rpcErrorCodes } from "../schema/acp/protocol.ts"
import { type AnswerRefused, invariant } from "../schema/errors.ts"
import type {
  NativeAnswer,
  PermissionRequest,
  RequestAnswer,
  RequestResolution,
  SettledBy,
  UndeliveredReason
} from "../schema/request.ts"
import type { Decision } from "../services/permissionPolicy.ts"

/** Of the request itself the machine needs no more than this. */
export type Answerable = Pick<PermissionRequest, "requestId" | "options">

export type RequestState =
  | { readonly _tag: "Received"; readonly request: Answerable }
  /** To be asked; its record is being written. */
  | { readonly _tag: "Persisting"; readonly request: Answerable }
  | { readonly _tag: "Shown"; readonly request: Answerable }
  /** The one answer was handed to the writer. */
  | { readonly _tag: "Answering"; readonly request: Answerable; readonly resolution: RequestResolution }
  /** The operating system took the answer; its record is being written. */
  | { readonly _tag: "Delivered"; readonly request: Answerable; readonly resolution: RequestResolution }
  | { readonly _tag: "Recorded"; readonly request: Answerable; readonly resolution: RequestResolution }
  | { readonly _tag: "Undelivered"; readonly request: Answerable; readonly reason: UndeliveredReason }

export type RequestInput =
  | { readonly _tag: "Decided"; readonly decision: Decision }
  /** The record of the request is as durable as the journal makes it. */
  | { readonly _tag: "Persisted" }
  | { readonly _tag: "Answered"; readonly answer: RequestAnswer }
  /** `$/cancel_request` of the agent. */
  | { readonly _tag: "Withdrawn" }
  | { readonly _tag: "TurnOver"; readonly how: "cancelled" | "ended" }
  | { readonly _tag: "DeadlineFired" }
  | { readonly _tag: "WriteAcknowledged" }
  | { readonly _tag: "WriteFailed"; readonly reason: UndeliveredReason }
  | { readonly _tag: "ConnectionClosed" }
  /** The record of the resolution is as durable as the journal makes it. */
  | { readonly _tag: "RecordAcknowledged" }

export type RefusalReason = AnswerRefused["reason"]

export type RequestOutput =
  /** Answered with `Persisted`, which only a request that will be shown waits for. */
  | { readonly _tag: "RecordCreated" }
  | { readonly _tag: "Show" }
  /** To the answer slot; answered with `WriteAcknowledged` or `WriteFailed`. */
  | { readonly _tag: "Write"; readonly answer: NativeAnswer }
  /** Answered with `RecordAcknowledged`. */
  | { readonly _tag: "RecordResolved"; readonly resolution: RequestResolution }
  /** No answer reached the agent and none ever will. `resolution`: what could not be written. */
  | {
      readonly _tag: "RecordUndelivered"
      readonly reason: UndeliveredReason
      readonly resolution: RequestResolution | undefined
    }
  /** Reply to whoever's answer won: the operating system took it. */
  | { readonly _tag: "ConfirmAnswer" }
  /** Reply to whoever's answer won: it did not reach the agent. */
  | { readonly _tag: "FailAnswer"; readonly reason: RefusalReason }
  /** Reply to the answer at hand, which changed nothing. */
  | { readonly _tag: "RefuseAnswer"; readonly reason: RefusalReason }

export type RequestStep = readonly [RequestState, ReadonlyArray<RequestOutput>]

export const received = (request: Answerable): RequestState => ({ _tag: "Received", request })

/** Nothing will come of further inputs but refusals. */
export const isSettled = (state: RequestState): boolean => state._tag === "Recorded" || state._tag === "Undelivered"

export const step = (state: RequestState, input: RequestInput): RequestStep => {
  switch (input._tag) {
    case "Decided":
      return state._tag === "Received" ? decided(state, input.decision) : [state, []]
    case "Persisted":
      return state._tag === "Persisting" ? [{ ...state, _tag: "Shown" }, [{ _tag: "Show" }]] : [state, []]
    case "Answered":
      return answered(state, input.answer)
    case "Withdrawn":
      return cancelled(state, "withdrawn")
    case "TurnOver":
      return cancelled(state, input.how === "cancelled" ? "turn_cancelled" : "turn_ended")
    case "DeadlineFired":
      return cancelled(state, "expired")
    case "WriteAcknowledged":
      return state._tag === "Answering" ? delivered(state.request, state.resolution) : [state, []]
    case "WriteFailed":
      return state._tag === "Answering" ? undelivered(state, input.reason) : [state, []]
    case "ConnectionClosed":
      return undelivered(state, "connection_dead")
    case "RecordAcknowledged":
      return state._tag === "Delivered" ? [{ ...state, _tag: "Recorded" }, []] : [state, []]
  }
}

const decided = (state: RequestState, decision: Decision): RequestStep => {
  switch (decision._tag) {
    case "Ask":
      return [{ _tag: "Persisting", request: state.request }, [{ _tag: "RecordCreated" }]]
    case "Allow":
      return answering(state, selection(state.request, decision.optionId, "policy", decision.reason))
    case "Deny":
      return decision.optionId === undefined
        ? answering(state, { ...cancellation(state.request, decision.by), reason: decision.reason })
        : answering(state, selection(state.request, decision.optionId, decision.by, decision.reason))
    case "Refuse": {
      const answer: NativeAnswer = {
        _tag: "Error",
        code: rpcErrorCodes.invalidParams,
        message: `Invalid params: ${decision.reason}`
      }
      return answering(state, {
        requestId: state.request.requestId,
        by: "refused",
        answer,
        reason: decision.reason
      })
    }
  }
}

const answered = (state: RequestState, answer: RequestAnswer): RequestStep => {
  if (state._tag !== "Shown") return [state, [{ _tag: "RefuseAnswer", reason: refusalIn(state) }]]
  if (answer._tag === "Cancelled") return answering(state, cancellation(state.request, "answer"))
  const isOffered = state.request.options.some((option) => option.optionId === answer.optionId)
  if (!isOffered) return [state, [{ _tag: "RefuseAnswer", reason: "option_not_offered" }]]
  return answering(state, selection(state.request, answer.optionId, "answer"))
}

const cancelled = (state: RequestState, by: SettledBy): RequestStep =>
  isOpen(state) ? answering(state, cancellation(state.request, by)) : [state, []]

/** The only place from which an answer leaves; no state behind it leads back. */
const answering = (state: RequestState, resolution: RequestResolution): RequestStep => [
  { _tag: "Answering", request: state.request, resolution },
  [...created(state), { _tag: "Write", answer: resolution.answer }]
]

const delivered = (request: Answerable, resolution: RequestResolution): RequestStep => [
  { _tag: "Delivered", request, resolution },
  resolution.by === "answer"
    ? [{ _tag: "RecordResolved", resolution }, { _tag: "ConfirmAnswer" }]
    : [{ _tag: "RecordResolved", resolution }]
]

const undelivered = (state: RequestState, reason: UndeliveredReason): RequestStep => {
  if (!isOpen(state) && state._tag !== "Answering") return [state, []]
  const resolution = state._tag === "Answering" ? state.resolution : undefined
  const outputs: Array<RequestOutput> = [...created(state), { _tag: "RecordUndelivered", reason, resolution }]
  if (resolution?.by === "answer") outputs.push({ _tag: "FailAnswer", reason })
  return [{ _tag: "Undelivered", request: state.request, reason }, outputs]
}

/** A request that ends before anything was said of it is recorded first. */
const created = (state: RequestState): ReadonlyArray<RequestOutput> =>
  state._tag === "Received" ? [{ _tag: "RecordCreated" }] : []

const isOpen = (state: RequestState): boolean =>
  state._tag === "Received" || state._tag === "Persisting" || state._tag === "Shown"

/** Why an answer changes nothing in a state that takes none. */
export const refusalIn = (state: RequestState): RefusalReason => {
  switch (state._tag) {
    case "Received":
    case "Persisting":
    case "Shown":
      return "unknown_request"
    case "Undelivered":
      return "connection_dead"
    default:
      return answeredBy.has(state.resolution.by) ? "already_answered" : "stale"
  }
}

const answeredBy: ReadonlySet<SettledBy> = new Set<SettledBy>(["answer", "policy", "headless", "refused"])

const selection = (request: Answerable, optionId: string, by: SettledBy, reason?: string): RequestResolution => {
  const option = request.options.find((offered) => offered.optionId === optionId)
  invariant(option !== undefined, "a decision names an offered option", optionId)
  return {
    requestId: request.requestId,
    by,
    answer: { _tag: "Selected", optionId: option.nativeOptionId },
    optionKind: option.kind,
    ...(reason === undefined ? {} : { reason })
  }
}

const cancellation = (request: Answerable, by: SettledBy): RequestResolution => ({
  requestId: request.requestId,
  by,
  answer: { _tag: "Cancelled" }
})
