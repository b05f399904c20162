/**
 * The one place that a permission request is about, told by its text alone.
 *
 * Guarantees: `Inside` is said only when every place that names a path (locations, path-like fields of the raw input, diffs)
 * names the same one, within the workspace by its text, readable in full and without a step to a parent. Such a step is
 * refused and not resolved: the kernel resolves it behind symbolic links, a text cannot. Symbolic links remain: whoever acts
 * on a target compares real paths first. Bounds: locations, values of raw input, the length of a path.
 */
import { hasUnsafeCharacter } from "../schema/displayText.ts"
import { limits } from "../schema/limits.ts"
import type { RequestKind, RequestTarget } from "../schema/request.ts"

export interface TargetSource {
  readonly kind: RequestKind
  readonly locations: ReadonlyArray<unknown>
  readonly rawInput: unknown
  readonly content: ReadonlyArray<unknown>
}

/** `workspaceRoots`: absolute names of one workspace, the first is its own; the others (its real path) are aliases. */
export const permissionTarget = (source: TargetSource, workspaceRoots: ReadonlyArray<string>): RequestTarget => {
  if (source.kind === "execute") return none("a command may touch any place")
  const places = namedPlaces(source)
  if (typeof places === "string") return none(places)
  let target: string | undefined
  for (const place of places) {
    const inside = placeInWorkspace(place, workspaceRoots)
    if (inside._tag === "None") return inside
    if (target !== undefined && target !== inside.path) return none("more than one place is named")
    target = inside.path
  }
  return target === undefined ? none("no place is named") : { _tag: "Inside", path: target }
}

/** Where one path lies, relative to the workspace; `.` is the workspace itself. */
export const placeInWorkspace = (place: string, workspaceRoots: ReadonlyArray<string>): RequestTarget => {
  if (place.length > limits.targetPathCharactersMax) return none("the path is too long")
  if (place === "" || place.trim() !== place) return none("the path is empty or padded")
  if (hasUnsafeCharacter(place)) return none("the path holds control or format characters")
  if (/[\\:]/.test(place) || place.startsWith("~")) return none("the path is of another kind than a plain one")
  const relative = place.startsWith("/") ? withoutRoot(place, workspaceRoots) : place
  if (relative === undefined) return none("the path is outside of the workspace")
  const steps = relative.split("/").filter((step) => step !== "" && step !== ".")
  if (steps.includes("..")) return none("the path steps to a parent")
  return { _tag: "Inside", path: steps.length === 0 ? "." : steps.join("/") }
}

/** Whether one absolute real path is the other or lies under it. */
export const isWithin = (realPath: string, realRoot: string): boolean =>
  withoutRoot(realPath, [realRoot]) !== undefined && !realPath.split("/").includes("..")

const none = (reason: string): RequestTarget => ({ _tag: "None", reason })

const withoutRoot = (path: string, roots: ReadonlyArray<string>): string | undefined => {
  for (const root of roots) {
    if (!root.startsWith("/")) continue
    const prefix = root.replace(/\/+$/, "")
    if (path === prefix) return ""
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length)
  }
  return undefined
}

/** All places that are named, or why they cannot be told. */
const namedPlaces = (source: TargetSource): ReadonlyArray<string> | string => {
  if (source.locations.length > limits.requestLocationsMax) return "too many locations"
  const places: Array<string> = []
  for (const location of source.locations) {
    const path = fieldOf(location, "path")
    if (typeof path !== "string") return "a location has no path"
    places.push(path)
  }
  for (const block of source.content) {
    if (fieldOf(block, "type") !== "diff") continue
    const path = fieldOf(block, "path")
    if (typeof path !== "string") return "a diff has no path"
    places.push(path)
  }
  const isLooking = source.kind === "read" || source.kind === "search"
  const problem = scanRawInput(source.rawInput, isLooking, places)
  return problem ?? places
}

/**
 * Collects the path-like fields. For a read or a search it also says no to a command and to any other text that may name a
 * place: an agent's search takes globs, and its read may be a shell line.
 */
const scanRawInput = (rawInput: unknown, isLooking: boolean, places: Array<string>): string | undefined => {
  const waiting: Array<{ readonly key: string; readonly value: unknown }> = [{ key: "", value: rawInput }]
  for (let scanned = 0; ; scanned++) {
    const next = waiting.pop()
    if (next === undefined) return undefined
    if (scanned >= limits.targetScanValuesMax) return "the raw input is too large to tell"
    const { key, value } = next
    if (isLooking && commandKey.test(key)) return "the raw input holds a command"
    if (typeof value === "string") {
      if (pathKey.test(key)) places.push(value)
      else if (isLooking && mayNamePlace.test(value)) return "the raw input may name another place"
    } else if (Array.isArray(value)) {
      if (value.length > limits.targetScanValuesMax) return "the raw input is too large to tell"
      for (const item of value) waiting.push({ key, value: item })
    } else if (typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) waiting.push({ key: plainKey(name), value: item })
    }
  }
}

/** `file_path`, `filePath` and `file-path` are one name. */
const plainKey = (name: string): string => name.replace(/[_-]/g, "").toLowerCase()

const pathKey = /(?:path|file|filename|dir|directory|folder|cwd|root|uri|url)s?$|directories$/
const commandKey = /(?:command|cmd|script|argv)s?$/
/** A slash or a tilde that starts a word, a step to a parent, a URL, a drive. */
const mayNamePlace = /(?:^|[\s"'`=({,[:;|<>])[/~]|(?:^|[^.\w])\.\.(?:[^.\w]|$)|:\/\/|^[A-Za-z]:\\/

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
