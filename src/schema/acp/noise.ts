/**
 * What an agent writes to stdout that is no frame: banners, log lines, colours. All of it is counted, the first lines are
 * kept as samples (`noiseSamplesMax` of `noiseSampleBytesMax` bytes), none of it is answered or searched for frames.
 */
import { limits } from "../limits.ts"

/** Live counts of one decoder. */
export interface Noise {
  /** Lines that were no frame, and their bytes without line ends. Blank lines are not counted. */
  readonly lines: number
  readonly bytes: number
  /** The beginnings of the first of them. As the agent wrote them: control characters and secrets included. */
  readonly samples: ReadonlyArray<string>
  /** Of these lines, the last one if it had no line end: a frame that was cut short, or a last word. */
  readonly truncatedLines: number
  /** Lines with bytes that are not UTF-8. They were decoded with U+FFFD in place of those bytes. */
  readonly invalidUtf8Lines: number
}

export interface NoiseRecorder extends Noise {
  /** Counts one line. `head` holds its first bytes, more than a sample takes or the whole line. */
  readonly record: (head: Uint8Array, bytes: number, terminated: boolean) => void
  readonly recordInvalidUtf8: () => void
}

export const makeNoiseRecorder = (): NoiseRecorder => {
  const samples: Array<string> = []
  const noise = {
    lines: 0,
    bytes: 0,
    samples,
    truncatedLines: 0,
    invalidUtf8Lines: 0,
    recordInvalidUtf8: () => {
      noise.invalidUtf8Lines += 1
    },
    record: (head: Uint8Array, bytes: number, terminated: boolean) => {
      noise.lines += 1
      noise.bytes += bytes
      if (!terminated) noise.truncatedLines += 1
      if (samples.length < limits.noiseSamplesMax) samples.push(sampleOf(head))
    }
  }
  return noise
}

const decoder = new TextDecoder()

/** Decoded from a copy of the bytes: a slice of the line's text would keep the whole text alive. */
const sampleOf = (head: Uint8Array): string => {
  let end = Math.min(head.length, limits.noiseSampleBytesMax)
  if (end < head.length) while (end > 0 && isContinuation(head[end])) end -= 1
  return decoder.decode(head.subarray(0, end))
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const escape = 0x1b
const bell = 0x07

/**
 * The index of the first byte after any byte order marks and ANSI escape sequences at the start of a line. An unfinished
 * sequence is not skipped.
 */
export const skipPrefix = (line: Uint8Array): number => {
  let at = 0
  while (true) {
    const next = afterMark(line, at)
    if (next === at) return at
    at = next
  }
}

const afterMark = (line: Uint8Array, at: number): number => {
  if (line[at] === 0xef && line[at + 1] === 0xbb && line[at + 2] === 0xbf) return at + 3
  if (line[at] !== escape) return at
  const kind = line[at + 1] ?? 0
  if (kind === 0x5b) return afterControlSequence(line, at)
  if (kind === 0x5d) return afterSystemCommand(line, at)
  // Two bytes (`ESC c`), or with one byte in between (`ESC ( B`).
  const last = kind >= 0x20 && kind <= 0x2f ? at + 2 : at + 1
  const final = line[last] ?? 0
  return final >= 0x30 && final <= 0x7e ? last + 1 : at
}

/** `ESC [`, parameters, one final byte from `@` to `~`. */
const afterControlSequence = (line: Uint8Array, at: number): number => {
  for (let index = at + 2; index < line.length; index += 1) {
    const byte = line[index] ?? 0
    if (byte >= 0x40 && byte <= 0x7e) return index + 1
    if (byte < 0x20 || byte > 0x7e) return at
  }
  return at
}

/** `ESC ]`, text, BEL or `ESC \`: titles and links. */
const afterSystemCommand = (line: Uint8Array, at: number): number => {
  for (let index = at + 2; index < line.length; index += 1) {
    if (line[index] === bell) return index + 1
    if (line[index] === escape) return line[index + 1] === 0x5c ? index + 2 : at
  }
  return at
}
