/**
 * Finding an executable without running it. Nothing is ever found relative to the working directory: a workspace must not
 * decide what is started.
 */
import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import { access, readFile, realpath, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"

/** The npm package that a file belongs to. */
export interface Origin {
  readonly package: string
  readonly version: string | undefined
}

/** The files of this name on a PATH, in its order. An absolute name stands for itself. */
export const candidates = (name: string, path: string | undefined): Effect.Effect<ReadonlyArray<string>> =>
  isAbsolute(name)
    ? Effect.filter([name], isExecutable)
    : name.includes("/")
      ? Effect.succeed([])
      : Effect.filter(
          (path ?? "").split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : [])),
          isExecutable
        )

/** A file that may be executed by this user. */
export const isExecutable = (path: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    try {
      await access(path, constants.X_OK)
      return (await stat(path)).isFile()
    } catch {
      return false
    }
  })

/** Of a file inside a `node_modules`; `undefined` for all others. */
export const originOf = (executable: string): Effect.Effect<Origin | undefined> =>
  Effect.promise(async () => {
    const real = await realpath(executable).catch(() => executable)
    const [, folder, name] = packagedFile.exec(real) ?? []
    if (folder === undefined || name === undefined) return undefined
    const manifest = await readFile(join(folder, "package.json"), "utf8").catch(() => "")
    return { package: name, version: versionIn(manifest) }
  })

const packagedFile = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//

const versionIn = (manifest: string): string | undefined => {
  try {
    const fields: unknown = JSON.parse(manifest)
    if (typeof fields !== "object" || fields === null || !("version" in fields)) return undefined
    return typeof fields.version === "string" ? fields.version : undefined
  } catch {
    return undefined
  }
}
