/** Memory that is really in use. Buffers that one collection frees are counted until the next one, so there are two. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

export const collected = (): NodeJS.MemoryUsage => {
  collect ??= collector()
  collect()
  collect()
  return process.memoryUsage()
}

/** Found once: the context that it comes from would be counted. */
let collect: (() => void) | undefined

const collector = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const found: unknown = runInNewContext("gc")
  if (typeof found !== "function") throw new Error("no garbage collector to call")
  return () => void found()
}

export const heapUsed = (): number => {
  const { arrayBuffers, heapUsed } = collected()
  return arrayBuffers + heapUsed
}
