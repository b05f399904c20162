/**
 * What a caller may prompt with, and the ACP content blocks that come of it.
 *
 * Guarantees: an agent is sent only kinds of content that it advertises (text and links every agent takes); what does not fit
 * is refused with its reason before anything is written, never left out in silence. Bounds: parts, bytes of one text, bytes of
 * one image or embedded file before base64. Source: ACP v1 `session/prompt`, `promptCapabilities`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { utf8Bytes } from "../characters.ts"
import { PromptRefused } from "../errors.ts"
import { limits } from "../limits.ts"

export const PromptPart = Schema.Union([
  Schema.TaggedStruct("Text", { text: Schema.String }),
  /** `data`: base64 with padding. */
  Schema.TaggedStruct("Image", { data: Schema.String, mimeType: Schema.String }),
  /** Names a file that the agent may read itself. `path` is absolute; `name` defaults to its last part. */
  Schema.TaggedStruct("FileLink", {
    path: Schema.String,
    name: Schema.optionalKey(Schema.String),
    mimeType: Schema.optionalKey(Schema.String)
  }),
  /** Sends the text of a file along. */
  Schema.TaggedStruct("EmbeddedText", {
    path: Schema.String,
    text: Schema.String,
    mimeType: Schema.optionalKey(Schema.String)
  }),
  /** Sends the bytes of a file along, as base64 with padding. */
  Schema.TaggedStruct("EmbeddedBytes", {
    path: Schema.String,
    data: Schema.String,
    mimeType: Schema.optionalKey(Schema.String)
  })
])
export type PromptPart = typeof PromptPart.Type

export const PromptInput = Schema.Union([Schema.String, Schema.Array(PromptPart)])
export type PromptInput = typeof PromptInput.Type

/** As an agent advertises it; absent and `null` are no. */
export interface PromptCapabilities {
  readonly image?: boolean | null | undefined
  readonly embeddedContext?: boolean | null | undefined
}

interface Typed {
  readonly mimeType?: string
}

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | ({ readonly type: "resource_link"; readonly uri: string; readonly name: string } & Typed)
  | {
      readonly type: "resource"
      readonly resource: Typed & { readonly uri: string } & ({ readonly text: string } | { readonly blob: string })
    }

/** Errors: `PromptRefused`, which names the part by its place. */
export const contentBlocks = (
  input: PromptInput,
  capabilities: PromptCapabilities
): Result.Result<ReadonlyArray<ContentBlock>, PromptRefused> => {
  const parts: ReadonlyArray<PromptPart> = typeof input === "string" ? [{ _tag: "Text", text: input }] : input
  if (parts.every(isBlank)) return refuse("empty", "the prompt has no content")
  if (parts.length > limits.promptPartsMax) {
    return refuse("too_large", `${parts.length} parts, at most ${limits.promptPartsMax}`)
  }
  const blocks: Array<ContentBlock> = []
  for (const [index, part] of parts.entries()) {
    const refused = problemOf(part, `part ${index + 1}`, capabilities)
    if (refused !== undefined) return Result.fail(refused)
    blocks.push(blockOf(part))
  }
  return Result.succeed(blocks)
}

/** The `file:` URI of an absolute path. */
export const fileUri = (path: string): string => `file://${path.split("/").map(encodeURIComponent).join("/")}`

const isBlank = (part: PromptPart): boolean => part._tag === "Text" && part.text.trim() === ""

const problemOf = (part: PromptPart, place: string, capabilities: PromptCapabilities): PromptRefused | undefined => {
  switch (part._tag) {
    case "Text":
      return textProblem(part.text, place)
    case "Image":
      if (capabilities.image !== true) return refused("image_unsupported", `${place}: the agent takes no images`)
      if (!/^image\/[\w.+-]{1,100}$/.test(part.mimeType)) return refused("part_invalid", `${place}: no image MIME type`)
      return base64Problem(part.data, place)
    case "FileLink":
      return fileProblem(part, place)
    case "EmbeddedText":
    case "EmbeddedBytes":
      if (capabilities.embeddedContext !== true) {
        return refused("embedded_unsupported", `${place}: the agent takes no embedded files`)
      }
      return (
        fileProblem(part, place) ??
        (part._tag === "EmbeddedBytes" ? base64Problem(part.data, place) : embeddedTextProblem(part.text, place))
      )
  }
}

const blockOf = (part: PromptPart): ContentBlock => {
  switch (part._tag) {
    case "Text":
      return { type: "text", text: part.text }
    case "Image":
      return { type: "image", data: part.data, mimeType: part.mimeType }
    case "FileLink":
      return { type: "resource_link", uri: fileUri(part.path), name: part.name ?? baseName(part.path), ...typeOf(part) }
    case "EmbeddedText":
      return { type: "resource", resource: { uri: fileUri(part.path), text: part.text, ...typeOf(part) } }
    case "EmbeddedBytes":
      return { type: "resource", resource: { uri: fileUri(part.path), blob: part.data, ...typeOf(part) } }
  }
}

const typeOf = (part: Typed): Typed => (part.mimeType === undefined ? {} : { mimeType: part.mimeType })

const baseName = (path: string): string => path.split("/").findLast((step) => step !== "") ?? "/"

const textProblem = (text: string, place: string): PromptRefused | undefined =>
  isLongerThan(text, limits.promptTextBytesMax)
    ? refused("too_large", `${place}: a text of more than ${limits.promptTextBytesMax} bytes`)
    : undefined

const embeddedTextProblem = (text: string, place: string): PromptRefused | undefined =>
  isLongerThan(text, limits.promptFileBytesMax) ? fileTooLarge(place) : undefined

const fileProblem = (part: Typed & { readonly path: string }, place: string): PromptRefused | undefined => {
  const { path, mimeType } = part
  if (path.length > limits.promptPathCharactersMax) {
    return refused("too_large", `${place}: a path of more than ${limits.promptPathCharactersMax} characters`)
  }
  if (!path.startsWith("/")) return refused("part_invalid", `${place}: the path is not absolute`)
  if (path.includes("\0") || !path.isWellFormed()) return refused("part_invalid", `${place}: the path is not text`)
  if (mimeType !== undefined && !/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mimeType)) {
    return refused("part_invalid", `${place}: no MIME type`)
  }
  return undefined
}

/** Searches for the first wrong character: a pattern over the whole text would need a stack as long as the text. */
const base64Problem = (data: string, place: string): PromptRefused | undefined => {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0
  if ((data.length / 4) * 3 - padding > limits.promptFileBytesMax) return fileTooLarge(place)
  const firstWrong = data.search(/[^A-Za-z0-9+/]/)
  const isValid = data !== "" && data.length % 4 === 0 && (firstWrong === -1 || firstWrong === data.length - padding)
  return isValid ? undefined : refused("part_invalid", `${place}: not base64`)
}

const fileTooLarge = (place: string): PromptRefused =>
  refused("too_large", `${place}: a file of more than ${limits.promptFileBytesMax} bytes`)

/** Counts UTF-8 bytes only where the number of characters leaves a doubt. */
const isLongerThan = (text: string, bytesMax: number): boolean =>
  text.length > bytesMax || (text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax)

const refused = (reason: PromptRefused["reason"], detail: string): PromptRefused =>
  new PromptRefused({ reason, detail })

const refuse = (reason: PromptRefused["reason"], detail: string): Result.Result<never, PromptRefused> =>
  Result.fail(refused(reason, detail))
