/**
 * A request that an agent makes of its user, as the host sees it: what is asked, what may be answered, what was answered.
 *
 * Every text here is safe to show. What the agent must get back (its JSON-RPC id, its option id) is kept beside, as it came:
 * `0`, `""`, `"0"` and `null` are four different ids.
 */
import * as Schema from "effect/Schema"

/** The JSON-RPC id with its JSON type. Unique only together with its connection. */
export const NativeRequestId = Schema.Union([Schema.String, Schema.Number, Schema.Null])
export type NativeRequestId = typeof NativeRequestId.Type

/** The agent's own word for what the tool does. `unknown`: none, or one that ACP does not know. Never proof. */
export const RequestKind = Schema.Literals([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
  "unknown"
])
export type RequestKind = typeof RequestKind.Type

/** `unknown`: a kind that ACP does not know. It is shown and can be chosen by a person, never by a policy. */
export const OptionKind = Schema.Literals(["allow_once", "allow_always", "reject_once", "reject_always", "unknown"])
export type OptionKind = typeof OptionKind.Type

export const PermissionOption = Schema.Struct({
  /** Names the option in an answer to us. Safe to show; the agent's own id unless that holds unsafe characters. */
  optionId: Schema.String,
  /** What the agent gets back. */
  nativeOptionId: Schema.String,
  name: Schema.String,
  kind: OptionKind
})
export type PermissionOption = typeof PermissionOption.Type

/**
 * What the request is about. `Inside`: every place that names a path names this one, and by its text it lies in the
 * workspace (`path` is relative to it, `.` is the workspace itself). Only a real path proves it. `None`: no single target
 * can be told, for this reason.
 */
export const RequestTarget = Schema.Union([
  Schema.TaggedStruct("Inside", { path: Schema.String }),
  Schema.TaggedStruct("None", { reason: Schema.String })
])
export type RequestTarget = typeof RequestTarget.Type

/** What the agent shows with its request, cut to a bound. */
export const RequestContent = Schema.Union([
  Schema.TaggedStruct("Text", { text: Schema.String, truncated: Schema.Boolean }),
  Schema.TaggedStruct("Diff", {
    path: Schema.String,
    oldText: Schema.NullOr(Schema.String),
    newText: Schema.String,
    truncated: Schema.Boolean
  }),
  /** A block that is not shown, by its type. */
  Schema.TaggedStruct("Other", { type: Schema.String })
])
export type RequestContent = typeof RequestContent.Type

export const PermissionRequest = Schema.Struct({
  /** Ours, unique for ever. */
  requestId: Schema.String,
  turnId: Schema.String,
  /** The agent's session id. */
  sessionId: Schema.String,
  nativeId: NativeRequestId,
  /** Safe to show. Some agents use one id for several calls, so it identifies nothing. */
  toolCallId: Schema.String,
  title: Schema.String,
  kind: RequestKind,
  target: RequestTarget,
  options: Schema.Array(PermissionOption),
  locations: Schema.Array(Schema.String),
  content: Schema.Array(RequestContent),
  /** The params of the agent's request as they came. Not safe to show. */
  raw: Schema.Unknown
})
export type PermissionRequest = typeof PermissionRequest.Type

/**
 * Who decides. `ask`: a person, about everything. `approve-reads`: reads and searches of one place in the workspace pass,
 * the rest is asked. `approve-all` and `deny-all` ask nobody.
 */
export const PermissionPolicy = Schema.Literals(["ask", "approve-reads", "approve-all", "deny-all"])
export type PermissionPolicy = typeof PermissionPolicy.Type

/** What somebody answers: one of the offered options, or none. */
export const RequestAnswer = Schema.Union([
  Schema.TaggedStruct("Selected", { optionId: Schema.String }),
  Schema.TaggedStruct("Cancelled", {})
])
export type RequestAnswer = typeof RequestAnswer.Type

/**
 * What goes to the agent. `Selected` and `Cancelled` are outcomes of `session/request_permission`; `Error` is a JSON-RPC
 * error, for a request that cannot be understood.
 */
export const NativeAnswer = Schema.Union([
  Schema.TaggedStruct("Selected", { optionId: Schema.String }),
  Schema.TaggedStruct("Cancelled", {}),
  Schema.TaggedStruct("Error", { code: Schema.Number, message: Schema.String })
])
export type NativeAnswer = typeof NativeAnswer.Type

/**
 * Who or what settled a request.
 *
 * - `answer`: somebody answered. `policy`: the policy allowed or denied it.
 * - `headless`: the policy wanted to ask, and there was nobody to ask.
 * - `refused`: the request itself is not valid.
 * - `withdrawn`: the agent took it back. `turn_cancelled`, `turn_ended`: its turn is over. `expired`: its deadline passed.
 */
export const SettledBy = Schema.Literals([
  "answer",
  "policy",
  "headless",
  "refused",
  "withdrawn",
  "turn_cancelled",
  "turn_ended",
  "expired"
])
export type SettledBy = typeof SettledBy.Type

/** How a request ended. Recorded as `resolved` only once the operating system took the answer. */
export const RequestResolution = Schema.Struct({
  requestId: Schema.String,
  by: SettledBy,
  answer: NativeAnswer,
  /** Kind of the chosen option; absent when none was chosen. */
  optionKind: Schema.optionalKey(OptionKind),
  /** Why the policy or the validation decided so, in our words. */
  reason: Schema.optionalKey(Schema.String)
})
export type RequestResolution = typeof RequestResolution.Type

/** Why no answer reached the agent. */
export const UndeliveredReason = Schema.Literals(["connection_dead", "already_answered"])
export type UndeliveredReason = typeof UndeliveredReason.Type
