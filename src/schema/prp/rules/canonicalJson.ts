/**
 * One text for one JSON value: object keys in the order of their code points, at every level, and no space. What differs in
 * text, differs in value.
 *
 * Takes time proportional to the value (sorting aside) and any depth of it. A number is what JavaScript reads it as: `1.0` is
 * `1`, `-0` is `0`.
 */
import * as Result from "effect/Result"
import { endsInHalf } from "../../characters.ts"
import { NotJson } from "../../errors.ts"
import { type Digest, digestOf } from "../../identity.ts"

/** Fails on what JSON cannot say: `undefined`, a number that is not finite, an instance of a class, a cycle. */
export const canonicalJson = (value: unknown): Result.Result<string, NotJson> => {
  const pieces: Array<string> = []
  const inside = new Set<object>()
  const steps: Array<Step> = [{ write: value }]
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (typeof step === "string") pieces.push(step)
    else if ("leave" in step) inside.delete(step.leave)
    else if (isContainer(step.write)) {
      if (inside.has(step.write)) return refused("a cycle")
      inside.add(step.write)
      steps.push({ leave: step.write })
      addContent(step.write, steps)
    } else {
      const found = unsayable(step.write)
      if (found !== undefined) return refused(found)
      pieces.push(JSON.stringify(step.write))
    }
  }
  return Result.succeed(pieces.join(""))
}

/** `sha256:` and the digest of the canonical text. */
export const canonicalDigest = (value: unknown): Result.Result<Digest, NotJson> =>
  Result.map(canonicalJson(value), digestOf)

/** Whether both are the same JSON value. What is no JSON equals nothing. */
export const canonicallyEqual = (left: unknown, right: unknown): boolean => {
  const leftText = canonicalJson(left)
  const rightText = canonicalJson(right)
  return Result.isSuccess(leftText) && Result.isSuccess(rightText) && leftText.success === rightText.success
}

/** What is left to do, last first: a piece of text, a value to write, a container to step out of. */
type Step = string | { readonly write: unknown } | { readonly leave: object }

type Container = ReadonlyArray<unknown> | Readonly<Record<string, unknown>>

const refused = (found: string) => Result.fail(new NotJson({ found }))

const isContainer = (value: unknown): value is Container => Array.isArray(value) || isPlain(value)

/** What an object literal or the parser makes, whichever realm it comes from. */
const isPlain = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const unsayable = (value: unknown): string | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : "a number that is not finite"
    case "object":
      return value === null ? undefined : "an instance of a class"
    default:
      return typeof value
  }
}

const isList = (container: Container): container is ReadonlyArray<unknown> => Array.isArray(container)

const addContent = (container: Container, steps: Array<Step>): void => {
  if (isList(container)) {
    steps.push("]")
    for (let index = container.length - 1; index >= 0; index--) {
      steps.push({ write: container[index] })
      if (index > 0) steps.push(",")
    }
    steps.push("[")
    return
  }
  steps.push("}")
  const keys = Object.keys(container).sort(byCodePoints)
  for (const [index, key] of [...keys.entries()].toReversed()) {
    steps.push({ write: container[key] }, `${index > 0 ? "," : ""}${JSON.stringify(key)}:`)
  }
  steps.push("{")
}

/** The engine's own order is that of UTF-16 units, which puts a character beyond U+FFFF before U+E000. */
const byCodePoints = (left: string, right: string): number => {
  const shared = Math.min(left.length, right.length)
  let index = 0
  while (index < shared && left.charCodeAt(index) === right.charCodeAt(index)) index++
  if (index === shared) return left.length - right.length
  const start = endsInHalf(left.slice(0, index)) ? index - 1 : index
  return (left.codePointAt(start) ?? 0) - (right.codePointAt(start) ?? 0)
}
