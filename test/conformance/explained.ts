/** Where we disagree with the reference's validator on purpose. Without the cause, both must agree. */
import { isObject } from "./schemaSet.ts"

export type Reason =
  /** JSON cannot carry it from here to there without loss; the reference admits any integer. */
  | "integer beyond 2^53 - 1"
  /** The validator admits more than RFC 3339: a blank for the `T`, an offset without colon or minutes. */
  | "date-time that is not RFC 3339"
  /** A runner refuses it, whatever the schema says. */
  | "date-time beyond 64 characters"

/** The reasons for a disagreement about the instance: without what they name, `agree` holds. Empty: it is not explained. */
export const reasonsFor = (instance: unknown, agree: (instance: unknown) => boolean): ReadonlyArray<Reason> => {
  const single = explanations.find(({ without }) => agree(without(instance)))
  if (single !== undefined) return [single.reason]
  const withoutAny = explanations.reduce((here, { without }) => without(here), instance)
  return agree(withoutAny) ? explanations.filter(applies(instance)).map(({ reason }) => reason) : []
}

const applies =
  (instance: unknown) =>
  ({ without }: Explanation) =>
    JSON.stringify(without(instance)) !== JSON.stringify(instance)

interface Explanation {
  readonly reason: Reason
  /** The instance without what we disagree about. */
  readonly without: (instance: unknown) => unknown
}

const replaced = (instance: unknown, replace: (leaf: unknown) => unknown): unknown => {
  if (Array.isArray(instance)) return instance.map((item) => replaced(item, replace))
  if (!isObject(instance)) return replace(instance)
  return Object.fromEntries(Object.entries(instance).map(([name, inner]) => [name, replaced(inner, replace)]))
}

const plain = "2026-01-01T00:00:00Z"
const date = /^\d{4}-\d\d-\d\d/
const looseDateTime = /^\d{4}-\d\d-\d\d(?:\s\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)|t.*[+-]\d\d(?:\d\d)?)$/i

const withoutUnsafeIntegers = (leaf: unknown) =>
  typeof leaf === "number" && Number.isInteger(leaf) && !Number.isSafeInteger(leaf) ? 4096 : leaf
const withoutLooseDateTimes = (leaf: unknown) => (typeof leaf === "string" && looseDateTime.test(leaf) ? plain : leaf)
const withoutLongDateTimes = (leaf: unknown) =>
  typeof leaf === "string" && leaf.length > 64 && date.test(leaf) ? plain : leaf

const explanations: ReadonlyArray<Explanation> = [
  {
    reason: "integer beyond 2^53 - 1",
    without: (instance) => replaced(instance, withoutUnsafeIntegers)
  },
  {
    reason: "date-time that is not RFC 3339",
    without: (instance) => replaced(instance, withoutLooseDateTimes)
  },
  {
    reason: "date-time beyond 64 characters",
    without: (instance) => replaced(instance, withoutLongDateTimes)
  }
]

/** Every reason there is. `docs/prp.md` tells each with the same words. */
export const explainedReasons: ReadonlyArray<Reason> = explanations.map(({ reason }) => reason)
