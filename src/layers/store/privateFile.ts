/** The place of a store's file: a folder and a file that nobody else can read, and no way around by a link. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { StoreRefused } from "../../schema/errors.ts"

/**
 * Makes what is missing, folders 0700 and the file 0600, and refuses what is there and not private. An existing file is only
 * looked at: to open and close it would take away the locks that this process may hold on it. Errors: `StoreRefused`, with
 * what is wrong.
 */
export const preparePrivateFile = (file: string): Effect.Effect<void, StoreRefused> =>
  Effect.suspend(() => {
    const refused = (reason: StoreRefused["reason"], detail: string) =>
      Effect.fail(new StoreRefused({ path: file, reason, detail }))
    try {
      const folder = path.dirname(file)
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      const found = refusalOf(fs.lstatSync(folder), "folder")
      if (found !== undefined) return refused(...found)
      const known = fs.lstatSync(file, { throwIfNoEntry: false })
      if (known === undefined) {
        fs.closeSync(fs.openSync(file, "wx", 0o600))
        return Effect.void
      }
      const wrong = refusalOf(known, "file")
      return wrong === undefined ? Effect.void : refused(...wrong)
    } catch (error) {
      return refused("unusable", error instanceof Error ? error.message : String(error))
    }
  })

/** Why this is no private file or folder of ours; `undefined`: it is one. */
export const refusalOf = (
  found: fs.Stats,
  what: "folder" | "file"
): readonly [reason: "symlink" | "unusable" | "not_private", detail: string] | undefined => {
  if (found.isSymbolicLink()) return ["symlink", `the ${what} is a symbolic link`]
  if (what === "folder" ? !found.isDirectory() : !found.isFile()) return ["unusable", `it is no ${what}`]
  if (found.uid !== process.getuid?.()) return ["not_private", `the ${what} belongs to another user`]
  if ((found.mode & 0o077) !== 0) return ["not_private", `the ${what} is open to others`]
  return undefined
}
