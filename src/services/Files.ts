/** The few things that actors need of the file system. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class Files extends Context.Service<
  Files,
  {
    /** The real path with every symbolic link resolved; `undefined` when it does not exist or may not be read. */
    readonly realPath: (path: string) => Effect.Effect<string | undefined>
  }
>()("greenroom/services/Files") {}
