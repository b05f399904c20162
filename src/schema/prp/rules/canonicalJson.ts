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
  const open: Array<Cursor> = []
  let found = begin(value, pieces, inside, open)
  for (let cursor = open.at(-1); found === undefined && cursor !== undefined; cursor = open.at(-1)) {
    if (cursor.next < cursor.length) {
      found = begin(nextOf(cursor, pieces), pieces, inside, open)
    } else {
      pieces.push(isList(cursor.container) ? "]" : "}")
      inside.delete(cursor.container)
      open.pop()
    }
  }
  return found === undefined ? Result.succeed(pieces.join("")) : Result.fail(new NotJson({ found }))
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

/** How far a container is written. A large one is not copied. */
interface Cursor {
  readonly container: Container
  /** In their order. Of a list none. */
  readonly keys: ReadonlyArray<string>
  readonly length: number
  next: number
}

type Container = ReadonlyArray<unknown> | Readonly<Record<string, unknown>>

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

/** Writes a leaf, or begins a container. Gives what JSON cannot say. */
const begin = (value: unknown, pieces: Array<string>, inside: Set<object>, open: Array<Cursor>): string | undefined => {
  if (!isContainer(value)) {
    const found = unsayable(value)
    if (found === undefined) pieces.push(JSON.stringify(value))
    return found
  }
  if (inside.has(value)) return "a cycle"
  inside.add(value)
  const keys = isList(value) ? [] : Object.keys(value).sort(byCodePoints)
  pieces.push(isList(value) ? "[" : "{")
  open.push({ container: value, keys, length: isList(value) ? value.length : keys.length, next: 0 })
  return undefined
}

/** The next item or property, after what separates it from the one before and after its name. */
const nextOf = (cursor: Cursor, pieces: Array<string>): unknown => {
  const index = cursor.next++
  if (index > 0) pieces.push(",")
  if (isList(cursor.container)) return cursor.container[index]
  const key = cursor.keys[index]!
  pieces.push(JSON.stringify(key), ":")
  return cursor.container[key]
}

/** The engine's own order is that of UTF-16 units, which puts a character beyond U+FFFF before U+E000. */
const byCodePoints = (left: string, right: string): number => {
  const shared = Math.min(left.length, right.length)
  let index = 0
  while (index < shared && left.charCodeAt(index) === right.charCodeAt(index)) index++
  if (index === shared) return left.length - right.length
  const start = endsInHalf(left.slice(0, index)) ? index - 1 : index
  // Behind the same half of a character it is what follows that differs.
  const difference = (left.codePointAt(start) ?? 0) - (right.codePointAt(start) ?? 0)
  return difference === 0 ? (left.codePointAt(index) ?? 0) - (right.codePointAt(index) ?? 0) : difference
}
