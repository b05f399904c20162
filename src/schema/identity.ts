/**
 * Digests of texts, and the ids that PRP demands. The only file of this folder that reaches for an implementation from
 * outside (`createHash`).
 */
import { createHash } from "node:crypto"
import * as Schema from "effect/Schema"
import { fitsCharacters } from "./characters.ts"
import { limits } from "./limits.ts"

/** `sha256:` and 64 lowercase hexadecimal digits. */
export const Digest = Schema.String.check(Schema.isPattern(/^sha256:[a-f0-9]{64}$/u))
export type Digest = typeof Digest.Type

/** The digest of the text's UTF-8 bytes. */
export const digestOf = (text: string): Digest => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`

/** The digest of the bytes that the text encodes. What is no base64 in it is skipped. */
export const digestOfBase64 = (text: string): Digest =>
  `sha256:${createHash("sha256").update(text, "base64").digest("hex")}`

const stablePattern = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/

const isStable = (text: string, charactersMax: number): boolean =>
  fitsCharacters(text, charactersMax) && stablePattern.test(text)

const stableId = (charactersMax: number) =>
  Schema.String.check(
    Schema.makeFilter((text: string) => isStable(text, charactersMax) || "Expected a stable id", {
      toJsonSchema: () => ({ minLength: 1, maxLength: charactersMax, pattern: stablePattern.source })
    })
  )

/** The narrower id that PRP v1 demands inside typed payloads. */
export const StableId = stableId(limits.idCharactersMax)

/** The same with more room, in receipts and semantic tools. */
export const LongStableId = stableId(limits.nameCharactersMax)

/**
 * Foreign text as a stable id: itself when it is one, else `prefix` and half of its digest. The same text always gives the
 * same id. `prefix` is a short stable id.
 */
export const stableIdOf = (prefix: string, text: string): string =>
  isStable(text, limits.idCharactersMax)
    ? text
    : `${prefix}-${digestOf(text).slice("sha256:".length, "sha256:".length + 32)}`
