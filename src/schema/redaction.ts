/**
 * Removes sensitive values from text of an agent, before anybody is shown it.
 *
 * Guarantees: given values disappear exactly; bearer tokens, keys with a known prefix, JWTs, values of sensitive names,
 * credentials in URLs and lines of bare base64 (bodies of key files) disappear by shape. Errs on the side of removing. Work is
 * linear in the text.
 */
import { limits } from "./limits.ts"

/** Whether a variable, a key or a header of this name holds something to hide. Counts of tokens do not. */
export const isSensitiveName = (name: string): boolean => sensitiveName.test(name)

/** The values of the sensitive variables of an environment: what to remove exactly. */
export const sensitiveValues = (env: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(env).flatMap(([name, value]) => (isSensitiveName(name) ? [value] : []))

/** One line without its sensitive values. Very short ones are not looked for. */
export const redactLine = (line: string, values: ReadonlyArray<string> = []): string => {
  let text = line
  for (const value of [...values].sort((a, b) => b.length - a.length))
    for (const part of value.split("\n"))
      if (part.length >= limits.redactedValueCharactersMin) text = text.replaceAll(part, redacted)
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement)
  return text
}

/** Text of any number of lines without its sensitive values, and without private keys. */
export const redactText = (text: string): string =>
  text.replace(privateKey, redacted).replace(/[^\r\n]+/g, (line) => redactLine(line))

/** What stands in the place of something that was removed. */
export const redacted = "[REDACTED]"

/** To its end mark, or to the end of the text. */
const privateKey = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g

const names =
  "authorization|cookie|credential|password|passwd|passphrase|private[_-]?key|secret|token(?!s)|api[_-]?key|access[_-]?key|connection[_-]?string"

const sensitiveName = new RegExp(names, "i")

const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  // A header is sensitive to its end: cookies and schemes have several words.
  [/((?:authorization|cookie)["'\\]{0,2}\s{0,4}[:=]).*/gi, `$1 ${redacted}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${redacted}`],
  [/\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, redacted],
  [
    /\b(?:sk|rk|pk|gsk|xai|pplx|glpat|xox[abeoprs])-[A-Za-z0-9_-]{8,}|\b(?:sk|rk|gh[opsur]|github_pat|npm|hf|key|crsr|whsec|dop_v1)_[A-Za-z0-9_]{8,}|\b(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}|\bya29\.[A-Za-z0-9_-]{8,}/g,
    redacted
  ],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,2048}@/gi, `$1${redacted}@`],
  [/((?:^|\s)(?:-u|--user|--proxy-user)[\s=]{1,4}["']?[^\s:"']{1,240}:)[^\s"']+/g, `$1${redacted}`],
  [/([?&](?:key|sig|signature|code|auth)=)[^\s&"']+/gi, `$1${redacted}`],
  [
    new RegExp(
      `((?:${names})[\\w-]{0,64}["'\\\\]{0,2}\\s{0,4}[:=]\\s{0,4})("(?:[^"\\\\]|\\\\.)*"?|'[^']*'?|\\\\"[^"]*"?|[^\\s,;&}]+)`,
      "gi"
    ),
    `$1${redacted}`
  ],
  [new RegExp(`(--?[\\w-]{0,64}(?:${names})[\\w-]{0,64}\\s{1,4})\\S+`, "gi"), `$1${redacted}`],
  [/^\s*[A-Za-z0-9+/]{40,}={0,2}\s*$/, redacted]
]
