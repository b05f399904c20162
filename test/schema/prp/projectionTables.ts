/** The tables of `docs/projection.md`, as data. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { isNativeObject, nativeAt } from "../../../src/schema/prp/native.ts"

/** What a row says of its example. */
export type Target =
  | { readonly _tag: "Told"; readonly eventType: string; readonly place: string; readonly expected: unknown }
  | { readonly _tag: "NativeOnly" }
  | { readonly _tag: "Nothing" }

export interface Row {
  readonly field: string
  readonly example: unknown
  readonly target: Target
}

const text = readFileSync(join(import.meta.dirname, "../../../docs/projection.md"), "utf8")

/** The cells of every row of the first table under the heading. */
const cellsUnder = (heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`no section ${heading}`)
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.slice(2, -2).split(" | "))
}

export const rowsUnder = (heading: string): ReadonlyArray<Row> =>
  cellsUnder(heading).map(([field = "", example = "", becomes = "", ...more]) => {
    if (more.length > 0) throw new Error(`${field} has too many cells`)
    const value: unknown = JSON.parse(unquoted(example))
    return { field: unquoted(field), example: value, target: targetOf(becomes, value) }
  })

/** Kind, transport, operation. */
export const toolKinds = cellsUnder("Kinds of tools").map((cells) => cells.map(unquoted))

function unquoted(cell: string): string {
  return cell.slice(1, -1)
}

const targetOf = (becomes: string, example: unknown): Target => {
  if (/^nothing: \w/.test(becomes)) return { _tag: "Nothing" }
  if (/^`debug\.native` only: \w/.test(becomes)) return { _tag: "NativeOnly" }
  const [, eventType, place, expected] = /^`([^`]+)` `([^`]+)`(?: `([^`]+)`)?(?:[,;:] .+)?$/.exec(becomes) ?? []
  if (eventType === undefined || place === undefined) throw new Error(`not a target: ${becomes}`)
  return { _tag: "Told", eventType, place, expected: expected === undefined ? example : JSON.parse(expected) }
}

/** `files[0].path`. */
const stepsOf = (path: string): ReadonlyArray<string> => path.replaceAll(/\[(\d*)\]/g, ".$1").split(".")

export const valueAt = (value: unknown, path: string): unknown =>
  stepsOf(path).reduce<unknown>(
    (here, step) => (Array.isArray(here) ? here[Number(step)] : nativeAt(here, step)),
    value
  )

/** The base with the value in the field; `[]` is the first of a list. What is missing on the way is made. */
export const withValue = (base: unknown, path: string, value: unknown): unknown => put(base, stepsOf(path), value)

const put = (base: unknown, [step, ...rest]: ReadonlyArray<string>, value: unknown): unknown => {
  if (step === undefined) return value
  if (step === "") {
    const [first, ...others]: ReadonlyArray<unknown> = Array.isArray(base) ? base : []
    return [put(first, rest, value), ...others]
  }
  const object = isNativeObject(base) ? base : {}
  return { ...object, [step]: put(object[step], rest, value) }
}

/** `…` stands for any text at the start or at the end. */
export const matches = (found: unknown, expected: unknown): boolean => {
  if (typeof expected !== "string" || typeof found !== "string")
    return JSON.stringify(found) === JSON.stringify(expected)
  const part = expected.replace(/^…/, "").replace(/…$/, "")
  if (expected.startsWith("…")) return expected.endsWith("…") ? found.includes(part) : found.endsWith(part)
  return expected.endsWith("…") ? found.startsWith(part) : found === part
}
