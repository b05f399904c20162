/**
 * One run of a program, and what went wrong in it.
 *
 * A violation is: a deadlock, a livelock, a used-up budget, a fiber that is still alive, a sleep that nobody ended, a defect, or
 * what the program itself finds.
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import { run, type RunOptions, type RunResult } from "./run.ts"

/** Made afresh for each run, so that it may keep a ledger. */
export interface Program<A, E> {
  readonly effect: Effect.Effect<A, E>
  /** What is wrong after this run; nothing when all is well. */
  readonly violations?: (result: RunResult<A, E>) => ReadonlyArray<string>
  /** Rare states that this run got into, by name. */
  readonly reached?: () => Iterable<string>
}

/** Makes the program of one run. The options are for a ledger that cannot judge every kind of run alike. */
export type MakeProgram<A, E> = (options: RunOptions) => Program<A, E>

export interface Violation {
  readonly what: string
  /** Pass these to `run` to see it again. */
  readonly options: RunOptions
}

export interface Checked {
  readonly result: RunResult<unknown, unknown>
  readonly violations: ReadonlyArray<Violation>
  readonly reached: ReadonlySet<string>
}

export const check = <A, E>({ effect, reached, violations }: Program<A, E>, options: RunOptions): Checked => {
  const result = run(effect, options)
  const found = [...generalViolations(result), ...(violations?.(result) ?? [])]
  return {
    result,
    violations: found.map((what) => ({ what, options })),
    reached: new Set(reached?.())
  }
}

const generalViolations = ({ exit, live, timers }: RunResult<unknown, unknown>): ReadonlyArray<string> => {
  if (typeof exit === "string") return [exit]
  const found: Array<string> = []
  if (exit._tag === "Failure" && Cause.hasDies(exit.cause)) found.push(`defect: ${Cause.pretty(exit.cause)}`)
  if (live !== 0) found.push(`${live} live fibers`)
  if (timers !== 0) found.push(`${timers} timers left`)
  return found
}
