/**
 * The frame codec of the agent's pipes: one JSON-RPC frame per line.
 *
 * Guarantees: bytes are split on 0x0A and decoded by whole lines, so no character is ever cut; frames come out in the order
 * of their lines, however the bytes were chunked; a line yields one frame at most and is never searched for others. A byte
 * order mark or ANSI escape sequences before `{` are skipped; any other line is noise: counted, sampled, never answered.
 *
 * Bounds: a line of `frameBytesMax` bytes without its line end (LF or CRLF) is a frame, one byte more is `Oversized` and
 * its bytes are not kept; so is a line beyond `frameDepthMax` or `frameValuesMax`, which is not parsed. Memory is one line
 * and a small constant; time is proportional to the bytes.
 */
import { FrameTooLarge } from "../errors.ts"
import { limits } from "../limits.ts"
import { type Envelope, type RawFrame, readEnvelope } from "./envelope.ts"
import { shapeExcess, simpleLineBytesMax } from "./frameShape.ts"
import { makeLineBuffer } from "./lineBuffer.ts"
import { makeNoiseRecorder, type Noise, skipPrefix } from "./noise.ts"
import { makeOversizedLine, type Oversized, type OversizedLine } from "./oversizedLine.ts"

export type { Envelope, Invalid, Notification, RawFrame, Request, RequestId, Response, RpcError } from "./envelope.ts"
export type { Excess } from "./frameShape.ts"
export type { Noise } from "./noise.ts"
export type { Oversized } from "./oversizedLine.ts"

export type Frame = Envelope | Oversized

export interface FrameDecoder {
  /** Takes the next bytes; returns the frames that they complete. The bytes are not kept: the caller may reuse them. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Frame>
  /** The output has ended: a last line without line end counts if it is a complete frame, else as truncated. */
  readonly end: () => ReadonlyArray<Frame>
  readonly noise: Noise
}

/** Makes the decoder of one connection. It is a state, not a service: one reader pushes, in order. */
export const makeFrameDecoder = (options?: { readonly frameBytesMax?: number }): FrameDecoder => {
  const frameBytesMax = options?.frameBytesMax ?? limits.frameBytesMax
  const noise = makeNoiseRecorder()
  // Room for a line at the bound and its carriage return; one byte more and the line is oversized for sure.
  const held = makeLineBuffer(frameBytesMax + 1)
  let oversized: OversizedLine | undefined
  let frames: Array<Frame> = []

  /** A piece of a chunk. All its whole lines are decoded to text at once: that is faster than JSON.parse by far. */
  const pushPiece = (piece: Uint8Array) => {
    const linesEnd = piece.lastIndexOf(newline) + 1
    if (linesEnd === 0) return hold(piece)
    let from = 0
    if (held.length() > 0 || oversized !== undefined) {
      from = piece.indexOf(newline) + 1
      hold(piece.subarray(0, from - 1))
      endHeld(true)
    }
    if (from < linesEnd) readLines(piece.subarray(from, linesEnd))
    if (linesEnd < piece.length) hold(piece.subarray(linesEnd))
  }

  /** Keeps the beginning of a line whose end has not come yet. */
  const hold = (bytes: Uint8Array) => {
    if (oversized !== undefined) return oversized.push(bytes)
    const taken = held.append(bytes)
    if (taken === bytes.length) return
    oversized = makeOversizedLine(held.view(), "bytes")
    oversized.push(bytes.subarray(taken))
    held.clear()
  }

  const endHeld = (terminated: boolean) => {
    if (oversized !== undefined) readOversized(oversized, terminated)
    else readOddLine(withoutCarriageReturn(held.view()), terminated)
    oversized = undefined
    held.clear()
  }

  /** Whole lines with their line ends. Text and bytes have the same line ends: no other character contains 0x0A. */
  const readLines = (lines: Uint8Array) => {
    const text = decoder.decode(lines)
    const plain = text.length === lines.length && !text.includes(replacement)
    let textFrom = 0
    let from = 0
    while (from < lines.length) {
      const textEnd = text.indexOf("\n", textFrom)
      const lineEnd = plain ? textEnd : lines.indexOf(newline, from)
      const end = lines[lineEnd - 1] === carriageReturn && lineEnd > from ? lineEnd - 1 : lineEnd
      if (text.charCodeAt(textFrom) === openBrace && end - from <= frameBytesMax) {
        const lineText = text.slice(textFrom, textEnd)
        if (!plain) checkUtf8(lineText, lines, from, end)
        readText(lineText, lines, from, end, true)
      } else readOddLine(lines.subarray(from, end), true)
      textFrom = textEnd + 1
      from = lineEnd + 1
    }
  }

  /** The line from `from` to `end` of `bytes`, of which `text` is what may be a frame. */
  const readText = (text: string, bytes: Uint8Array, from: number, end: number, terminated: boolean) => {
    const excess = end - from > simpleLineBytesMax ? shapeExcess(bytes, from, end) : undefined
    if (excess !== undefined) return readOversized(makeOversizedLine(bytes.subarray(from, end), excess), terminated)
    const raw = parse(text)
    const frame = raw === undefined ? undefined : readEnvelope(raw, end - from)
    if (frame === undefined) noise.record(bytes.subarray(from, end), end - from, terminated)
    else frames.push(frame)
  }

  /** A line that may start with marks, be blank, too long, or noise. */
  const readOddLine = (line: Uint8Array, terminated: boolean) => {
    if (line.length > frameBytesMax) return readOversized(makeOversizedLine(line, "bytes"), terminated)
    const start = skipPrefix(line)
    if (line[start] === openBrace) {
      const text = decoder.decode(start === 0 ? line : line.subarray(start))
      checkUtf8(text, line, start, line.length)
      readText(text, line, 0, line.length, terminated)
    } else if (!line.every(isSpace)) noise.record(line, line.length, terminated)
  }

  const readOversized = (line: OversizedLine, terminated: boolean) => {
    const { bytes, complete, frame } = line.end()
    if (frame === undefined || !(terminated || complete)) noise.record(line.head, bytes, terminated)
    else frames.push(frame)
  }

  const checkUtf8 = (text: string, bytes: Uint8Array, from: number, end: number) => {
    if (text.includes(replacement) && !isUtf8(bytes.subarray(from, end))) noise.recordInvalidUtf8()
  }

  const takeFrames = (): ReadonlyArray<Frame> => {
    const taken = frames
    frames = []
    return taken
  }

  return {
    noise,
    push: (chunk) => {
      for (let from = 0; from < chunk.length; from += limits.decodePieceBytesMax) {
        pushPiece(chunk.subarray(from, from + limits.decodePieceBytesMax))
      }
      return takeFrames()
    },
    end: () => {
      if (held.length() > 0 || oversized !== undefined) endHeld(false)
      return takeFrames()
    }
  }
}

/**
 * The bytes of one frame with its line end, in one buffer for one write. The value must be JSON: anything else (a cycle, a
 * bigint) is a defect.
 */
export const encodeFrame = (
  value: object,
  frameBytesMax: number = limits.frameBytesMax
): Uint8Array | FrameTooLarge => {
  const line = encoder.encode(`${JSON.stringify(value)}\n`)
  const bytes = line.length - 1
  return bytes <= frameBytesMax ? line : new FrameTooLarge({ bytes, limitBytes: frameBytesMax })
}

const newline = 0x0a
const carriageReturn = 0x0d
const openBrace = 0x7b
const replacement = "\ufffd"

const encoder = new TextEncoder()
// Byte order marks are ours to judge, per line; the decoder would drop one at the start of each call.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const strictDecoder = new TextDecoder("utf-8", { fatal: true })

/** The text starts with `{`, so what parses is an object. */
const parse = (text: string): RawFrame | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    strictDecoder.decode(bytes)
    return true
  } catch {
    return false
  }
}

const withoutCarriageReturn = (line: Uint8Array): Uint8Array =>
  line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === carriageReturn
