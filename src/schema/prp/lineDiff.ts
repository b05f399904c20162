/**
 * A unified diff of two texts with one hunk: from the first line that differs to the last, with three lines around. Not the
 * smallest diff there is, but a true one, in linear time. Line numbers count within the texts that were given.
 */

export interface LineDiff {
  readonly additions: number
  readonly deletions: number
  /** Empty when nothing differs. */
  readonly text: string
}

const contextLines = 3

/** `before` is `null` for a file that did not exist. */
export const lineDiff = (path: string, before: string | null, after: string): LineDiff => {
  const old = linesOf(before ?? "")
  const now = linesOf(after)
  const head = commonPrefix(old, now)
  const tail = commonSuffix(old, now, head)
  const removed = old.slice(head, old.length - tail)
  const added = now.slice(head, now.length - tail)
  if (removed.length === 0 && added.length === 0) return { additions: 0, deletions: 0, text: "" }
  const start = Math.max(0, head - contextLines)
  const leading = old.slice(start, head)
  const trailing = old.slice(old.length - tail, old.length - tail + contextLines)
  const around = leading.length + trailing.length
  const text = [
    `--- ${before === null ? "/dev/null" : `a/${path}`}\n`,
    `+++ b/${path}\n`,
    `@@ -${range(start, around + removed.length)} +${range(start, around + added.length)} @@\n`,
    ...marked(" ", leading),
    ...marked("-", removed),
    ...marked("+", added),
    ...marked(" ", trailing)
  ].join("")
  return { additions: added.length, deletions: removed.length, text }
}

/** Each line with its line feed, so that a missing one at the end is a difference. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  const last = lines.pop()
  const ended = lines.map((line) => `${line}\n`)
  return last === undefined || last === "" ? ended : [...ended, last]
}

const commonPrefix = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): number => {
  const most = Math.min(left.length, right.length)
  let count = 0
  while (count < most && left[count] === right[count]) count++
  return count
}

const commonSuffix = (left: ReadonlyArray<string>, right: ReadonlyArray<string>, head: number): number => {
  const most = Math.min(left.length, right.length) - head
  let count = 0
  while (count < most && left[left.length - 1 - count] === right[right.length - 1 - count]) count++
  return count
}

/** An empty range names the line before it. */
const range = (start: number, length: number): string => `${length === 0 ? start : start + 1},${length}`

const marked = (mark: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => (line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`))
