/**
 * A file of `fixtures/prp/accepted` or `fixtures/prp/rejected`: one value of a kind, and cases that each change it at some
 * places. Whoever has another language than ours reads it with a few lines: `fixtures/prp/README.md` says how.
 */
import * as Schema from "effect/Schema"
import { type PrpKind, prpFamilies, prpSchemas } from "../../src/schema/prp/contract/kinds.ts"

const isKind = (name: string): name is PrpKind => Object.hasOwn(prpSchemas, name) || Object.hasOwn(prpFamilies, name)

const Rejection = Schema.Struct({
  code: Schema.Literals(["invalid_json", "schema_validation", "unsupported_required_version", "binding_mismatch"]),
  issues: Schema.Array(Schema.Struct({ path: Schema.String, expectation: Schema.String }))
})
export type Rejection = typeof Rejection.Type

export const Case = Schema.Struct({
  name: Schema.NonEmptyString,
  /** By JSON Pointer. A property that is not there is added; of a list only an item is replaced. */
  set: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  /** JSON Pointers of properties. */
  remove: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of a case that is refused. */
  rejection: Schema.optionalKey(Rejection)
})
export type Case = typeof Case.Type

export const CaseFile = Schema.Struct({
  schema: Schema.Literal("greenroom.prp.cases.v1"),
  description: Schema.NonEmptyString,
  kind: Schema.String.pipe(Schema.refine(isKind)),
  base: Schema.Unknown,
  cases: Schema.Array(Case)
})
export type CaseFile = typeof CaseFile.Type

/** Strict: a property that a case file does not know is a mistake in it. */
export const readCaseFile = (text: string): CaseFile =>
  Schema.decodeUnknownSync(CaseFile)(JSON.parse(text), { onExcessProperty: "error" })

/** The value that the case is about. */
export const valueOf = (base: unknown, { set = {}, remove = [] }: Pick<Case, "set" | "remove">): unknown => {
  const changed = Object.entries(set).reduce(
    (value, [pointer, written]) => withAt(value, keysOf(pointer), expanded(written)),
    expanded(base)
  )
  return remove.reduce<unknown>((value, pointer) => withoutAt(value, keysOf(pointer)), changed)
}

const keysOf = (pointer: string): ReadonlyArray<string> =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))

export type Json = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `{ "$repeat": TEXT or [ITEM], "times": N, "after"?: TEXT }` stands for the repetition. */
const expanded = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(expanded)
  if (!isJsonObject(value)) return value
  const { $repeat: repeated, times, after = "" } = value
  if (typeof repeated === "string" && typeof times === "number") return `${String(after)}${repeated.repeat(times)}`
  if (Array.isArray(repeated) && typeof times === "number") {
    return Array.from({ length: times }, (): unknown => expanded(repeated[0]))
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expanded(inner)]))
}

const withAt = (value: unknown, [key, ...rest]: ReadonlyArray<string>, written: unknown): unknown => {
  if (key === undefined) return written
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (String(index) === key ? withAt(item, rest, written) : item))
  }
  if (!isJsonObject(value)) throw new Error(`no place for ${key}`)
  const entries = new Map(Object.entries(value))
  return Object.fromEntries(entries.set(key, withAt(entries.get(key), rest, written)))
}

const withoutAt = (value: unknown, [key = "", ...rest]: ReadonlyArray<string>): unknown => {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (String(index) === key ? withoutAt(item, rest) : item))
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) throw new Error(`nothing at ${key}`)
  return rest.length > 0
    ? { ...value, [key]: withoutAt(value[key], rest) }
    : Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
}
