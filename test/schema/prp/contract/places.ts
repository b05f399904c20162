/** Places in a JSON value, and copies of it that differ at one of them. */

export type Path = ReadonlyArray<string>

/** Of the value and of everything in it. */
export const pathsIn = (value: unknown): ReadonlyArray<Path> => [
  [],
  ...entriesOf(value).flatMap(([key, child]) => pathsIn(child).map((path) => [key, ...path]))
]

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null ? Object.entries(value) : []

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((here, key) => new Map(entriesOf(here)).get(key), value)

/** A copy with another value there. A property that is not there is added; of an array only an item is replaced. */
export const withAt = (value: unknown, [key, ...rest]: Path, replacement: unknown): unknown => {
  if (key === undefined) return replacement
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === key ? withAt(item, rest, replacement) : item))
  }
  const entries = new Map(entriesOf(value))
  entries.set(key, withAt(entries.get(key), rest, replacement))
  return Object.fromEntries(entries)
}

export const isPlainObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value)
