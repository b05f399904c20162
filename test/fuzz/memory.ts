/** How much memory judging a large frame takes, beside what the frame takes itself. */
import { GCProfiler, setFlagsFromString } from "node:v8"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { heapUsed } from "../heap.ts"
import type { Frame } from "./frames.ts"

/** A smaller one drowns in what the engine does besides. */
const measuredBytesMin = 1024 * 1024

/**
 * The most that is in use after any collection while the parsed frame is decoded, as a multiple of the heap that its text and
 * value take. A small young generation (`--max-semi-space-size=1`) makes collections frequent, and each is a full one, for the
 * others leave what is dead and large. `undefined`: no large frame.
 */
export const memoryRatio = ({ target, bytes }: Frame): number | undefined => {
  if (target === "acp") return undefined
  const empty = heapUsed()
  const text = new TextDecoder().decode(bytes)
  const value = parsed(text)
  const before = heapUsed()
  const frameBytes = before - empty
  if (value === undefined || frameBytes < measuredBytesMin) return undefined
  const profiler = new GCProfiler()
  setFlagsFromString("--gc-global")
  profiler.start()
  const decoded = decodePrp(target, value)
  const collections = profiler.stop()?.statistics ?? []
  setFlagsFromString("--no-gc-global")
  const peak = Math.max(heapUsed(), ...collections.map(({ afterGC }) => afterGC.heapStatistics.usedHeapSize))
  // All three must live until here.
  if (text.length === 0 || value === decoded) return undefined
  return (peak - before) / frameBytes
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
