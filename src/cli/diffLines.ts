/** A unified diff on the screen. */
import { limits } from "../schema/limits.ts"
import type { Paint } from "./paint.ts"
import { shownLines } from "./shownText.ts"

export interface DiffLine {
  readonly text: string
  readonly style: (paint: Paint) => (text: string) => string
}

/** Safe lines, without the two that name the file. */
export const diffLines = (diff: string): ReadonlyArray<DiffLine> =>
  shownLines(diff, limits.fileDiffCharactersMax)
    .filter((line, index) => index > 1 || !/^(?:---|\+\+\+) /.test(line))
    .map((text) => ({ text, style: styleOf(text) }))

const styleOf = (line: string): DiffLine["style"] => {
  if (line.startsWith("+")) return (paint) => paint.green
  if (line.startsWith("-")) return (paint) => paint.red
  return (paint) => paint.dim
}
