/** Which chunks make a campaign. The same runs whatever the number of threads. */
import { seedRuns } from "../../src/testing/campaign.ts"
import type { ChunkOrder, ChunkResult } from "./chunk.ts"
import type { SimProgram } from "./programs.ts"

/** Whole seeds. */
const chunkSeeds = 20
const chunkRuns = chunkSeeds * seedRuns

/** So many runs in all, or the fewest with which each program has one seed. */
export const planOf = (programs: ReadonlyArray<SimProgram>, runs: number, seed: number): ReadonlyArray<ChunkOrder> => {
  const shares = programs.reduce((sum, { weight }) => sum + weight, 0)
  const plans = programs.map((program) =>
    chunksOf(program.name, seed, Math.max(1, Math.ceil((runs * program.weight) / shares / seedRuns)))
  )
  // The first chunks of all, then the second ones: what is wrong everywhere shows at once.
  const longest = Math.max(0, ...plans.map((plan) => plan.length))
  return Array.from({ length: longest }, (_, index) => plans.flatMap((plan) => plan[index] ?? [])).flat()
}

const chunksOf = (program: string, seed: number, seeds: number): ReadonlyArray<ChunkOrder> => {
  return Array.from({ length: Math.ceil(seeds / chunkSeeds) }, (_, index) => ({
    program,
    seed: seed + index * chunkSeeds,
    runs: Math.min(chunkSeeds, seeds - index * chunkSeeds) * seedRuns
  }))
}

export interface Row {
  readonly program: SimProgram
  runs: number
  steps: number
  millis: number
  violations: number
  readonly schedules: Set<number>
  readonly missed: Set<string>
  readonly digests: Array<readonly [seed: number, digest: string]>
}

export const newRow = (program: SimProgram): Row => ({
  program,
  runs: 0,
  steps: 0,
  millis: 0,
  violations: 0,
  schedules: new Set(),
  missed: new Set(program.reaches),
  digests: []
})

export const addTo = (row: Row, result: ChunkResult): void => {
  row.runs += result.runs
  row.steps += result.steps
  row.millis += result.millis
  row.violations += result.violations.length
  for (const schedule of result.schedules) row.schedules.add(schedule)
  for (const state of result.reached) row.missed.delete(state)
  row.digests.push([result.order.seed, result.digest])
}

/** A program that has not reached all its states is given one more chunk, so many times. */
export const extraRounds = 12

export const extraOf = ({ missed, program, digests }: Row, seed: number): ReadonlyArray<ChunkOrder> =>
  missed.size === 0 ? [] : [{ program: program.name, seed: seed + digests.length * chunkSeeds, runs: chunkRuns }]
