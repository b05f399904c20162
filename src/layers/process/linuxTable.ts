/** The process table of Linux, from /proc. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { PlatformUnsupported } from "../../schema/errors.ts"
import type { ProcessIdentity } from "../../services/Os.ts"
import { type CensusQuery, isSame, type ProcessTable, sendSignal } from "./ProcessTable.ts"
import * as procfs from "./procfs.ts"

/** Fails when /proc is not mounted, or is that of another pid namespace, where our numbers mean other processes. */
export const linuxTable = (): Result.Result<ProcessTable, PlatformUnsupported> => {
  const bootId = procfs.readText("/proc/sys/kernel/random/boot_id")?.trim()
  const pidNamespace = procfs.pidNamespace("self")
  const own = procfs.readStat(process.pid)
  const seesItself = procfs.readText("/proc/self/stat")?.startsWith(`${process.pid} `) ?? false
  if (bootId === undefined || pidNamespace === undefined || own === undefined || !seesItself)
    return Result.fail(new PlatformUnsupported({ platform: "linux", reason: "/proc does not show this process" }))

  const identityOf = (pid: number, startTime: string) => ({ pid, startTime, bootId, pidNamespace })
  const read = (pid: number): ProcessIdentity | undefined => {
    const stat = procfs.readStat(pid)
    return stat === undefined || procfs.isDead(stat) ? undefined : identityOf(pid, stat.startTime)
  }
  return Result.succeed({
    host: identityOf(process.pid, own.startTime),
    machine: procfs.readText("/etc/machine-id")?.trim() || undefined,
    readIdentity: (pid) => Effect.sync(() => read(pid)),
    identify: (pid) => Effect.sync(() => identityOf(pid, procfs.readStat(pid)?.startTime ?? "unknown")),
    signal: (identity, signal) =>
      Effect.sync(() => {
        const now = read(identity.pid)
        return now !== undefined && isSame(now, identity) && sendSignal(identity.pid, signal)
      }),
    census: (query) => census(query, read)
  })
}

/** A look at so many processes takes well under a millisecond; then others get their turn. */
const processesPerSlice = 64

const census = Effect.fnUntraced(function* (
  query: CensusQuery,
  read: (pid: number) => ProcessIdentity | undefined
): Effect.fn.Return<ReadonlyArray<ProcessIdentity>> {
  const needle = Buffer.from(query.marker)
  const found: Array<ProcessIdentity> = []
  let looked = 0
  for (const pid of procfs.processNumbers()) {
    if (++looked % processesPerSlice === 0) yield* Effect.yieldNow
    if (!belongs(pid, needle, query.pidNamespace) || query.isHelper(pid)) continue
    const identity = read(pid)
    // Between the two reads the number may have become another's, whose identity this is then.
    if (identity !== undefined && belongs(pid, needle, query.pidNamespace)) found.push(identity)
  }
  return found
})

const belongs = (pid: number, needle: Buffer, pidNamespace: string | undefined): boolean => {
  if (pidNamespace !== undefined && procfs.pidNamespace(pid) === pidNamespace) return true
  const held = procfs.environmentHolds(pid, needle)
  if (held !== "empty") return held === "yes"
  const stat = procfs.readStat(pid)
  if (stat === undefined || procfs.isDead(stat) || procfs.isKernelThread(stat)) return false
  // Perhaps in the middle of an `exec`: it is over by now, or the next look will tell.
  return procfs.environmentHolds(pid, needle) === "yes"
}
