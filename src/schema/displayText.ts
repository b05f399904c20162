/**
 * Text of an agent made safe to show: what could forge a terminal, hide letters or turn their direction is replaced by
 * U+FFFD, and the length is bounded. For display only; what goes back to the agent is always its own original.
 */
import { firstCharacters, fitsCharacters } from "./characters.ts"

/** Controls, format characters (bidi, zero width, tags), line and paragraph separators, lone surrogates. Joiners are letters' business. */
const unsafeInLine = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const unsafeInText = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const unsafeAnywhere = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

const replacement = "\ufffd"

/** One line of at most `charactersMax` characters; a longer one ends in an ellipsis. */
export const displayLine = (text: string, charactersMax: number): string =>
  (fitsCharacters(text, charactersMax) ? text : `${firstCharacters(text, charactersMax - 1)}\u2026`).replace(
    unsafeInLine,
    replacement
  )

/** Several lines of at most `charactersMax` characters; newlines and tabs stay. The caller says that it was cut. */
export const displayText = (text: string, charactersMax: number): string =>
  firstCharacters(text, charactersMax).replaceAll("\r\n", "\n").replace(unsafeInText, replacement)

/** Whether a path, an id or a name holds a character that has no business there, joiners included. */
export const hasUnsafeCharacter = (text: string): boolean => unsafeAnywhere.test(text)
