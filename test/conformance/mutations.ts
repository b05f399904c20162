/** Changes to a JSON value at one random place. */
import type { Random } from "./random.ts"
import { isObject } from "./schemaSet.ts"
import { oddDateTimes } from "./texts.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** A copy with one change. */
export const mutate = (value: unknown, vocabulary: Vocabulary, random: Random): unknown => {
  const place = random.integer(countOf(value))
  return changedAt(value, place, (found) => changed(found, vocabulary, random))
}

const countOf = (value: unknown): number => 1 + childrenOf(value).reduce((sum, [, child]) => sum + countOf(child), 0)

const childrenOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null ? Object.entries(value) : []

/** Places are numbered as a walk meets them, an owner before what it owns. */
const changedAt = (value: unknown, place: number, change: (found: unknown) => unknown): unknown => {
  if (place === 0) return change(value)
  let left = place - 1
  for (const [key, child] of childrenOf(value)) {
    const size = countOf(child)
    if (left < size) return withChild(value, key, changedAt(child, left, change))
    left -= size
  }
  return value
}

const withChild = (owner: unknown, key: string, child: unknown): unknown =>
  Array.isArray(owner)
    ? owner.map((item, index) => (String(index) === key ? child : item))
    : Object.fromEntries(childrenOf(owner).map(([name, old]) => [name, name === key ? child : old]))

const strangers: readonly [unknown, ...ReadonlyArray<unknown>] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  2,
  3,
  0.5,
  1e21,
  2 ** 53,
  2 ** 53 - 1,
  "",
  "x",
  "1",
  [],
  {},
  [null],
  [{}]
]

/** Not `toString`, nor `valueOf`: the reference's validator calls them when it compares objects. */
const strangeNames: readonly [string, ...ReadonlyArray<string>] = [
  "later",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "",
  "0",
  "😀"
]

const changed = (found: unknown, vocabulary: Vocabulary, random: Random): unknown => {
  if (random.chance(0.15)) return random.pick(strangers)
  if (random.chance(0.15)) return random.any(vocabulary.members) ?? null
  if (typeof found === "string") return changedText(found, vocabulary, random)
  if (typeof found === "number") return changedNumber(found, vocabulary, random)
  if (Array.isArray(found)) return changedList(found, vocabulary, random)
  if (isObject(found)) return changedObject(Object.entries(found), vocabulary, random)
  return random.pick(strangers)
}

const changedText = (text: string, { lengths }: Vocabulary, random: Random): string => {
  const length = (random.any(lengths) ?? 8) + random.pick([-1, 0, 1])
  switch (random.integer(6)) {
    case 0:
      return random.pick(["x", "😀"]).repeat(Math.max(0, length))
    case 1:
      return text + "x".repeat(Math.max(0, length - [...text].length))
    case 2:
      return `${text}${random.pick(["\n", " ", "/", "..", "/..", "\u2029", "\ud83d", "€"])}`
    case 3:
      return `${random.pick(["\n", " ", "/", "../", "-", "A", "\ude00"])}${text}`
    case 4:
      return random.pick(oddDateTimes)
    default:
      return text.slice(1)
  }
}

const changedNumber = (number: number, { numbers }: Vocabulary, random: Random): number =>
  random.pick([
    number + 1,
    number - 1,
    number + 0.5,
    -number,
    (random.any(numbers) ?? 0) + random.pick([-1, 0, 1]),
    1e300,
    Number.MIN_VALUE
  ])

const changedList = (list: ReadonlyArray<unknown>, { counts }: Vocabulary, random: Random): unknown => {
  const length = (random.any(counts) ?? 2) + random.pick([-1, 0, 1])
  switch (random.integer(4)) {
    case 0:
      return [...list, ...list]
    case 1:
      return Array.from({ length: Math.max(0, length) }, () => list[0] ?? "x")
    case 2:
      return list.slice(1)
    default:
      return [...list, random.pick(strangers)]
  }
}

type Entries = ReadonlyArray<readonly [string, unknown]>

const changedObject = (entries: Entries, { names }: Vocabulary, random: Random): unknown => {
  const chosen = random.any(entries)?.[0]
  const added = (name: string): Entries => [...entries, [name, random.pick(strangers)]]
  switch (random.integer(5)) {
    case 0:
      return Object.fromEntries(added(random.pick(strangeNames)))
    case 1:
      return Object.fromEntries(added(random.any(names) ?? "later"))
    case 2:
      return Object.fromEntries(entries.map(([name, value]) => [name === chosen ? `${name}_` : name, value]))
    case 3:
      return Object.fromEntries(entries.toReversed())
    default:
      return Object.fromEntries(entries.filter(([name]) => name !== chosen))
  }
}
