/** What is asked of somebody outside the agent: by the agent while it runs, or in the thread of an issue. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { RuntimeRequest } from "../runtimeRequest.ts"
import { anyProperty, Id, Label, Name, open } from "./primitives.ts"
import { QuestionSet } from "./question.ts"

/** v1 asks for a permission or for input, in words and choices. */
export { RuntimeRequest as RuntimeRequestV1 } from "../runtimeRequest.ts"

/** v2 asks for input with a question set. Closed. */
export const RuntimeRequestV2 = Schema.Struct({
  schema: Schema.Literal("paperclip.runtime_request.v2"),
  requestKind: Schema.Literal("runtime"),
  requestId: Id,
  type: Schema.Literal("input"),
  status: Schema.Literals(["pending", "resolved", "expired", "cancelled"]),
  prompt: textOf(1, limits.shortTextCharactersMax),
  input: QuestionSet,
  origin: Schema.optionalKey(
    Schema.Struct({
      adapter: Label,
      provider: Schema.optionalKey(Label),
      method: Schema.optionalKey(textOf(1, limits.originMethodCharactersMax))
    })
  ),
  turnId: Schema.optionalKey(Name),
  itemId: Schema.optionalKey(Name)
})
export type RuntimeRequestV2 = typeof RuntimeRequestV2.Type

export const InteractionRequest = open({
  schema: Schema.Literal("paperclip.interaction_request.v1"),
  requestKind: Schema.Literal("issue_thread"),
  requestId: Id,
  kind: Schema.Literals([
    "request_confirmation",
    "request_checkbox_confirmation",
    "request_item_verdicts",
    "ask_user_questions",
    "suggest_tasks"
  ]),
  blocking: Schema.Boolean,
  payload: anyProperty
})
export type InteractionRequest = typeof InteractionRequest.Type

/** Told by its own `schema`. */
export const Request = Schema.Union([RuntimeRequestV2, RuntimeRequest, InteractionRequest]).annotate({
  expected: "a runtime request v1 or v2, or an interaction request"
})
export type Request = typeof Request.Type
