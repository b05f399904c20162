/** Any value as one line of JSON that is safe on a terminal: what could forge one or hide letters is escaped, never lost. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value).replace(unsafe, escaped)}\n`

/** The same for JSON that is on several lines. */
export const escapedText = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(unsafe, escaped))
    .join("\n")

/** JSON itself escapes the controls below U+0020 and lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
  ).join("")
