/**
 * The words that agents use for the words of a result. Read once where a result enters as the input of a tool; on the wire
 * only the words of the contract stand.
 */
import { UnavailabilityReason } from "../contract/result.ts"
import { isNativeObject, type NativeObject } from "../native.ts"

/** The same value with the words of the contract. What has no alias is left as it is, whatever it is. */
export const withoutAliases = (result: unknown): unknown =>
  isNativeObject(result)
    ? changed(result, {
        reportedWorkDisposition: (word) => renamed(dispositions, word),
        completionClaim: (claim) =>
          isNativeObject(claim) ? changed(claim, { criteria: (criteria) => mapped(criteria, criterion) }) : claim,
        verification: (checks) => mapped(checks, verification)
      })
    : result

type Words = ReadonlyMap<unknown, string>

const dispositions: Words = new Map([
  ["complete", "done"],
  ["completed", "done"]
])

const criterionStatuses: Words = new Map([
  ["pass", "satisfied"],
  ["passed", "satisfied"],
  ["complete", "satisfied"],
  ["completed", "satisfied"],
  ["fail", "not_satisfied"],
  ["failed", "not_satisfied"],
  ["incomplete", "not_satisfied"]
])

const verificationStatuses: Words = new Map([
  ["pass", "passed"],
  ["success", "passed"],
  ["succeeded", "passed"],
  ["fail", "failed"]
])

const criterion = (entry: NativeObject): NativeObject =>
  changed(entry, { status: (word) => renamed(criterionStatuses, word) })

/** A check that failed for want of something did not run: `failed` is a verdict about the work. */
const verification = (entry: NativeObject): NativeObject =>
  changed(entry, {
    status: (word) => {
      const status = renamed(verificationStatuses, word)
      return status === "failed" && unavailabilityReasons.has(entry["reasonCode"]) ? "not_run" : status
    }
  })

/** `other` does not say that anything was wanting, so that it takes no verdict back. */
const unavailabilityReasons: ReadonlySet<unknown> = new Set(
  UnavailabilityReason.literals.filter((reason) => reason !== "other")
)

const renamed = (words: Words, word: unknown): unknown => words.get(word) ?? word

const mapped = (list: unknown, change: (entry: NativeObject) => NativeObject): unknown =>
  Array.isArray(list) ? list.map((entry: unknown) => (isNativeObject(entry) ? change(entry) : entry)) : list

/** A copy in which the named properties that are there are changed. Their order stays. */
const changed = (object: NativeObject, changes: Readonly<Record<string, (value: unknown) => unknown>>): NativeObject =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      Object.hasOwn(changes, name) ? (changes[name]?.(value) ?? value) : value
    ])
  )
