/**
 * A question of the agent to its user. Source: ACP v1, `elicitation/create`.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./lenient.ts"

export const ElicitationParams = Schema.Struct({
  message: Schema.String,
  /** `form`, `url`, or a word of the agent's own. */
  mode: Schema.String,
  /** What it is about: a session and perhaps one of its tool calls, or one of our requests. */
  sessionId: maybe(Schema.String),
  toolCallId: maybe(Schema.String),
  requestId: maybe(Schema.Union([Schema.String, Schema.Number, Schema.Null])),
  /** Of a form, as it came. */
  requestedSchema: maybe(Schema.Unknown),
  elicitationId: maybe(Schema.String),
  url: maybe(Schema.String)
})
export type ElicitationParams = typeof ElicitationParams.Type

/** What goes back. Only a form that was filled in has content. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
