/** The file of `--record`. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { closeSync, openSync, writeSync } from "node:fs"
import { UsageInvalid } from "../schema/errors.ts"

/**
 * Makes the file, readable for its owner only, and gives what appends to it. A later failure ends the recording and is said
 * once; the run goes on. Errors: `UsageInvalid` when the file cannot be made.
 */
export const openRecording = (
  file: string
): Effect.Effect<(lines: string) => Effect.Effect<void>, UsageInvalid, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(file, "w", 0o600),
      catch: () => new UsageInvalid({ option: "--record", reason: `${file} cannot be written` })
    }),
    (fd) => Effect.ignore(Effect.try(() => closeSync(fd)))
  ).pipe(
    Effect.map((fd) => {
      let hasFailed = false
      return (lines: string) =>
        Effect.suspend(() => {
          if (hasFailed) return Effect.void
          return Effect.try(() => writeAll(fd, lines)).pipe(
            Effect.catch(() => {
              hasFailed = true
              return Effect.logWarning(`the recording is not complete: ${file} could not be written`)
            })
          )
        })
    })
  )

const writeAll = (fd: number, text: string): void => {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written)
}
