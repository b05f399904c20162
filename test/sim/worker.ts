/** A thread of a campaign: runs the chunks that it is given, one after another. */
import { parentPort } from "node:worker_threads"
import { type ChunkOrder, runChunk } from "./chunk.ts"
import { programs } from "./programs.ts"

// Nobody reads the stacks of the failures that are drawn here by the thousand.
Error.stackTraceLimit = 0

parentPort?.on("message", (order: ChunkOrder) => {
  const program = programs.find(({ name }) => name === order.program)
  if (program === undefined) throw new Error(`no program ${order.program}`)
  parentPort?.postMessage(runChunk(program, order), [])
})
