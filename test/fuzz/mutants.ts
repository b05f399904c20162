/** Frames with changes that readers get wrong: of their bytes, and of the value that they carry. */
import { mutate } from "../conformance/mutations.ts"
import type { Random } from "../conformance/random.ts"
import type { Frame } from "./frames.ts"

/** A frame as large as a runner admits. */
export const frameBytesMax = 1024 * 1024

/** One mutant for each state of the random source. */
export const mutantOf = (frames: ReadonlyArray<Frame>, random: Random): Frame => {
  const frame = random.any(frames)!
  const valued = random.chance(0.6) ? withChangedValue(frame, random) : undefined
  let bytes = valued ?? frame.bytes
  // Most changes of bytes leave no JSON, so a changed value seldom gets one on top.
  if (valued === undefined || random.chance(0.15)) {
    for (let changes = random.integer(4); changes > 0; changes--) bytes = changed(bytes, frames, random)
  }
  const target = random.chance(0.05) ? random.any(frames)!.target : frame.target
  return { target, bytes: bytes.subarray(0, frameBytesMax) }
}

/** A mutant that is blown up to about the largest frame, at one place. */
export const largeMutantOf = (frames: ReadonlyArray<Frame>, random: Random): Frame => {
  const frame = random.any(frames.filter(({ target }) => target !== "acp"))!
  const value = parsed(frame.bytes)
  const places = placesIn(value)
  const grown =
    value === undefined ? frame.bytes : encoder.encode(JSON.stringify(grownAt(value, random.any(places)!, random)))
  const bytes = random.chance(0.3) ? changed(grown, frames, random) : grown
  return { target: frame.target, bytes: bytes.length > 2 * frameBytesMax ? frame.bytes : bytes }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

const vocabulary = {
  names: [
    "schema",
    "schemaVersion",
    "eventType",
    "payload",
    "sourceSeq",
    "items",
    "answers",
    "jsonrpc",
    "id",
    "params"
  ],
  members: ["run.terminal", "plan.updated", "session.goal.set", "paperclip.prp.event.v3", null, true, 2],
  lengths: [0, 1, 80, 160, 240, 1000, 4000],
  counts: [0, 1, 32, 64, 256],
  numbers: [0, 1, 2, 90, 4000, Number.MAX_SAFE_INTEGER]
}

const withChangedValue = ({ bytes }: Frame, random: Random): Uint8Array | undefined => {
  const value = parsed(bytes)
  if (value === undefined) return undefined
  let mutant: unknown = value
  for (let changes = 1 + random.integer(3); changes > 0; changes--) mutant = mutate(mutant, vocabulary, random)
  return encoder.encode(JSON.stringify(mutant))
}

const tokens: readonly [string, ...ReadonlyArray<string>] = [
  '"__proto__":{"schema":1},',
  '"constructor":{"prototype":null},',
  '"toString":1,',
  '"schema":"paperclip.prp.event.v2",',
  '"schemaVersion":2,',
  '"toJSON":1,',
  "1e999",
  "-0",
  `1${"0".repeat(400)}`,
  "9007199254740993",
  '"\\ud800"',
  '"\\u0000"',
  "[".repeat(600),
  '{"a":'.repeat(600),
  "]",
  "}",
  ",",
  '"',
  "\\",
  "\n",
  "\r\n",
  "\u2028",
  "\ufeff",
  "\u001b[31m",
  "null",
  "😀".repeat(200),
  "x".repeat(5000)
]

/** Bytes that are no UTF-8: a lone continuation, an overlong form, half a character, a surrogate. */
const foul: readonly [ReadonlyArray<number>, ...ReadonlyArray<ReadonlyArray<number>>] = [
  [0x80],
  [0xc0, 0xaf],
  [0xf0, 0x9f],
  [0xed, 0xa0, 0x80],
  [0xff, 0x00]
]

const changed = (bytes: Uint8Array, frames: ReadonlyArray<Frame>, random: Random): Uint8Array => {
  const at = random.integer(bytes.length + 1)
  const to = Math.min(bytes.length, at + random.pick([1, 1, 2, 8, 64, 4096]))
  switch (random.integer(8)) {
    case 0:
      return bytes.map((byte, index) => (index === at ? byte ^ (1 << random.integer(8)) : byte))
    case 1:
      return bytes.slice(0, at)
    case 2:
      return joined(bytes.subarray(0, at), bytes.subarray(to))
    case 3:
      return joined(bytes.subarray(0, to), bytes.subarray(at))
    case 4:
      return joined(bytes.subarray(0, at), encoder.encode(random.pick(tokens)), bytes.subarray(at))
    case 5:
      return joined(bytes.subarray(0, at), Uint8Array.from(random.pick(foul)), bytes.subarray(at))
    case 6:
      return afterName(bytes, random)
    default: {
      const other = random.any(frames)!.bytes
      return joined(bytes.subarray(0, at), other.subarray(random.integer(other.length)))
    }
  }
}

/** A token where a property begins: most stay JSON, with a name that stands twice or that no object should have. */
const afterName = (bytes: Uint8Array, random: Random): Uint8Array => {
  const from = bytes.indexOf(0x7b, random.integer(bytes.length + 1)) + 1
  return joined(bytes.subarray(0, from), encoder.encode(random.pick(tokens)), bytes.subarray(from))
}

const joined = (...pieces: ReadonlyArray<Uint8Array>): Uint8Array => Buffer.concat(pieces)

type Place = ReadonlyArray<string>

const placesIn = (value: unknown): ReadonlyArray<Place> => [
  [],
  ...entriesOf(value).flatMap(([key, inner]) => placesIn(inner).map((place) => [key, ...place]))
]

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null ? Object.entries(value) : []

const grownAt = (value: unknown, [key, ...rest]: Place, random: Random): unknown => {
  if (key === undefined) return grown(value, random)
  const entries = entriesOf(value).map(([name, inner]) => [name, name === key ? grownAt(inner, rest, random) : inner])
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

const grown = (value: unknown, random: Random): unknown => {
  const times = Math.floor((frameBytesMax * 0.9) / ((JSON.stringify(value)?.length ?? 4) + 2))
  if (Array.isArray(value) && value.length > 0) {
    return Array.from({ length: Math.max(1, times) * value.length }, (_, index): unknown => value[index % value.length])
  }
  if (Array.isArray(value)) return Array.from({ length: frameBytesMax / 8 }, () => random.pick<unknown>([null, 1, "x"]))
  if (typeof value === "object" && value !== null) {
    const names = Array.from({ length: frameBytesMax / 16 }, (_, index) => [
      `x${index}`,
      random.pick<unknown>([1, null, "x"])
    ])
    return { ...value, ...Object.fromEntries(names) }
  }
  return random.pick<unknown>([
    "x".repeat(frameBytesMax * 0.9),
    "😀".repeat(frameBytesMax / 5),
    Array.from({ length: frameBytesMax / 4 }, () => []),
    Array.from({ length: Math.max(1, times) }, () => value)
  ])
}
