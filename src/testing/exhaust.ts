/** Every schedule of a small program, time as one of the tasks. */
import { check, type MakeProgram, type Violation } from "./check.ts"
import type { Choice } from "./choices.ts"
import type { RunOptions } from "./run.ts"

export interface ExhaustOptions {
  /** Default 10 000. */
  readonly maxRuns?: number
  /** As in `RunOptions`. Default: time is one of the tasks. */
  readonly timeProbability?: number
  readonly interruptAt?: number
  readonly maxSteps?: number
}

export interface ExhaustResult {
  readonly runs: number
  /** Whether that was all of them; `false`: there are more than `maxRuns`. */
  readonly complete: boolean
  readonly violations: ReadonlyArray<Violation>
}

/** Depth first over the choices: of each schedule, the last choice that has a way left takes it. */
export const exhaust = <A, E>(program: MakeProgram<A, E>, options: ExhaustOptions = {}): ExhaustResult => {
  const { maxRuns = 10_000, ...base } = options
  const violations: Array<Violation> = []
  let choices: ReadonlyArray<number> | undefined = []
  let runs = 0
  for (; choices !== undefined && runs < maxRuns; runs++) {
    const runOptions: RunOptions = { ...base, choices, thereafter: "first" }
    const checked = check(program(runOptions), runOptions)
    for (const violation of checked.violations) violations.push(violation)
    choices = nextOf(checked.result.trace)
  }
  return { runs, complete: choices === undefined, violations }
}

const nextOf = (trace: ReadonlyArray<Choice>): ReadonlyArray<number> | undefined => {
  const last = trace.findLastIndex(({ of, pick }) => pick + 1 < of)
  return last < 0 ? undefined : trace.slice(0, last + 1).map(({ pick }, index) => (index === last ? pick + 1 : pick))
}
