/**
 * A line beyond the limits of a frame. Its bytes are discarded while the keys of its outermost object are noted, wherever they
 * stand in the line, so that it can be told what was lost: a notification is skipped, a request can still be answered, and
 * what may have been the response to a request of ours must not be waited for.
 */
import { limits } from "../limits.ts"
import { answerableId, type RequestId } from "./envelope.ts"
import type { Excess } from "./frameShape.ts"
import { skipPrefix } from "./noise.ts"
import { makeTopLevelKeyScanner, type TopLevelKeys, unreadable } from "./topLevelKeys.ts"

export interface Oversized {
  readonly _tag: "Oversized"
  /** `response`: may be one. That includes what could not be told, for a response that is lost must not be waited for. */
  readonly kind: "notification" | "request" | "response"
  /** As noted; `null` for a request whose id cannot be echoed; `undefined` when there is none or it could not be told. */
  readonly id: RequestId | undefined
  readonly method: string | undefined
  readonly excess: Excess
  readonly bytes: number
}

export interface OversizedLine {
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => {
    /** `undefined`: the line is noise. */
    readonly frame: Oversized | undefined
    /** Its outermost object was closed and nothing came after it. */
    readonly complete: boolean
    /** Without a carriage return at the end. */
    readonly bytes: number
  }
  /** The beginning of the line, more than a sample takes or all of it. */
  readonly head: Uint8Array
}

/** Starts with the first bytes of the line; a prefix of marks is known only if it is whole in them. */
export const makeOversizedLine = (first: Uint8Array, excess: Excess): OversizedLine => {
  const start = skipPrefix(first)
  const scanner = first[start] === 0x7b ? makeTopLevelKeyScanner() : undefined
  scanner?.push(first.subarray(start))
  let length = first.length
  let last = first[length - 1]
  return {
    head: first.slice(0, limits.noiseSampleBytesMax + 1),
    push: (bytes) => {
      if (bytes.length === 0) return
      length += bytes.length
      last = bytes[bytes.length - 1]
      scanner?.push(bytes)
    },
    end: () => {
      const bytes = last === 0x0d ? length - 1 : length
      return {
        frame: scanner && tell(scanner.keys, excess, bytes),
        complete: scanner?.keys.complete === true,
        bytes
      }
    }
  }
}

/** What a shorter line would have been noise for is noise here, unless it looks like an answer that broke off. */
const tell = (keys: TopLevelKeys, excess: Excess, bytes: number): Oversized | undefined => {
  const { complete, id, resultOrError } = keys
  const claims = keys.jsonrpc || (id !== undefined && keys.method !== undefined && !keys.foreign)
  if (!claims && (complete || !resultOrError)) return undefined
  const method = typeof keys.method === "string" ? keys.method : undefined
  const known = complete && keys.method !== undefined && !resultOrError && id !== unreadable
  const kind = !known ? "response" : id === undefined ? "notification" : "request"
  const noted = id === undefined || id === unreadable ? undefined : answerableId(id)
  return { _tag: "Oversized", kind, id: noted, method, excess, bytes }
}
