/**
 * One way to satisfy a schema that is built from others: references followed, `allOf` merged, one branch of `oneOf` or `anyOf`
 * taken. What depends on the instance (`if`) is left for later.
 */
import type { Random } from "./random.ts"
import { isObject, isSchema, type JsonObject, type JsonSchema, type SchemaSet } from "./schemaSet.ts"

export interface PlainSchema {
  readonly keywords: JsonObject
  readonly conditions: ReadonlyArray<JsonObject>
}

/** `undefined`: nothing satisfies it. */
export const plainSchema = (set: SchemaSet, schema: JsonSchema, random: Random): PlainSchema | undefined => {
  if (typeof schema === "boolean") return schema ? { keywords: {}, conditions: [] } : undefined
  const { $ref, allOf, oneOf, anyOf, if: condition, then, else: _otherwise, ...keywords } = schema
  const parts: Array<JsonSchema> = []
  if (typeof $ref === "string") parts.push(set.resolve($ref))
  parts.push(...schemasIn(allOf))
  for (const branches of [schemasIn(oneOf), schemasIn(anyOf)]) {
    const branch = random.any(branches)
    if (branch !== undefined) parts.push(branch)
  }
  let plain: PlainSchema = { keywords, conditions: condition === undefined ? [] : [{ if: condition, then }] }
  for (const part of parts) {
    const inner = plainSchema(set, part, random)
    if (inner === undefined) return undefined
    plain = {
      keywords: mergeKeywords(plain.keywords, inner.keywords),
      conditions: [...plain.conditions, ...inner.conditions]
    }
  }
  return plain
}

const schemasIn = (value: unknown): ReadonlyArray<JsonSchema> => (Array.isArray(value) ? value.filter(isSchema) : [])

/** What satisfies the result satisfies both, as far as schemas of a contract go. */
export const mergeKeywords = (left: JsonObject, right: JsonObject): JsonObject => ({
  ...left,
  ...right,
  ...(left["properties"] !== undefined || right["properties"] !== undefined
    ? { properties: mergeProperties(admittedBy(right, left), admittedBy(left, right)) }
    : {}),
  ...(left["required"] !== undefined || right["required"] !== undefined
    ? { required: [...new Set([...namesIn(left["required"]), ...namesIn(right["required"])])] }
    : {})
})

/** The properties of `schema` that the other one does not forbid by being closed. */
const admittedBy = (other: JsonObject, schema: JsonObject): JsonObject => {
  const properties = Object.entries(objectOf(schema["properties"]))
  const isClosed = other["additionalProperties"] === false
  return Object.fromEntries(properties.filter(([name]) => !isClosed || name in objectOf(other["properties"])))
}

const mergeProperties = (left: JsonObject, right: JsonObject): JsonObject => {
  const merged: Record<string, unknown> = { ...left }
  for (const [name, schema] of Object.entries(right)) {
    const other = merged[name]
    merged[name] = schema === false || other === undefined ? schema : { allOf: [other, schema] }
  }
  return merged
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

export const namesIn = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : []
