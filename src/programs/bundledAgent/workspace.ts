/** The files of a workspace, and nothing outside of it. */
import { lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { limits } from "../../schema/limits.ts"

/** A file that may not be touched, in words for the user. */
export class FileRefused extends Error {}

/** Names of the files on top of the workspace, folders with a slash, sorted. */
export const listFiles = (cwd: string): ReadonlyArray<string> =>
  readdirSync(cwd, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted()
    .slice(0, limits.bundledAgentFilesListedMax)

/** The absolute path of a file of the workspace. Throws `FileRefused` for anything else, symbolic links included. */
export const pathInside = (cwd: string, file: string): string => {
  const path = resolve(cwd, file)
  const parent = realParent(path, file)
  if (!isInside(realpathSync(cwd), parent) || !isInside(cwd, path))
    throw new FileRefused(`${file} is outside of the workspace`)
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts !== undefined && !facts.isFile()) throw new FileRefused(`${file} is not a regular file`)
  if (facts !== undefined && facts.size > limits.bundledAgentFileBytesMax) throw new FileRefused(`${file} is too large`)
  return path
}

const realParent = (path: string, file: string): string => {
  try {
    return realpathSync(dirname(path))
  } catch {
    throw new FileRefused(`${file} is in a folder that does not exist`)
  }
}

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith("../"))
}

/** The text of a file, `undefined` when it does not exist. */
export const readText = (path: string): string | undefined =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : readFileSync(path, "utf8")

/** Writes the text if the file still is what it was when the change was shown. */
export const replaceText = (path: string, before: string | undefined, after: string): void => {
  if (readText(path) !== before) throw new FileRefused("the file has changed meanwhile")
  writeFileSync(path, after)
}

/** The file that a reader would open first: the wanted one, README.md, or the first. */
export const fileToRead = (cwd: string, wanted: string | undefined): string | undefined => {
  const names = listFiles(cwd).filter((name) => !name.endsWith("/") && lstatSync(join(cwd, name)).isFile())
  return [wanted, "README.md"].find((name) => name !== undefined && names.includes(name)) ?? names[0]
}
