/** What a `prp` command reads: one JSON document, or JSON Lines. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createReadStream } from "node:fs"
import { type PrpRejected, UsageInvalid } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { parsePrpText } from "../schema/prp/contract/decode.ts"

/** A value and the line that it is on; a document has no line. */
export interface PrpEntry {
  readonly line: number | undefined
  readonly parsed: Result.Result<unknown, PrpRejected>
}

/** The whole text of the file, or of stdin for `-`. Errors: it cannot be read, is too large, or no UTF-8. */
export const prpText = (file: string): Effect.Effect<string, UsageInvalid> =>
  Effect.flatMap(bytesOf(file), (bytes) =>
    Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => refused(file, "no text in UTF-8")
    })
  )

/**
 * One document if the whole text is one. Else lines, empty ones left out, if the first of them is JSON by itself or several
 * begin as objects do; else one document that is broken.
 */
export const prpEntries = (text: string): ReadonlyArray<PrpEntry> => {
  const whole = parsePrpText("document", text)
  if (Result.isSuccess(whole)) return [{ line: undefined, parsed: whole }]
  const lines = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [{ line: index + 1, text: line }]))
  return areLines(lines.map((line) => line.text))
    ? lines.map((line) => ({ line: line.line, parsed: parsePrpText("line", line.text) }))
    : [{ line: undefined, parsed: whole }]
}

const areLines = (lines: ReadonlyArray<string>): boolean => {
  const [first = "", ...others] = lines
  if (others.length === 0) return false
  const begin = lines.filter((line) => line.startsWith("{")).length
  return begin > 1 || Result.isSuccess(parsePrpText("line", first))
}

const bytesOf = (file: string): Effect.Effect<Buffer, UsageInvalid> =>
  Effect.tryPromise({
    try: async () => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      for await (const chunk of file === "-" ? process.stdin : createReadStream(file)) {
        const piece = Buffer.from(chunk)
        bytes += piece.length
        if (bytes > limits.prpInputBytesMax) throw refused(file, `more than ${limits.prpInputBytesMax} bytes`)
        chunks.push(piece)
      }
      return Buffer.concat(chunks)
    },
    catch: (cause) => (cause instanceof UsageInvalid ? cause : refused(file, `cannot be read (${codeOf(cause)})`))
  })

const refused = (file: string, reason: string) => new UsageInvalid({ option: inputName(file), reason })

/** As it is called on the screen. */
export const inputName = (file: string): string => (file === "-" ? "stdin" : file)

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown"
