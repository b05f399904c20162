/** Which keywords of a JSON Schema of ours bear on one value, and at which places the value can be changed. */
import { isJsonObject, type Json } from "./caseFile.ts"

/** A place in a value, with the keywords that bear on it. */
export interface Place {
  readonly pointer: string
  readonly value: unknown
  readonly keywords: Json
  readonly nullable: boolean
  /** A value of another type may stand there, too. */
  readonly mixed: boolean
  /** Undefined of an item of a list, and of the whole. */
  readonly optional: boolean | undefined
}

/** Every place of the value, an owner before what it owns; but for places at which a definition stands that is told by itself. */
export const placesIn = (
  document: Json,
  value: unknown,
  isOther: (definition: string, pointer: string) => boolean
): ReadonlyArray<Place> => {
  const definitions = objectIn(document, "$defs")
  const places: Array<Place> = []
  const visit = (schema: unknown, here: unknown, pointer: string, optional: boolean | undefined): void => {
    if (isOther(referenceIn(schema), pointer)) return
    const { keywords, nullable, mixed } = applied(definitions, schema, here)
    places.push({ pointer, value: here, keywords, nullable, mixed, optional })
    if (Array.isArray(here)) {
      for (const [index, item] of here.entries()) visit(keywords["items"] ?? {}, item, `${pointer}/${index}`, undefined)
    } else if (isJsonObject(here)) {
      const required = listIn(keywords, "required")
      const other = keywords["additionalProperties"]
      for (const [name, inner] of Object.entries(here)) {
        const property = objectIn(keywords, "properties")[name] ?? (isJsonObject(other) ? other : undefined)
        if (property !== undefined) visit(property, inner, `${pointer}/${name}`, !required.includes(name))
      }
    }
  }
  visit(document, value, "", undefined)
  return places
}

export const objectIn = (owner: Json, name: string): Json => {
  const found = owner[name]
  return isJsonObject(found) ? found : {}
}

export const listIn = (owner: Json, name: string): ReadonlyArray<unknown> => {
  const found = owner[name]
  return Array.isArray(found) ? found : []
}

const prefix = "#/$defs/"

/** The definition that the schema refers to, through a choice with null, too. */
const referenceIn = (schema: unknown): string => {
  if (!isJsonObject(schema)) return ""
  const reference = schema["$ref"]
  if (typeof reference === "string") return reference.slice(prefix.length)
  const choices = [...listIn(schema, "anyOf"), ...listIn(schema, "allOf")].map(referenceIn)
  return choices.find((found) => found !== "") ?? ""
}

type Applied = Pick<Place, "keywords" | "nullable" | "mixed">

const applied = (definitions: Json, schema: unknown, value: unknown): Applied => {
  if (!isJsonObject(schema)) return { keywords: {}, nullable: false, mixed: false }
  const { $ref: reference, allOf: _all, anyOf: _any, if: condition, then, ...own } = schema
  const choices = listIn(schema, "anyOf").map((choice) => applied(definitions, choice, value))
  const parts = [
    ...(typeof reference === "string"
      ? [applied(definitions, definitions[reference.slice(prefix.length)], value)]
      : []),
    ...listIn(schema, "allOf").map((part) => applied(definitions, part, value)),
    ...choices.filter(({ keywords }) => describes(keywords, value)).slice(0, 1),
    ...(isJsonObject(condition) && describes(condition, value) ? [applied(definitions, then, value)] : [])
  ]
  return {
    keywords: parts.reduce((merged, { keywords }) => merge(merged, keywords), condition === undefined ? own : {}),
    nullable: own["type"] === "null" || [...parts, ...choices].some(({ nullable }) => nullable),
    mixed: new Set(choices.map(({ keywords }) => keywords["type"]).filter((type) => type !== "null")).size > 1
  }
}

const merge = (left: Json, right: Json): Json => ({
  ...left,
  ...right,
  required: [...new Set([...listIn(left, "required"), ...listIn(right, "required")])],
  properties: {
    ...objectIn(left, "properties"),
    ...Object.fromEntries(
      Object.entries(objectIn(right, "properties")).map(([name, schema]) => {
        const other = objectIn(left, "properties")[name]
        return [name, other === undefined ? schema : { allOf: [other, schema] }]
      })
    )
  }
})

/** Whether the type and the members of enumerations are those of the value; nothing else. */
const describes = (keywords: Json, value: unknown): boolean => {
  if ("const" in keywords) return keywords["const"] === value
  if (Array.isArray(keywords["enum"])) return keywords["enum"].includes(value)
  if (!hasType(keywords["type"], value)) return false
  return (
    !isJsonObject(value) ||
    Object.entries(objectIn(keywords, "properties")).every(
      ([name, schema]) =>
        !(name in value) ||
        !isJsonObject(schema) ||
        !("const" in schema || "enum" in schema) ||
        describes(schema, value[name])
    )
  )
}

const hasType = (type: unknown, value: unknown): boolean => {
  switch (type) {
    case undefined:
      return true
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isJsonObject(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
