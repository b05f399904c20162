/** Schedules of a world: many, or with an interrupt at every step. */
import {
  check,
  type RunOptions,
  sweepInterrupts,
  type SweepResult,
  type Violation
} from "../../../src/testing/index.ts"
import { simulate, type World } from "./host.ts"

/** Options of the n-th schedule: whole and split stretches, and time that passes never, seldom or often before its time. */
const scheduleOf = (n: number): RunOptions => ({
  seed: 1 + Math.floor(n / 2),
  yieldProbability: n % 2 === 0 ? 0 : 0.1,
  timeProbability: [0, 0, 0.02, 0.1][Math.floor(n / 2) % 4]!,
  maxSteps
})

/** A run without progress never stops by itself: the timer of a stalled turn goes on for ever. */
const maxSteps = 5_000

export interface Found {
  readonly runs: number
  readonly violations: ReadonlyArray<Violation>
  readonly reached: ReadonlySet<string>
}

/**
 * So many schedules of a world, and up to ten times as many until it has reached what it is to reach. Fewer when a violation
 * is found that `isEnough`.
 */
export const explore = (world: World, schedules: number, isEnough?: (what: string) => boolean): Found => {
  const { program, last } = simulate(world)
  const violations: Array<Violation> = []
  const missing = new Set(world.reaches)
  const reached = new Set<string>()
  let runs = 0
  while (runs < schedules || (missing.size > 0 && runs < 10 * schedules)) {
    const options = scheduleOf(runs++)
    violations.push(...check(program(options), options).violations)
    if (isEnough !== undefined && violations.some(({ what }) => isEnough(what))) break
    for (const state of last.ledger?.reached ?? []) {
      reached.add(state)
      missing.delete(state)
    }
  }
  return { runs, violations, reached }
}

/**
 * Interrupts the world's victim, else its host, at steps of its run. At scale 1 at every third one of a run of whole
 * stretches, which has some 60 steps, and at every fifteenth one of a run of split ones.
 */
export const sweep = (world: World, scale: number): SweepResult => {
  const { program } = simulate(world)
  const sweeps = [
    { yieldProbability: 0, every: 3 },
    { yieldProbability: 0.1, every: 15 }
  ].map(({ yieldProbability, every }) =>
    sweepInterrupts(() => program({ yieldProbability, timeProbability: 0 }), {
      seeds: Array.from({ length: Math.ceil(scale / every) }, (_, index) => index + 1),
      yieldProbabilities: [yieldProbability],
      timeProbability: 0,
      every: Math.max(1, Math.round(every / scale)),
      maxSteps
    })
  )
  return {
    runs: sweeps.reduce((sum, { runs }) => sum + runs, 0),
    violations: sweeps.flatMap(({ violations }) => violations)
  }
}
