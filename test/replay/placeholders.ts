/**
 * Takes what belongs to one machine and one run out of recorded lines: paths, ports, times, and the ids that agents mint.
 * What is equal stays equal, so ids still name what they named.
 */
import { hostname, userInfo } from "node:os"

export interface Place {
  readonly path: string
  readonly placeholder: string
}

const time = "2000-01-01T00:00:00.000Z"
const timeMs = "946684800000"

/** Longest first: a folder must not hide what lies in it. Throws when something of this machine is left. */
export const withPlaceholders = (text: string, places: ReadonlyArray<Place>): string => {
  const byLength = [...places].sort((one, other) => other.path.length - one.path.length)
  let result = text
  for (const { path, placeholder } of byLength) result = result.replaceAll(path, placeholder)
  result = result
    .replaceAll(/\b127\.0\.0\.1:\d+/g, "127.0.0.1:1")
    .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, time)
    .replaceAll(/\b1[6-9]\d{11}\b/g, timeMs)
  const mintedIds = numbered()
  result = result
    .replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, (id) => mintedIds(id, uuid))
    .replaceAll(/\b(ses|msg|prt|per)_[0-9A-Za-z]{16,}/g, (id, kind: string) => mintedIds(id, (n) => `${kind}_${n}`))
  const left = leftovers().find((word) => result.includes(word))
  if (left !== undefined) throw new Error(`the recording names ${left}`)
  return result
}

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

/** One number for each id, in the order in which they come. */
const numbered = () => {
  const known = new Map<string, string>()
  return (id: string, name: (n: number) => string): string => {
    const made = known.get(id) ?? name(known.size + 1)
    known.set(id, made)
    return made
  }
}

/** Words of this machine that would be recognised anywhere. A short name may be a word of any text. */
const leftovers = (): ReadonlyArray<string> => {
  const { homedir, username } = userInfo()
  const names = [hostname(), username].filter((name) => name.length >= 6)
  return [`${homedir}/`, `/home/${username}`, ...names]
}
