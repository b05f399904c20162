/**
 * Many schedules of a program. Each seed is run eight times: in whole and in split synchronous stretches; with time that passes
 * only when it must, now and then before, or as often as anything else; and interrupted at some step. Each of these finds what
 * the others cannot.
 *
 * Guarantees: equal options give equal runs, in the same order.
 */
import { check, type Checked, type MakeProgram, type Violation } from "./check.ts"
import { seeded } from "./choices.ts"
import type { RunOptions } from "./run.ts"

export interface CampaignOptions {
  readonly runs: number
  /** The first seed. Default 1. */
  readonly seed?: number
  /** Of one run. Default 100 000. */
  readonly maxSteps?: number
  /** Ends the campaign at a violation. Default: it goes on. */
  readonly isEnough?: (violation: Violation) => boolean
  /** Told of each run. */
  readonly observe?: (checked: Checked, options: RunOptions) => void
}

export interface CampaignResult {
  readonly runs: number
  readonly steps: number
  readonly violations: ReadonlyArray<Violation>
  /** The states that some run got into. */
  readonly reached: ReadonlySet<string>
}

export const campaign = <A, E>(program: MakeProgram<A, E>, options: CampaignOptions): CampaignResult => {
  const { isEnough, maxSteps, observe } = options
  const violations: Array<Violation> = []
  const reached = new Set<string>()
  let runs = 0
  let steps = 0
  for (let seed = options.seed ?? 1; ; seed++) {
    const lengths = { whole: 0, split: 0 }
    for (const [index, kind] of kinds.entries()) {
      if (runs === options.runs) return { runs, steps, violations, reached }
      const runOptions = {
        seed,
        ...(maxSteps === undefined ? {} : { maxSteps }),
        ...optionsOf(kind, seed, index, lengths)
      }
      const checked = check(program(runOptions), runOptions)
      runs++
      steps += checked.result.steps
      if (kind.at === undefined) lengths[kind.stretches] = checked.result.steps
      for (const state of checked.reached) reached.add(state)
      for (const violation of checked.violations) violations.push(violation)
      observe?.(checked, runOptions)
      if (isEnough !== undefined && checked.violations.some(isEnough)) return { runs, steps, violations, reached }
    }
  }
}

interface Kind {
  readonly stretches: "whole" | "split"
  /** `undefined`: as one of the tasks. */
  readonly time: number | undefined
  readonly at?: "some step"
}

const kinds: ReadonlyArray<Kind> = [
  { stretches: "whole", time: 0 },
  { stretches: "split", time: 0 },
  { stretches: "whole", time: 0, at: "some step" },
  { stretches: "split", time: 0, at: "some step" },
  { stretches: "whole", time: 0.02 },
  { stretches: "split", time: 0.1 },
  { stretches: "whole", time: 0.02, at: "some step" },
  { stretches: "whole", time: undefined }
]

/** What one seed comes to. */
export const seedRuns = kinds.length

const splitProbability = 0.1

const optionsOf = (kind: Kind, seed: number, index: number, lengths: Readonly<Record<Kind["stretches"], number>>) => ({
  yieldProbability: kind.stretches === "split" ? splitProbability : 0,
  ...(kind.time === undefined ? {} : { timeProbability: kind.time }),
  ...(kind.at === undefined
    ? {}
    : { interruptAt: Math.floor(seeded(seed * kinds.length + index)() * (lengths[kind.stretches] + 1)) })
})
