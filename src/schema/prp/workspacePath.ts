/** A path of the agent as one inside the workspace. By its text only: a link may still lead elsewhere. */
import { fitsCharacters } from "../characters.ts"

/** Control characters, line separators, and the backslash, which is a separator for some reader of the event. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\\]/u

/** A drive, or the scheme of a URI. */
const qualified = /^[A-Za-z][A-Za-z0-9+.-]*:/

/**
 * The path relative to `workspace` (absolute), without `.` segments; `.` is the workspace itself. `undefined` when it lies
 * outside, goes up, is longer than `charactersMax`, or can be read in more than one way.
 */
export const workspacePath = (path: string, workspace: string, charactersMax: number): string | undefined => {
  // A workspace can be deep, so its own length is not part of the bound.
  if (path === "" || !fitsCharacters(path, charactersMax + workspace.length + 1) || unsafe.test(path)) return undefined
  if (!path.startsWith("/") && qualified.test(path)) return undefined
  const segments = segmentsOf(path)
  if (segments.includes("..")) return undefined
  const inside = path.startsWith("/") ? withoutPrefix(segments, segmentsOf(workspace)) : segments
  if (inside === undefined) return undefined
  const relative = inside.length === 0 ? "." : inside.join("/")
  return fitsCharacters(relative, charactersMax) ? relative : undefined
}

const segmentsOf = (path: string): ReadonlyArray<string> =>
  path.split("/").filter((segment) => segment !== "" && segment !== ".")

const withoutPrefix = (
  segments: ReadonlyArray<string>,
  prefix: ReadonlyArray<string>
): ReadonlyArray<string> | undefined =>
  prefix.every((segment, index) => segments[index] === segment) ? segments.slice(prefix.length) : undefined
