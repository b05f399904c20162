/** What a check across properties demands, in the words of JSON Schema: for the annotation of the check that enforces it. */
import type * as JsonSchema from "effect/JsonSchema"

/** `then` holds where the property has one of the values. */
export const whereOneOf = (
  property: string,
  values: ReadonlyArray<string>,
  then: JsonSchema.JsonSchema
): JsonSchema.JsonSchema => ({
  if: { properties: { [property]: { enum: [...values] } }, required: [property] },
  then
})
