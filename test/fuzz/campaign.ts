/** Mutants from a seed, each judged: what they broke, and what the worst of them cost. */
import { randomOf } from "../conformance/random.ts"
import { type Frame, soundFrames } from "./frames.ts"
import { Drifted, judgeFrame, Untyped } from "./judged.ts"
import { largeMutantOf, mutantOf } from "./mutants.ts"

export const slowestMsMax = 1000
export const memoryRatioMax = 2

export interface Broken {
  readonly frame: Frame
  readonly what: "throws" | "untyped" | "drifted" | "slow" | "memory"
  readonly why: string
}

export interface Campaign {
  readonly runs: number
  readonly seed: number
  /** One in so many is a frame of about the largest size. */
  readonly largeEvery: number
  readonly memoryRatio?: (frame: Frame) => number | undefined
  readonly onBroken: (broken: Broken) => void
  readonly onRun?: (run: number) => void
}

export const runCampaign = ({ runs, seed, largeEvery, memoryRatio, onBroken, onRun }: Campaign) => {
  const frames = soundFrames()
  const random = randomOf(seed)
  let slowestMs = 0
  let worstMemoryRatio = 0
  for (let run = 0; run < runs; run++) {
    const isLarge = run % largeEvery === largeEvery - 1
    const frame = isLarge ? largeMutantOf(frames, random) : mutantOf(frames, random)
    const { broken, ms } = judged(frame)
    slowestMs = Math.max(slowestMs, ms)
    if (broken !== undefined) onBroken(broken)
    if (isLarge) worstMemoryRatio = Math.max(worstMemoryRatio, measured(frame, memoryRatio, onBroken))
    onRun?.(run)
  }
  return { runs, slowestMs, worstMemoryRatio }
}

const measured = (frame: Frame, memoryRatio: Campaign["memoryRatio"], onBroken: Campaign["onBroken"]): number => {
  const ratio = memoryRatio?.(frame) ?? 0
  if (ratio > memoryRatioMax) onBroken({ frame, what: "memory", why: `${ratio.toFixed(2)} times the frame` })
  return ratio
}

/** Processor time of all that reads the frame, so that a busy machine does not decide. */
export const judged = (frame: Frame): { readonly broken: Broken | undefined; readonly ms: number } => {
  const begun = process.threadCpuUsage()
  let broken: Broken | undefined
  try {
    judgeFrame(frame)
  } catch (error) {
    const what = error instanceof Untyped ? "untyped" : error instanceof Drifted ? "drifted" : "throws"
    broken = { frame, what, why: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : "no error" }
  }
  const { system, user } = process.threadCpuUsage(begun)
  const ms = (system + user) / 1000
  if (broken === undefined && ms > slowestMsMax) broken = { frame, what: "slow", why: `${ms.toFixed(0)} ms` }
  return { broken, ms }
}
