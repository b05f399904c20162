/**
 * The private homes that a ledger names: whether they are still there, and how those of a dead host are deleted.
 *
 * Guarantees: only a real folder of our own user whose parent is a real folder named `homes` is deleted; no symbolic link is
 * followed from there on.
 */
import type { Stats } from "node:fs"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { errorCode } from "./pipes.ts"

/** Those that are still there, whatever they are by now. What cannot be looked at counts as there. */
export const existingHomes = async (homes: Iterable<string>): Promise<ReadonlyArray<string>> => {
  const found = await Promise.all([...new Set(homes)].map(async (home) => ((await isThere(home)) ? [home] : [])))
  return found.flat()
}

/** Why it could not be deleted; `undefined`: it is gone. */
export const deleteHome = async (home: string): Promise<string | undefined> => {
  if (!(await isThere(home))) return undefined
  try {
    const refusal = refusalOf(home, await fs.lstat(path.dirname(home)), await fs.lstat(home))
    if (refusal !== undefined) return refusal
    await fs.rm(home, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 })
    return undefined
  } catch (error) {
    // Another host that deletes it at the same time may have been first.
    return (await isThere(home)) ? errorCode(error) : undefined
  }
}

/** Why a folder is not taken for a private home of ours. */
export const refusalOf = (
  home: string,
  parent: Pick<Stats, "isDirectory">,
  found: Pick<Stats, "isDirectory" | "uid">,
  user: number | undefined = process.getuid?.()
): string | undefined => {
  if (path.resolve(home) !== home || path.basename(path.dirname(home)) !== "homes")
    return "it is not a folder in `homes`"
  if (!parent.isDirectory() || !found.isDirectory()) return "it is not a folder, or behind a symbolic link"
  return user === undefined || found.uid === user ? undefined : "it is another user's"
}

const isThere = async (home: string): Promise<boolean> => {
  try {
    await fs.lstat(home)
    return true
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes(errorCode(error))
  }
}
