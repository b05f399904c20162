/**
 * The end of an agent's stderr, for the person who has to find out why it failed.
 *
 * Bounds: `stderrTailLinesMax` lines and `stderrTailBytesMax` bytes, whatever comes in. What is shown has neither sensitive
 * values nor control characters. Nothing is ever concluded from it.
 */
import { utf8Bytes } from "../schema/characters.ts"
import { limits } from "../schema/limits.ts"
import { redactLine } from "../schema/redaction.ts"

export interface StderrTail {
  /** Takes a piece of any size, cut anywhere. */
  readonly push: (bytes: Uint8Array) => void
  /** Oldest first; the last one may be a line that has no end yet. */
  readonly lines: () => ReadonlyArray<string>
}

/** An empty tail. `values` are removed exactly, beside what `redactLine` knows by shape. */
export const makeStderrTail = (values: ReadonlyArray<string> = []): StderrTail => {
  let decoder = new TextDecoder()
  let ended: Array<string> = []
  let open = ""
  // In the middle of a word whose beginning was cut off: half a key would not be recognised as one.
  let midWord = false

  const push = (bytes: Uint8Array) => {
    const piece = bytes.subarray(Math.max(0, bytes.length - pieceBytesMax))
    if (piece.length < bytes.length) {
      decoder = new TextDecoder()
      ended = []
      open = cutMark
      midWord = true
    }
    let text = decoder.decode(piece, { stream: true })
    if (midWord) {
      const wordEnd = text.search(/\s/)
      if (wordEnd === -1) return
      midWord = false
      text = text.slice(wordEnd)
    }
    const parts = (open + text).split(lineEnd)
    const last = parts.pop() ?? ""
    open = boundLine(last)
    midWord = open === cutMark && last !== cutMark
    ended = bound([...ended, ...parts.filter((line) => line !== "").map(boundLine)])
  }

  const lines = () =>
    bound((open === "" ? ended : [...ended, open]).map((line) => redactLine(line.replace(notShown, ""), values)))

  return { push, lines }
}

const lineEnd = /\r\n|\n|\r/

const pieceBytesMax = 2 * limits.stderrTailBytesMax

/** Escape sequences of terminals, and every control or invisible character but the tab. */
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const notShown = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-_]|(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Stands for the beginning of a line that was too long. */
const cutMark = "[cut] "

/** Half the tail at most, so that one endless line cannot push out all others. Cut where a word begins. */
const boundLine = (line: string): string => {
  if (utf8Bytes(line) <= lineBytesMax) return line
  const end = line.slice(-Math.floor(lineBytesMax / bytesPerUnitMax))
  const wordBegin = end.search(/\s/)
  return wordBegin === -1 ? cutMark : cutMark + end.slice(wordBegin + 1)
}

const lineBytesMax = limits.stderrTailBytesMax / 2

/** UTF-8 bytes of one UTF-16 unit. */
const bytesPerUnitMax = 3

const bound = (lines: ReadonlyArray<string>): Array<string> => {
  let bytes = 0
  let first = lines.length
  while (first > 0 && lines.length - first < limits.stderrTailLinesMax) {
    bytes += utf8Bytes(lines[first - 1] ?? "") + 1
    if (bytes > limits.stderrTailBytesMax) break
    first--
  }
  return lines.slice(first)
}
