/** A violation for a person: what is wrong, who ran before it, and what shows it again. */
import { check, type MakeProgram, type Violation } from "./check.ts"
import { shrink, type ShrinkOptions } from "./shrink.ts"

export interface DescribeOptions extends ShrinkOptions {
  /** Lines of the story that are shown, the last ones. Default 60. */
  readonly maxLines?: number
  /** The command that runs the options again. Default: a call of `check`. */
  readonly command?: (options: Violation["options"]) => string
}

/** Shrinks it first. Runs the program. */
export const describeViolation = <A, E>(
  program: MakeProgram<A, E>,
  violation: Violation,
  { command = ofCheck, maxLines = 60, ...limits }: DescribeOptions = {}
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

const ofCheck = (options: Violation["options"]): string => `check(program(o), o), where o is ${JSON.stringify(options)}`
