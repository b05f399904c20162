/** What a schema and those that it refers to speak of: names, members of enumerations, bounds. */
import { isObject, type JsonSchema, type SchemaSet } from "./schemaSet.ts"

export interface Vocabulary {
  readonly names: ReadonlyArray<string>
  readonly members: ReadonlyArray<unknown>
  readonly lengths: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
  readonly numbers: ReadonlyArray<number>
}

export const vocabularyOf = (set: SchemaSet, schema: JsonSchema): Vocabulary => {
  const names = new Set<string>()
  const members = new Set<unknown>()
  const lengths = new Set<number>()
  const counts = new Set<number>()
  const numbers = new Set<number>()
  const followed = new Set<string>()
  const bounds = new Map([
    ["minLength", lengths],
    ["maxLength", lengths],
    ["minItems", counts],
    ["maxItems", counts],
    ["minimum", numbers],
    ["maximum", numbers]
  ])
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item)
    if (!isObject(value)) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$ref" && typeof inner === "string" && !followed.has(inner)) {
        followed.add(inner)
        visit(set.resolve(inner))
      }
      if (key === "properties" && isObject(inner)) for (const name of Object.keys(inner)) names.add(name)
      if (key === "const") members.add(inner)
      if (key === "enum" && Array.isArray(inner)) for (const member of inner) members.add(member)
      if (typeof inner === "number") bounds.get(key)?.add(inner)
      visit(inner)
    }
  }
  visit(schema)
  return {
    names: [...names],
    members: [...members],
    lengths: [...lengths],
    counts: [...counts].filter((count) => count <= 300),
    numbers: [...numbers]
  }
}
