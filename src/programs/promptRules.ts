/**
 * What a prompt asks for, by rules that are small enough to know by heart. The bundled agent and the demo model share them.
 *
 * - `say TEXT` at the start of a line: answers TEXT, nothing else.
 * - `add "TEXT" to FILE`: adds a line to a file. `create FILE with "TEXT"`: makes TEXT the whole file.
 * - `run: COMMAND`: runs the rest of the line in a shell.
 * - `wait` as a whole line: streams slowly until it is cancelled. `crash` as a whole line: exits with code 7.
 * - A prompt without any of these adds its first line to NOTES.md and counts the lines of that file.
 *
 * Rules apply from top to bottom and from left to right.
 */

export type Step =
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Edit"; readonly file: string; readonly text: string; readonly whole: boolean }
  | { readonly _tag: "Run"; readonly command: string }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Crash" }

/** At least one step. */
export const stepsOf = (prompt: string): ReadonlyArray<Step> => {
  const lines = prompt.split("\n").map((line) => line.trim())
  const steps = lines.flatMap(stepsOfLine)
  return steps.length > 0 ? steps : ordinarySteps(lines.find((line) => line !== "") ?? "An empty prompt")
}

const stepsOfLine = (line: string): ReadonlyArray<Step> => {
  const said = /^say\s+(.+)$/i.exec(line)?.[1]
  if (said !== undefined) return [{ _tag: "Say", text: said }]
  if (/^wait$/i.test(line)) return [{ _tag: "Wait" }]
  if (/^crash$/i.test(line)) return [{ _tag: "Crash" }]
  const run = /\brun:\s*(.+)$/i.exec(line)
  const edits = editsOf(run === null ? line : line.slice(0, run.index))
  return run?.[1] === undefined ? edits : [...edits, { _tag: "Run", command: run[1] }]
}

const editRule = /\badd\s+"([^"]*)"\s+to\s+([^\s"]*[^\s".,;:])|\bcreate\s+([^\s"]+)\s+with\s+"([^"]*)"/gi

const editsOf = (text: string): ReadonlyArray<Step> =>
  [...text.matchAll(editRule)].map(([, added, file, created, content]) =>
    created === undefined
      ? { _tag: "Edit", file: file ?? "", text: added ?? "", whole: false }
      : { _tag: "Edit", file: created, text: content ?? "", whole: true }
  )

const ordinarySteps = (firstLine: string): ReadonlyArray<Step> => [
  { _tag: "Edit", file: "NOTES.md", text: `- ${firstLine.slice(0, 120)}`, whole: false },
  { _tag: "Run", command: "wc -l NOTES.md" }
]

/** The file after the edit. */
export const edited = (before: string, step: Extract<Step, { _tag: "Edit" }>): string => {
  if (step.whole) return `${step.text}\n`
  const complete = before === "" || before.endsWith("\n") ? before : `${before}\n`
  return `${complete}${step.text}\n`
}

/** The same edit as a shell command. */
export const shellCommandOf = (step: Extract<Step, { _tag: "Edit" }>): string =>
  `printf '%s\\n' ${shellQuoted(step.text)} ${step.whole ? ">" : ">>"} ${shellQuoted(step.file)}`

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
