/** `Files` on Node. */
import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Files } from "../services/Files.ts"

export const layer: Layer.Layer<Files> = Layer.succeed(
  Files,
  Files.of({
    realPath: (path) =>
      Effect.callback<string | undefined>((resume) =>
        fs.realpath(path, (error, real) => resume(Effect.succeed(error === null ? real : undefined)))
      )
  })
)
