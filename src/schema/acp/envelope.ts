/**
 * The JSON-RPC envelope: tells requests, notifications and responses apart, and what only looks like one.
 *
 * Guarantees: an object that does not say `"jsonrpc":"2.0"` is never taken for a response, so a structured log line with an
 * `id` cannot settle anything. An id keeps its JSON type. Whatever asks for an answer and is no valid request is `Invalid`
 * with the id to answer. Unknown keys beside the envelope's own are ignored and stay in `raw`.
 */
/** `0`, `"0"`, `""` and `null` are four different ids. */
export type RequestId = string | number | null

/** A parsed line. It is an object because the line started with `{`; nothing else is known of it. */
export interface RawFrame {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** The error of a response, in the peer's own words. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** In all frames `raw` is the whole parsed line and `bytes` its length without the line end. */
export interface Request {
  readonly _tag: "Request"
  readonly id: RequestId
  readonly method: string
  /** As it came; `undefined` when absent. Not checked here. */
  readonly params: unknown
  readonly raw: RawFrame
  readonly bytes: number
}

export interface Notification {
  readonly _tag: "Notification"
  readonly method: string
  /** As it came; `undefined` when absent. Not checked here. */
  readonly params: unknown
  readonly raw: RawFrame
  readonly bytes: number
}

export interface Response {
  readonly _tag: "Response"
  readonly id: RequestId
  /** Meaningless when there is an `error`. */
  readonly result: unknown
  readonly error: RpcError | undefined
  readonly raw: RawFrame
  readonly bytes: number
}

/** An object that claims the envelope and breaks its rules. At most one of `id` and `responseTo` is there. */
export interface Invalid {
  readonly _tag: "Invalid"
  /**
   * Asks for an answer: -32600, once, to this id. `null` when its own id cannot be echoed, as JSON-RPC demands.
   * `undefined`: nothing is to be answered.
   */
  readonly id: RequestId | undefined
  /** A malformed response to our request of this id, which will get no other if it is pending. */
  readonly responseTo: RequestId | undefined
  readonly reason: "version" | "id" | "method" | "outcome" | "error" | "empty"
  readonly raw: RawFrame
  readonly bytes: number
}

export type Envelope = Request | Notification | Response | Invalid

/** Reads the envelope of a parsed line; `undefined`: not a frame at all, the line is noise. */
export const readEnvelope = (raw: RawFrame, bytes: number): Envelope | undefined => {
  if (raw.jsonrpc !== "2.0") return readForeign(raw, bytes)
  const { id, method } = raw
  if (typeof method === "string") {
    if (id === undefined) return { _tag: "Notification", method, params: raw.params, raw, bytes }
    if (isRequestId(id)) return { _tag: "Request", id, method, params: raw.params, raw, bytes }
    return refused("id", raw, bytes)
  }
  if (method === undefined) return readResponse(raw, bytes)
  return refused("method", raw, bytes)
}

/** Whether an id can be echoed exactly. An integer beyond 2^53 cannot: parsing has already rounded it. */
export const isRequestId = (id: unknown): id is RequestId =>
  typeof id === "string" ||
  id === null ||
  (typeof id === "number" && (Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id))))

/** The id under which a request is answered whose own id may be unusable. */
export const answerableId = (id: unknown): RequestId => (isRequestId(id) ? id : null)

const envelopeKeys: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"])

/**
 * Without the right version it is a log line, unless it holds the keys of a request and no others: then somebody waits for
 * an answer. It is never a response.
 */
const readForeign = (raw: RawFrame, bytes: number): Invalid | undefined => {
  const claims = raw.jsonrpc !== undefined || (asks(raw) && Object.keys(raw).every((key) => envelopeKeys.has(key)))
  return claims ? refused("version", raw, bytes) : undefined
}

const asks = (raw: RawFrame): boolean => raw.id !== undefined && raw.method !== undefined

/** A `null` beside its counterpart counts as absent: some peers always send both `result` and `error`. */
const readResponse = (raw: RawFrame, bytes: number): Response | Invalid => {
  const { id, result, error } = raw
  if (!isRequestId(id)) return refused("id", raw, bytes)
  if (result === undefined && error === undefined) return malformedResponse(id, "empty", raw, bytes)
  if (result !== undefined && (error === undefined || error === null)) {
    return { _tag: "Response", id, result, error: undefined, raw, bytes }
  }
  if (result !== undefined && result !== null) return malformedResponse(id, "outcome", raw, bytes)
  if (!isRpcError(error)) return malformedResponse(id, "error", raw, bytes)
  return { _tag: "Response", id, result: undefined, error, raw, bytes }
}

const isRpcError = (error: unknown): error is RpcError =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  typeof error.code === "number" &&
  "message" in error &&
  typeof error.message === "string"

const refused = (reason: Invalid["reason"], raw: RawFrame, bytes: number): Invalid => {
  const id = asks(raw) ? answerableId(raw.id) : undefined
  return { _tag: "Invalid", id, responseTo: undefined, reason, raw, bytes }
}

const malformedResponse = (
  responseTo: RequestId,
  reason: Invalid["reason"],
  raw: RawFrame,
  bytes: number
): Invalid => ({ _tag: "Invalid", id: undefined, responseTo, reason, raw, bytes })
