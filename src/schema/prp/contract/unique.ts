/** Lists without repetition, as JSON Schema compares: by value, whatever the order of an object's properties. */
import * as Schema from "effect/Schema"
import { nestingFits } from "./shape.ts"

/** Takes time proportional to the list. */
export const unique = Schema.makeFilter(
  (items: ReadonlyArray<unknown>) => nestingFits(items) && new Set(items.map(comparable)).size === items.length,
  { expected: "a list without repetition, not nested too deeply", toJsonSchema: () => ({ uniqueItems: true }) }
)

const comparable = (item: unknown): unknown =>
  typeof item === "object" && item !== null ? JSON.stringify(item, inKeyOrder) : item

const inKeyOrder = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value
