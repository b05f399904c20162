/** Text of an agent on its way to the screen: safe, on lines of known width. */
import * as CliOutput from "effect/cli/CliOutput"
import { displayLine, displayText } from "../schema/displayText.ts"
import { limits } from "../schema/limits.ts"

/** One safe line, with every run of white space a blank. */
export const shownLine = (text: string): string =>
  displayLine(text.replace(/\s+/g, " ").trim(), limits.shownLineCharactersMax)

/** Safe lines without their ends; a last empty one is none. Tabs become blanks, so that a width can be told. */
export const shownLines = (text: string, charactersMax: number): ReadonlyArray<string> => {
  const lines = displayText(text, charactersMax).replaceAll("\t", "  ").split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

/** The first lines, and how many there are besides. */
export const headLines = (lines: ReadonlyArray<string>, linesMax: number): ReadonlyArray<string> =>
  lines.length <= linesMax ? lines : [...lines.slice(0, linesMax - 1), more(lines.length - linesMax + 1)]

/** The last lines, and how many there are besides. */
export const tailLines = (lines: ReadonlyArray<string>, linesMax: number): ReadonlyArray<string> =>
  lines.length <= linesMax ? lines : [more(lines.length - linesMax + 1), ...lines.slice(1 - linesMax)]

const more = (count: number): string => `… ${count} more lines`

/** The line on as many lines as it needs, none wider than `columns`. Nothing is left out. */
export const wrapped = (line: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let current = ""
  let width = 0
  for (const { segment } of segmenter.segment(line)) {
    const added = CliOutput.displayWidth(segment)
    if (width + added > columns && current !== "") {
      lines.push(current)
      current = ""
      width = 0
    }
    current += segment
    width += added
  }
  return [...lines, current]
}

/** The beginning of the line, not wider than `columns`; a cut one ends in an ellipsis. */
export const cutLine = (line: string, columns: number): string => {
  const [first = "", second] = wrapped(line, columns)
  if (second === undefined) return first
  return `${wrapped(line, Math.max(1, columns - 1))[0] ?? ""}…`
}

const segmenter = new Intl.Segmenter()
