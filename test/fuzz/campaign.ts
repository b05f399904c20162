/** Mutants from a seed, each judged: what they broke, and what the worst of them cost. */
import { randomOf } from "../conformance/random.ts"
import { type Frame, soundFrames } from "./frames.ts"
import { decodeFrame, Drifted, judgeFrame, Untyped } from "./judged.ts"
import { largeMutantOf, mutantOf } from "./mutants.ts"

/** Of processor time, for one frame. */
const slowestMsMax = 1000
/** Heap at its peak, beside what the frame takes. */
const memoryRatioMax = 2

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

/** The figures of `runs` mutants. The ratio is 0 when none was large enough to be measured. */
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

/** What one frame breaks, its memory included. */
export const measured = (
  frame: Frame,
  memoryRatio: Campaign["memoryRatio"],
  onBroken: Campaign["onBroken"]
): number => {
  // What the engine does meanwhile only adds to it.
  let ratio = memoryRatio?.(frame) ?? 0
  for (let again = 0; again < 4 && ratio > memoryRatioMax; again++) ratio = Math.min(ratio, memoryRatio?.(frame) ?? 0)
  if (ratio > memoryRatioMax) onBroken({ frame, what: "memory", why: `${ratio.toFixed(2)} times the frame` })
  return ratio
}

/** The time is the processor's for the decoding alone, so that a busy machine does not decide. */
export const judged = (frame: Frame): { readonly broken: Broken | undefined; readonly ms: number } => {
  let ms = 0
  try {
    ms = decodeMs(frame)
    judgeFrame(frame)
  } catch (error) {
    const what = error instanceof Untyped ? "untyped" : error instanceof Drifted ? "drifted" : "throws"
    const why = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : "no error"
    return { broken: { frame, what, why }, ms }
  }
  return { broken: ms > slowestMsMax ? { frame, what: "slow", why: `${ms.toFixed(0)} ms` } : undefined, ms }
}

const decodeMs = (frame: Frame): number => {
  const begun = process.threadCpuUsage()
  decodeFrame(frame)
  const { system, user } = process.threadCpuUsage(begun)
  return (system + user) / 1000
}
