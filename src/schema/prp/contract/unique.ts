/** Lists without repetition, as JSON Schema compares: by value, whatever the order of an object's properties. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../rules/canonicalJson.ts"

/** Takes time proportional to the list (sorting aside), and any depth of it. An item that is no JSON is refused. */
export const unique = Schema.makeFilter((items: ReadonlyArray<unknown>) => isUnique(items), {
  expected: "a list without repetition",
  toJsonSchema: () => ({ uniqueItems: true })
})

const isUnique = (items: ReadonlyArray<unknown>): boolean => {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonicalJson(item)
    if (Result.isFailure(text) || seen.has(text.success)) return false
    seen.add(text.success)
  }
  return true
}
