/**
 * JSON of an agent as bounded text without secrets: what an event shows of the arguments of a tool.
 *
 * Guarantees: at most `toolInputCharactersMax` characters, whatever the value; work is proportional to that, not to the value.
 * A value is removed whole under a sensitive name: of a property, of a `{name, value}` pair, or of the flag before it. In every
 * other text, and in the names, `redactText` removes what it knows by shape. A text is redacted before it is cut, and of what
 * was not looked at nothing is shown.
 *
 * This is a hurdle for accidents, no proof: a secret without a known shape or a sensitive name beside it stays.
 */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import { isSensitiveName, redacted, redactText } from "../redaction.ts"
import { isNativeObject, type NativeObject } from "./native.ts"

export interface ShownJson {
  readonly text: string
  /** Nothing was left out, but secrets. The text is JSON then. */
  readonly isWhole: boolean
}

export const redactedJson = (value: unknown): ShownJson => {
  const out: Out = { text: "", isWhole: true }
  write(out, value, limits.toolInputDepthMax)
  const text = shortText(out.text, limits.toolInputCharactersMax)
  return { text, isWhole: out.isWhole && text === out.text }
}

/** Grows by at most one text beyond the bound. */
interface Out {
  text: string
  isWhole: boolean
}

const isFull = (out: Out): boolean => out.text.length > limits.toolInputCharactersMax

const write = (out: Out, value: unknown, depth: number): void => {
  if (typeof value === "string") out.text += JSON.stringify(shownText(out, value))
  else if (typeof value === "number" || typeof value === "boolean") out.text += JSON.stringify(value)
  else if (typeof value !== "object" || value === null) out.text += "null"
  else if (depth === 0) leaveOut(out)
  else if (Array.isArray(value)) writeList(out, value, depth - 1)
  else if (isNativeObject(value)) writeObject(out, value, depth - 1)
}

const leaveOut = (out: Out): void => {
  out.isWhole = false
  out.text += '"…"'
}

const writeList = (out: Out, list: ReadonlyArray<unknown>, depth: number): void => {
  out.text += "["
  for (const [index, item] of list.slice(0, limits.toolInputEntriesMax + 1).entries()) {
    if (index > 0) out.text += ","
    if (index === limits.toolInputEntriesMax || isFull(out)) {
      leaveOut(out)
      break
    }
    if (announcesSecret(list[index - 1])) out.text += JSON.stringify(redacted)
    else write(out, item, depth)
  }
  out.text += "]"
}

/** A word of a command behind which a secret stands as a word of its own. */
const announcesSecret = (word: unknown): boolean =>
  typeof word === "string" &&
  word.length <= limits.nameCharactersMax &&
  (/^(?:bearer|basic)$/i.test(word) || (/^--?[\w-]+$/.test(word) && isSensitiveName(word)))

const writeObject = (out: Out, object: NativeObject, depth: number): void => {
  const named = ["name", "key"].some((key) => isSensitive(object[key]))
  let count = 0
  out.text += "{"
  for (const key in object) {
    if (count > 0) out.text += ","
    if (count++ === limits.toolInputEntriesMax || isFull(out)) {
      out.isWhole = false
      out.text += '"…":"…"'
      break
    }
    const value = object[key]
    out.text += `${JSON.stringify(shownText(out, key))}:`
    if (isSecret(value) && (isSensitive(key) || (named && key === "value"))) out.text += JSON.stringify(redacted)
    else write(out, value, depth)
  }
  out.text += "}"
}

const isSensitive = (name: unknown): boolean =>
  typeof name === "string" && (isSensitiveName(name.slice(0, limits.nameCharactersMax)) || plainNames.test(name))

/** Too short to be looked for within other names. */
const plainNames = /^(?:auth|pass|pat|otp)$/i

const isSecret = (value: unknown): boolean => value !== null && typeof value !== "boolean"

/** How much of a text is looked at: what is removed from it makes room for what follows. */
const lookedAt = 4 * limits.toolInputTextCharactersMax

/** Half a secret has not the shape of one: of a text that was not looked at whole, the last word is not shown. */
const shownText = (out: Out, text: string): string => {
  const seen = text.length <= lookedAt ? text : withoutLastWord(text.slice(0, lookedAt))
  const safe = redactText(seen.toWellFormed())
  const shown = shortText(safe, limits.toolInputTextCharactersMax)
  if (seen.length === text.length && shown.length === safe.length) return shown
  out.isWhole = false
  return `${shown}…`
}

const withoutLastWord = (text: string): string => {
  let end = text.length
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
