/** The prompt of the command line and the files beside it, as parts of a prompt. */
import * as Effect from "effect/Effect"
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import type { PromptPart } from "../schema/acp/prompt.ts"
import { PromptRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { RunOptions } from "./runOptions.ts"

type Files = Pick<RunOptions, "images" | "files" | "embeds">

/** The text first. Errors: `PromptRefused`, with the option and the path, never with content. */
export const promptParts = Effect.fnUntraced(function* (
  text: string,
  { images, files, embeds }: Files
): Effect.fn.Return<ReadonlyArray<PromptPart>, PromptRefused> {
  const parts = yield* Effect.all([
    Effect.forEach(images, imagePart),
    Effect.forEach(files, linkPart),
    Effect.forEach(embeds, embeddedPart)
  ])
  return [{ _tag: "Text", text }, ...parts.flat()]
})

/** All of stdin. Errors: `PromptRefused` when it is more than a prompt may have. */
export const promptFromStdin: Effect.Effect<string, PromptRefused> = Effect.gen(function* () {
  const chunks: Array<Buffer> = []
  const isWhole = yield* Effect.tryPromise({
    try: async () => {
      let bytes = 0
      for await (const chunk of process.stdin) {
        const piece = Buffer.from(chunk)
        bytes += piece.length
        if (bytes > limits.promptTextBytesMax) return false
        chunks.push(piece)
      }
      return true
    },
    catch: () => new PromptRefused({ reason: "file_unreadable", detail: "stdin cannot be read" })
  })
  if (!isWhole) {
    const detail = `stdin has more than ${limits.promptTextBytesMax} bytes`
    return yield* new PromptRefused({ reason: "too_large", detail })
  }
  return Buffer.concat(chunks).toString("utf8")
})

const imagePart = Effect.fnUntraced(function* (file: string): Effect.fn.Return<PromptPart, PromptRefused> {
  const bytes = yield* contentOf("--image", file)
  const mimeType = imageTypeOf(bytes)
  if (mimeType === undefined) {
    return yield* new PromptRefused({ reason: "part_invalid", detail: `--image ${file}: no PNG, JPEG, GIF or WebP` })
  }
  return { _tag: "Image", data: bytes.toString("base64"), mimeType }
})

const linkPart = Effect.fnUntraced(function* (file: string): Effect.fn.Return<PromptPart, PromptRefused> {
  yield* sizeOf("--file", file)
  return { _tag: "FileLink", path: resolve(file) }
})

/** Text if it is text, else bytes. */
const embeddedPart = Effect.fnUntraced(function* (file: string): Effect.fn.Return<PromptPart, PromptRefused> {
  const bytes = yield* contentOf("--embed", file)
  const path = resolve(file)
  const text = textOf(bytes)
  return text === undefined
    ? { _tag: "EmbeddedBytes", path, data: bytes.toString("base64") }
    : { _tag: "EmbeddedText", path, text }
})

const contentOf = Effect.fnUntraced(function* (option: string, file: string) {
  const size = yield* sizeOf(option, file)
  if (size > limits.promptFileBytesMax) {
    const detail = `${option} ${file}: more than ${limits.promptFileBytesMax} bytes`
    return yield* new PromptRefused({ reason: "too_large", detail })
  }
  return yield* reading(option, file, () => readFile(file))
})

const sizeOf = (option: string, file: string) =>
  reading(option, file, async () => {
    const found = await stat(file)
    if (!found.isFile()) throw new Error("not a file")
    return found.size
  })

const reading = <A>(option: string, file: string, read: () => Promise<A>): Effect.Effect<A, PromptRefused> =>
  Effect.tryPromise({
    try: read,
    catch: () => new PromptRefused({ reason: "file_unreadable", detail: `${option} ${file}: not a readable file` })
  })

/** By its first bytes; a name says nothing. */
const imageTypeOf = (bytes: Buffer): string | undefined => {
  const begins = (offset: number, text: string) => bytes.toString("latin1", offset, offset + text.length) === text
  if (begins(0, "\u0089PNG\r\n\u001a\n")) return "image/png"
  if (begins(0, "\u00ff\u00d8\u00ff")) return "image/jpeg"
  if (begins(0, "GIF8")) return "image/gif"
  if (begins(0, "RIFF") && begins(8, "WEBP")) return "image/webp"
  return undefined
}

const textOf = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
