/** Memory that is really in use. Buffers that one collection frees are counted until the next one, so there are two. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

export const collected = (): NodeJS.MemoryUsage => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect !== "function") throw new Error("no garbage collector to call")
  collect()
  collect()
  return process.memoryUsage()
}

export const heapUsed = (): number => {
  const { arrayBuffers, heapUsed } = collected()
  return arrayBuffers + heapUsed
}
