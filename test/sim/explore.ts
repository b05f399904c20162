/** A world as a program, and two ways to look at it in a test: many schedules, and interrupts at its steps. */
import {
  check,
  type MakeProgram,
  type RunOptions,
  sweepInterrupts,
  type SweepResult,
  type Violation
} from "../../src/testing/index.ts"

/** A world as a program. */
export interface Simulated {
  readonly make: MakeProgram<unknown, unknown>
  /** States that some run must get into. */
  readonly reaches: ReadonlyArray<string>
  readonly maxSteps: number
  /** At scale 1 every so many steps are interrupted, of a run of whole stretches and of one of split ones. */
  readonly interruptEvery: { readonly whole: number; readonly split: number }
}

export interface Found {
  readonly violations: ReadonlyArray<Violation>
  /** States of `reaches` that no run got into. */
  readonly missed: ReadonlyArray<string>
}

/**
 * So many schedules, and up to ten times as many until nothing is missed. Fewer when a violation is found that `isEnough`.
 * None is interrupted, unlike those of a campaign: `sweep` does that, and so a few schedules get far.
 */
export const explore = (
  { make, maxSteps, reaches }: Simulated,
  schedules: number,
  isEnough: (what: string) => boolean = () => false
): Found => {
  const violations: Array<Violation> = []
  const missed = new Set(reaches)
  for (let n = 0; n < schedules || (missed.size > 0 && n < 10 * schedules); n++) {
    const options: RunOptions = { ...scheduleOf(n), maxSteps }
    const { reached, violations: found } = check(make(options), options)
    violations.push(...found)
    if (found.some(({ what }) => isEnough(what))) break
    for (const state of reached) missed.delete(state)
  }
  return { violations, missed: [...missed] }
}

/** Whole and split stretches, and time that passes never, seldom or often before its time. */
const scheduleOf = (n: number): RunOptions => ({
  seed: 1 + Math.floor(n / 2),
  yieldProbability: n % 2 === 0 ? 0 : 0.1,
  timeProbability: [0, 0, 0.02, 0.1][Math.floor(n / 2) % 4] ?? 0
})

/** Interrupts the world's victim, else its host, at steps of its run. */
export const sweep = ({ interruptEvery, make, maxSteps }: Simulated, scale: number): SweepResult => {
  const sweeps = [
    { yieldProbability: 0, every: interruptEvery.whole },
    { yieldProbability: 0.1, every: interruptEvery.split }
  ].map(({ every, yieldProbability }) =>
    sweepInterrupts(make, {
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
