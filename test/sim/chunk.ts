/** A part of a campaign: some seeds of one program. What it does depends on nothing but these. */
import { createHash, type Hash } from "node:crypto"
import { campaign, check, type Checked, type RunOptions, type Violation } from "../../src/testing/index.ts"
import type { SimProgram } from "./programs.ts"

export interface ChunkOrder {
  readonly program: string
  readonly seed: number
  readonly runs: number
}

export interface ChunkResult {
  readonly order: ChunkOrder
  readonly runs: number
  readonly steps: number
  /** A digest of each schedule. */
  readonly schedules: ReadonlyArray<number>
  readonly reached: ReadonlyArray<string>
  readonly violations: ReadonlyArray<Violation>
  readonly millis: number
  /** Of everything that the runs did. No ids of fibers, no paths of files, no times of day are in it. */
  readonly digest: string
}

/** One of so many runs is also digested by its story. */
const storyEvery = 50

export const runChunk = (program: SimProgram, order: ChunkOrder): ChunkResult => {
  const { make, maxSteps } = program
  const whole = createHash("sha256")
  const schedules: Array<number> = []
  const observe = (checked: Checked, options: RunOptions) => {
    if (schedules.length % storyEvery === 0) whole.update(storyOf(program, options))
    schedules.push(digestRun(checked, options, whole))
  }
  const begin = performance.now()
  const { reached, runs, steps, violations } = campaign(make, { runs: order.runs, seed: order.seed, maxSteps, observe })
  return {
    order,
    runs,
    steps,
    schedules,
    reached: [...reached],
    violations,
    millis: performance.now() - begin,
    digest: whole.digest("hex")
  }
}

const storyOf = ({ make }: SimProgram, options: RunOptions): string =>
  check(make(options), { ...options, story: true }).result.story.join("\n")

/** The schedule, and into `whole` also how it went. */
const digestRun = ({ result, violations }: Checked, options: RunOptions, whole: Hash): number => {
  const picks = result.trace.map(({ pick }) => pick).join()
  const how = typeof result.exit === "string" ? result.exit : result.exit._tag
  const schedule = createHash("sha256")
    .update(`${options.yieldProbability ?? 0} ${options.interruptAt ?? ""} ${picks}`)
    .digest()
  whole.update(schedule)
  whole.update(`${how} ${result.steps} ${result.now} ${violations.map(({ what }) => what).join()}`)
  return schedule.readUIntBE(0, 6)
}
