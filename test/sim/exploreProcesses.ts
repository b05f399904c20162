/** Schedules of a world of processes: many, or with an interrupt at every step. */
import { check, type RunOptions, sweepInterrupts, type SweepResult, type Violation } from "../../src/testing/index.ts"
import { type ProcessWorld, simulate } from "./processHost.ts"

/** Options of the n-th schedule: whole and split stretches, and time that passes never, seldom or often before its time. */
const scheduleOf = (n: number): RunOptions => ({
  seed: 1 + Math.floor(n / 2),
  yieldProbability: n % 2 === 0 ? 0 : 0.1,
  timeProbability: [0, 0, 0.02, 0.1][Math.floor(n / 2) % 4] ?? 0,
  maxSteps
})

const maxSteps = 20_000

export interface Found {
  readonly runs: number
  readonly violations: ReadonlyArray<Violation>
  readonly reached: ReadonlySet<string>
}

/** So many schedules of a world, and up to ten times as many until it has reached what it is to reach. */
export const explore = (world: ProcessWorld, schedules: number, isEnough?: (what: string) => boolean): Found => {
  const { program, last } = simulate(world)
  const violations: Array<Violation> = []
  const missing = new Set(world.reaches)
  const reached = new Set<string>()
  let runs = 0
  while (runs < schedules || (missing.size > 0 && runs < 10 * schedules)) {
    violations.push(...check(program(), scheduleOf(runs++)).violations)
    if (isEnough !== undefined && violations.some(({ what }) => isEnough(what))) break
    for (const state of last.reached) {
      reached.add(state)
      missing.delete(state)
    }
  }
  return { runs, violations, reached }
}

/** Interrupts the host of the world at steps of its run: at scale 1 at every `every`-th one, of whole stretches and of split ones. */
export const sweep = (world: ProcessWorld, scale: number, every = 3): SweepResult => {
  const { program } = simulate(world)
  return sweepInterrupts(program, {
    seeds: Array.from({ length: Math.ceil(scale / every) }, (_, index) => index + 1),
    timeProbability: 0,
    every: Math.max(1, Math.round(every / scale)),
    maxSteps
  })
}
