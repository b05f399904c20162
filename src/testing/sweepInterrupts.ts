/** Interrupts a program at every step of its run, one run per step, and collects what went wrong. */
import { check, type MakeProgram, type Violation } from "./check.ts"
import type { RunOptions } from "./run.ts"

export interface SweepOptions {
  readonly seeds: ReadonlyArray<number>
  /** Each seed is swept once per probability. Default: 0 and 0.1. */
  readonly yieldProbabilities?: ReadonlyArray<number>
  /** As in `RunOptions`. */
  readonly timeProbability?: number
  /** Only every n-th step, from another one on for each seed. Default 1. */
  readonly every?: number
  readonly maxSteps?: number
}

export interface SweepResult {
  readonly runs: number
  readonly violations: ReadonlyArray<Violation>
}

export const sweepInterrupts = <A, E>(program: MakeProgram<A, E>, options: SweepOptions): SweepResult => {
  const violations: Array<Violation> = []
  let runs = 0
  const observe = (runOptions: RunOptions): number => {
    const checked = check(program(runOptions), runOptions)
    runs++
    violations.push(...checked.violations)
    return checked.result.steps
  }
  for (const seed of options.seeds) {
    for (const yieldProbability of options.yieldProbabilities ?? [0, 0.1]) {
      const base: RunOptions = {
        seed,
        yieldProbability,
        maxSteps: options.maxSteps ?? 100_000,
        ...(options.timeProbability === undefined ? {} : { timeProbability: options.timeProbability })
      }
      const steps = observe(base)
      const every = options.every ?? 1
      for (let interruptAt = seed % every; interruptAt <= steps; interruptAt += every) {
        observe({ ...base, interruptAt })
      }
    }
  }
  return { runs, violations }
}
