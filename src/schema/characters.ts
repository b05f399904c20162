/**
 * Text bounds in characters, that is Unicode code points, as JSON Schema counts them. A cut never splits a character.
 *
 * Everything here takes time proportional to the bound or to the text, whichever is smaller, except `characterCount` and
 * `utf8Bytes`.
 */
import * as Schema from "effect/Schema"

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

// The engine looks for these much faster than a loop of ours, and most text has neither.
const surrogate = /[\ud800-\udfff]/
const beyondAscii = /[^\0-\x7f]/

/** Whether the text ends in the first half of a character, whose second half may follow in another piece. */
export const endsInHalf = (text: string): boolean =>
  text.length > 0 && isHighSurrogate(text.charCodeAt(text.length - 1))

/** Code points; an unpaired surrogate counts as one. */
export const characterCount = (text: string): number => {
  if (!surrogate.test(text)) return text.length
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    if (isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1))) {
      count--
      index++
    }
  }
  return count
}

/** Whether the text has at most `charactersMax` characters. A text that is far too long is not read. */
export const fitsCharacters = (text: string, charactersMax: number): boolean =>
  text.length <= charactersMax || (text.length <= 2 * charactersMax && characterCount(text) <= charactersMax)

/** The first `charactersMax` characters. */
export const firstCharacters = (text: string, charactersMax: number): string => {
  if (text.length <= charactersMax) return text
  const units = text.slice(0, charactersMax)
  if (!surrogate.test(units)) return units
  let end = 0
  for (let left = charactersMax; left > 0 && end < text.length; left--) end += pairStartsAt(text, end) ? 2 : 1
  return text.slice(0, end)
}

const pairStartsAt = (text: string, start: number): boolean =>
  isHighSurrogate(text.charCodeAt(start)) && isLowSurrogate(text.charCodeAt(start + 1))

/** The last `charactersMax` characters. */
export const lastCharacters = (text: string, charactersMax: number): string => {
  if (text.length <= charactersMax) return text
  let start = text.length
  for (let left = charactersMax; left > 0 && start > 0; left--) start -= pairEndsAt(text, start) ? 2 : 1
  return text.slice(start)
}

const pairEndsAt = (text: string, end: number): boolean =>
  end >= 2 && isLowSurrogate(text.charCodeAt(end - 1)) && isHighSurrogate(text.charCodeAt(end - 2))

/** The start of the text, at most `charactersMax` characters, with every unpaired surrogate replaced by U+FFFD. */
export const shortText = (text: string, charactersMax: number): string =>
  firstCharacters(text, charactersMax).toWellFormed()

/** Where a text that is not long is written to be measured: the engine does that faster than it looks through it. */
const measured = new Uint8Array(16 * 1024)

/** Length in UTF-8; an unpaired surrogate takes the three bytes of its replacement U+FFFD. */
export const utf8Bytes = (text: string): number => {
  if (text.length * 3 <= measured.length) return encoder.encodeInto(text, measured).written
  if (!beyondAscii.test(text)) return text.length
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2
      index++
    } else bytes += 2
  }
  return bytes
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The same text in memory of its own: a cut string otherwise keeps the whole that it was cut from alive. */
export const detached = (text: string): string => decoder.decode(encoder.encode(text))

/** A string of `charactersMin` to `charactersMax` characters. */
export const textOf = (charactersMin: number, charactersMax: number) =>
  Schema.String.check(
    Schema.makeFilter(
      (text: string) =>
        (text.length >= charactersMin &&
          fitsCharacters(text, charactersMax) &&
          (text.length >= 2 * charactersMin || characterCount(text) >= charactersMin)) ||
        `Expected ${charactersMin} to ${charactersMax} characters`,
      { toJsonSchema: () => ({ minLength: charactersMin, maxLength: charactersMax }) }
    )
  )
