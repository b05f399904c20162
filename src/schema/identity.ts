/**
 * Names of things: ids as branded strings, canonical JSON, and digests over it. The only file of this folder that reaches
 * for an implementation from outside (`createHash`).
 */
import { createHash } from "node:crypto"
import * as Schema from "effect/Schema"
import { fitsCharacters, textOf } from "./characters.ts"
import { limits } from "./limits.ts"

/** What every id of ours obeys: 1 to 160 characters. */
const IdText = textOf(1, limits.idCharactersMax)

export const SessionId = IdText.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** Minted on the caller's side, before anything is sent. */
export const TurnId = IdText.pipe(Schema.brand("TurnId"))
export type TurnId = typeof TurnId.Type

/** A request of the agent under the name that we gave it; never the JSON-RPC id, which is unique per connection only. */
export const RequestId = IdText.pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

export const RunId = IdText.pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type

export const ItemId = IdText.pipe(Schema.brand("ItemId"))
export type ItemId = typeof ItemId.Type

export const ConnectionId = IdText.pipe(Schema.brand("ConnectionId"))
export type ConnectionId = typeof ConnectionId.Type

export const CommandId = IdText.pipe(Schema.brand("CommandId"))
export type CommandId = typeof CommandId.Type

export const SourceEventId = IdText.pipe(Schema.brand("SourceEventId"))
export type SourceEventId = typeof SourceEventId.Type

/** One incarnation of an event source; its sequence starts at 1 and has no gaps. */
export const SourceInstanceId = IdText.pipe(Schema.brand("SourceInstanceId"))
export type SourceInstanceId = typeof SourceInstanceId.Type

/** `sha256:` and 64 lowercase hexadecimal digits. */
export const Digest = Schema.String.check(Schema.isPattern(/^sha256:[a-f0-9]{64}$/))
export type Digest = typeof Digest.Type

/** The digest of the text's UTF-8 bytes. */
export const digestOf = (text: string): Digest => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`

/** The digest of a JSON value, whatever the order of its keys. */
export const canonicalDigest = (value: unknown): Digest => digestOf(canonicalJson(value))

const stablePattern = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/

const isStable = (text: string): boolean => fitsCharacters(text, limits.idCharactersMax) && stablePattern.test(text)

/** The narrower id that PRP demands inside typed payloads (spec 1, `stableId(160)`). */
export const StableId = Schema.String.check(
  Schema.makeFilter((text: string) => isStable(text) || "Expected a stable id")
)

/**
 * Foreign text as a stable id: itself when it is one, else `prefix` and half of its digest. The same text always gives the
 * same id. `prefix` is a short stable id.
 */
export const stableIdOf = (prefix: string, text: string): string =>
  isStable(text) ? text : `${prefix}-${digestOf(text).slice("sha256:".length, "sha256:".length + 32)}`

/**
 * Compact JSON with the keys of every object in the order of their UTF-16 code units. The value is one that JSON can
 * express; what JSON cannot is treated as `JSON.stringify` does. Depth costs memory, never stack.
 */
export const canonicalJson = (value: unknown): string => {
  const written: Array<string> = []
  const pending: Array<string | Unwritten> = [{ value }]
  let next: string | Unwritten | undefined
  while ((next = pending.pop()) !== undefined) {
    if (typeof next === "string") written.push(next)
    else if (Array.isArray(next.value)) pushArray(pending, next.value)
    else if (typeof next.value === "object" && next.value !== null) pushObject(pending, next.value)
    else written.push(JSON.stringify(next.value) ?? "null")
  }
  return written.join("")
}

/** A value whose turn has not come; a plain string is text that goes out as it is. */
interface Unwritten {
  readonly value: unknown
}

// The last pushed is the next written, so parts are pushed from the end.

const pushArray = (pending: Array<string | Unwritten>, array: ReadonlyArray<unknown>): void => {
  pending.push("]")
  for (let index = array.length - 1; index >= 0; index--) {
    pending.push({ value: array[index] })
    if (index > 0) pending.push(",")
  }
  pending.push("[")
}

const pushObject = (pending: Array<string | Unwritten>, object: object): void => {
  const entries = Object.entries(object).filter(([, value]) => isWritable(value))
  entries.sort(([left], [right]) => (left < right ? 1 : -1))
  pending.push("}")
  for (const [index, [key, value]] of entries.entries()) {
    pending.push({ value }, `${JSON.stringify(key)}:`)
    if (index < entries.length - 1) pending.push(",")
  }
  pending.push("{")
}

const isWritable = (value: unknown): boolean =>
  value !== undefined && typeof value !== "function" && typeof value !== "symbol"
