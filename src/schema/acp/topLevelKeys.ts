/**
 * Finds the envelope's keys in an object that streams by and is not kept. Knows strings, escapes and nesting, and reads the
 * keys and plain values of the outermost object only, so a nested `id` or a brace in a string means nothing. It does not
 * prove that the inside is JSON: it finds what parsing would have found at the top.
 *
 * Bounds: one key or value of `notedValueBytesMax`, whatever the length of the object.
 */
import { limits } from "../limits.ts"
import { makeLineBuffer } from "./lineBuffer.ts"

/** What was noted. A key that was not seen is `undefined` or `false`; of a key that comes twice the last counts, as in JSON. */
export interface TopLevelKeys {
  /** The object was closed, and only white space followed. */
  readonly complete: boolean
  readonly jsonrpc: boolean
  readonly resultOrError: boolean
  /** A key that is none of the envelope's. */
  readonly foreign: boolean
  /** The parsed value; `null` for an object or array; `unreadable` when cut off, no JSON or too long. */
  readonly id: unknown
  readonly method: unknown
}

export interface TopLevelKeyScanner {
  /** The first byte of the first piece is the object's `{`. */
  readonly push: (bytes: Uint8Array) => void
  readonly keys: TopLevelKeys
}

export const unreadable = Symbol("unreadable")

/** Where the scanner stands in the outermost object. */
const At = {
  Start: 0,
  KeyOrEnd: 1,
  Key: 2,
  Colon: 3,
  Value: 4,
  StringValue: 5,
  NestedValue: 6,
  PlainValue: 7,
  CommaOrEnd: 8,
  End: 9,
  Broken: 10
} as const
type At = (typeof At)[keyof typeof At]

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

export const makeTopLevelKeyScanner = (): TopLevelKeyScanner => {
  const keys: Mutable<TopLevelKeys> = {
    complete: false,
    jsonrpc: false,
    resultOrError: false,
    foreign: false,
    id: undefined,
    method: undefined
  }
  const noted = makeNotedText()
  const skip = makeSkipper()
  let at: At = At.Start
  let key: unknown

  const note = (value: unknown) => {
    if (key === "jsonrpc") keys.jsonrpc = true
    else if (key === "result" || key === "error") keys.resultOrError = true
    else if (key === "id") keys.id = value
    else if (key === "method") keys.method = value
    else if (key !== "params") keys.foreign = true
  }

  /** Notes a value at its start: if the line breaks off inside, the key still tells what the line was. */
  const startValue = (byte: number) => {
    if (byte === openBrace || byte === openBracket) {
      at = At.NestedValue
      skip.startNested()
      return note(null)
    }
    at = byte === quote ? At.StringValue : At.PlainValue
    if (byte === quote) skip.startString()
    noted.start(byte, key === "id" || key === "method")
    note(unreadable)
  }

  const startKey = () => {
    at = At.Key
    skip.startString()
    noted.start(quote, true)
  }

  const endObject = () => {
    at = At.End
    keys.complete = true
  }

  const breakOff = () => {
    at = At.Broken
    keys.complete = false
  }

  /** One byte of the object's own punctuation, or the first of a key or value. */
  const step = (byte: number) => {
    if (at === At.Start) at = At.KeyOrEnd
    else if (isSpace(byte)) return
    else if (at === At.Value) startValue(byte)
    else if (at === At.KeyOrEnd && byte === quote) startKey()
    else if (at === At.Colon && byte === colon) at = At.Value
    else if (at === At.CommaOrEnd && byte === comma) at = At.KeyOrEnd
    else if ((at === At.KeyOrEnd || at === At.CommaOrEnd) && byte === closeBrace) endObject()
    else breakOff()
  }

  /** Goes on from an index; returns the next one. */
  const advance = (bytes: Uint8Array, from: number): number => {
    if (at === At.NestedValue) {
      const next = skip.nested(bytes, from)
      if (skip.done()) at = At.CommaOrEnd
      return next
    }
    if (at === At.Key || at === At.StringValue) {
      const next = skip.string(bytes, from)
      noted.add(bytes.subarray(from, next))
      if (!skip.done()) return next
      if (at === At.Key) key = noted.parse()
      else note(noted.parse())
      at = at === At.Key ? At.Colon : At.CommaOrEnd
      return next
    }
    if (at === At.PlainValue) {
      const next = endOfPlain(bytes, from)
      noted.add(bytes.subarray(from, next))
      if (next === bytes.length) return next
      note(noted.parse())
      at = At.CommaOrEnd
      return next
    }
    step(bytes[from] ?? 0)
    return from + 1
  }

  return {
    keys,
    push: (bytes) => {
      let from = 0
      while (from < bytes.length && at !== At.Broken) from = advance(bytes, from)
    }
  }
}

type Mutable<A> = { -readonly [Key in keyof A]: A[Key] }

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

const endOfPlain = (bytes: Uint8Array, from: number): number => {
  let index = from
  while (index < bytes.length && bytes[index] !== comma && bytes[index] !== closeBrace) index += 1
  return index
}

/** Skips one string or nested value across any cut; both return the index after it, or the length of the bytes. */
const makeSkipper = () => {
  let depth = 0
  let inString = false
  let escaped = false
  const string = (bytes: Uint8Array, from: number): number => {
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index]
      if (escaped) escaped = false
      else if (byte === backslash) escaped = true
      else if (byte === quote) {
        inString = false
        return index + 1
      }
    }
    return bytes.length
  }
  const nested = (bytes: Uint8Array, from: number): number => {
    let index = from
    while (index < bytes.length && depth > 0) {
      const byte = bytes[index]
      if (inString) {
        index = string(bytes, index)
        continue
      }
      if (byte === quote) inString = true
      else if (byte === openBrace || byte === openBracket) depth += 1
      else if (byte === closeBrace || byte === closeBracket) depth -= 1
      index += 1
    }
    return index
  }
  return {
    string,
    nested,
    startString: () => {
      inString = true
    },
    startNested: () => {
      depth = 1
    },
    done: () => depth === 0 && !inString
  }
}

/** One key or plain value as it stands in the line, up to the bound. */
const makeNotedText = () => {
  const buffer = makeLineBuffer(limits.notedValueBytesMax)
  let whole = false
  const add = (bytes: Uint8Array) => {
    if (whole) whole = buffer.append(bytes) === bytes.length
  }
  return {
    start: (first: number, wanted: boolean) => {
      buffer.clear()
      whole = wanted
      add(Uint8Array.of(first))
    },
    add,
    parse: (): unknown => {
      try {
        return whole ? JSON.parse(decoder.decode(buffer.view())) : unreadable
      } catch {
        return unreadable
      }
    }
  }
}

const decoder = new TextDecoder()
