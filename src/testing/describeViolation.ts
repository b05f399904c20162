/** A violation for a person: what is wrong, who ran before it, and what shows it again. */
import { check, type MakeProgram, type Violation } from "./check.ts"
import { shrink, type ShrinkOptions } from "./shrink.ts"

export interface DescribeOptions extends ShrinkOptions {
  /** Lines of the story that are shown, the last ones. Default 60. */
  readonly maxLines?: number
  /** The command that runs the options again. Default: names `run`. */
  readonly command?: (options: Violation["options"]) => string
}

/** Shrinks it first. Runs the program. */
export const describeViolation = <A, E>(
  program: MakeProgram<A, E>,
  violation: Violation,
  { command = ofRun, maxLines = 60, ...limits }: DescribeOptions = {}
): string => {
  const { options, what } = shrink(program, violation, limits)
  const { story } = check(program(options), { ...options, story: true }).result
  const left = story.length - maxLines
  return [
    what,
    ...(left > 0 ? [`  (${left} lines before)`] : []),
    ...story.slice(-maxLines).map((line) => `  ${line}`),
    `again: ${command(options)}`
  ].join("\n")
}

const ofRun = (options: Violation["options"]): string => `run(program, ${JSON.stringify(options)})`
