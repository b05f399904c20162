/** A question of the agent to the outside, as PRP v1 carries it. */
import * as Schema from "effect/Schema"
import { textOf } from "../characters.ts"
import { limits } from "../limits.ts"

/** `key` names the choice in the resolution. */
export const RequestChoice = Schema.StructWithRest(
  Schema.Struct({ key: Schema.NonEmptyString, label: Schema.NonEmptyString }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type RequestChoice = typeof RequestChoice.Type

export const RuntimeRequest = Schema.StructWithRest(
  Schema.Struct({
    schema: Schema.Literal("paperclip.runtime_request.v1"),
    requestKind: Schema.Literal("runtime"),
    requestId: textOf(1, limits.idCharactersMax),
    type: Schema.Literals(["permission", "input"]),
    status: Schema.Literals(["pending", "resolved", "expired", "cancelled"]),
    prompt: textOf(1, limits.shortTextCharactersMax),
    choices: Schema.optionalKey(Schema.Array(RequestChoice))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type RuntimeRequest = typeof RuntimeRequest.Type
