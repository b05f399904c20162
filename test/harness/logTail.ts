/** The end of what a harness logged, in bounds; how much is not in it is counted. */
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import { utf8Bytes } from "../../src/schema/characters.ts"

export interface LogTail {
  readonly lines: ReadonlyArray<string>
  readonly retainedBytes: number
  readonly droppedLines: number
}

export const emptyTail: LogTail = { lines: [], retainedBytes: 0, droppedLines: 0 }

/** A line that does not fit alone is dropped alone. */
export const withLine = (tail: LogTail, line: string): LogTail => {
  if (utf8Bytes(line) > harnessBounds.logBytesMax) return { ...tail, droppedLines: tail.droppedLines + 1 }
  const lines = [...tail.lines, line]
  let retainedBytes = tail.retainedBytes + utf8Bytes(line)
  let droppedLines = tail.droppedLines
  while (lines.length > harnessBounds.logLinesMax || retainedBytes > harnessBounds.logBytesMax) {
    retainedBytes -= utf8Bytes(lines.shift() ?? "")
    droppedLines++
  }
  return { lines, retainedBytes, droppedLines }
}
