/** Measuring that a busy machine does not decide: processor time instead of wall time, rounds in turns, best and median. */

/** Microseconds of main-thread processor time for one of `n` operations. */
export const microsEach = async (n: number, operations: () => Promise<unknown>): Promise<number> => {
  const before = process.threadCpuUsage()
  await operations()
  const used = process.threadCpuUsage(before)
  return (used.user + used.system) / n
}

/** Measures all subjects in turns, after one unmeasured round, and gives the results of each in order of rounds. */
export const inTurns = async <Name extends string>(
  rounds: number,
  subjects: Record<Name, () => Promise<number>>
): Promise<Record<Name, ReadonlyArray<number>>> => {
  const results: Record<string, Array<number>> = {}
  const named = Object.entries<() => Promise<number>>(subjects)
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of named) {
      const result = await measure()
      if (round > 0) (results[name] ??= []).push(result)
    }
  }
  return results
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Bytes on the heap after a full collection. Needs `--expose-gc`. */
export const heapBytes = (): number => {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc")
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
