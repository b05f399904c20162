/**
 * Interrupts a program at every step of its run, one run per step, and collects what went wrong.
 *
 * A violation is: a deadlock, a used-up budget, a fiber that is still alive, a defect, or what the program itself finds.
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import { run, type RunOptions, type RunResult } from "./run.ts"

/** Made afresh for each run, so that it may keep a ledger. */
export interface Program<A, E> {
  readonly effect: Effect.Effect<A, E>
  /** What is wrong after this run; nothing when all is well. */
  readonly violations?: (result: RunResult<A, E>) => ReadonlyArray<string>
}

export interface Violation {
  readonly what: string
  /** Pass these to `run` to see it again. */
  readonly options: RunOptions
}

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

export interface CheckResult extends SweepResult {
  readonly steps: number
}

/** Runs a program once. */
export const check = <A, E>({ effect, violations }: Program<A, E>, options: RunOptions): CheckResult => {
  const result = run(effect, options)
  const found = [...generalViolations(result), ...(violations?.(result) ?? [])]
  return { runs: 1, steps: result.steps, violations: found.map((what) => ({ what, options })) }
}

export const sweepInterrupts = <A, E>(program: () => Program<A, E>, options: SweepOptions): SweepResult => {
  const violations: Array<Violation> = []
  let runs = 0
  const observe = (runOptions: RunOptions): number => {
    const found = check(program(), runOptions)
    runs += found.runs
    violations.push(...found.violations)
    return found.steps
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

const generalViolations = (result: RunResult<unknown, unknown>): ReadonlyArray<string> => {
  const found: Array<string> = []
  if (result.exit === "deadlock" || result.exit === "budget") found.push(result.exit)
  else if (result.exit._tag === "Failure" && Cause.hasDies(result.exit.cause)) {
    found.push(`defect: ${Cause.pretty(result.exit.cause)}`)
  }
  if (result.exit !== "deadlock" && result.exit !== "budget" && result.live !== 0)
    found.push(`${result.live} live fibers`)
  return found
}
