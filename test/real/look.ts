/** A launch as its host's ledger and the machine's processes show it, without asking the code under test. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as childProcess from "node:child_process"
import { lookAround, type Seen } from "../process/processes.ts"

export interface LedgerView {
  /** Markers of all launches, in order. */
  readonly begun: ReadonlyArray<string>
  /** Those that have not ended. */
  readonly open: ReadonlyArray<string>
}

/** What the ledgers in a folder say together. */
export const ledgersIn = (folder: string): LedgerView => {
  const lines = fs.readdirSync(folder).flatMap((host) => {
    const text = fs.readFileSync(path.join(folder, host, "launches.ndjson"), "utf8")
    return text.split("\n").flatMap((line): ReadonlyArray<{ begun?: string; ended?: string }> => {
      return line === "" ? [] : [JSON.parse(line)]
    })
  })
  const begun = lines.flatMap((line) => line.begun ?? [])
  const ended = new Set(lines.flatMap((line) => line.ended ?? []))
  return { begun, open: begun.filter((marker) => !ended.has(marker)) }
}

/** Live processes with the marker in their environment. */
export const carrying = (marker: string): ReadonlyArray<Seen> =>
  lookAround().filter(({ pid }) => valueOf(pid, "GREENROOM_LAUNCH")?.split(":").includes(marker) === true)

/** A variable in the environment with which a process was started, where that can be read. */
export const valueOf = (pid: number, variable: string): string | undefined =>
  environmentOf(pid)
    .find((entry) => entry.startsWith(`${variable}=`))
    ?.slice(variable.length + 1)

const environmentOf = (pid: number): ReadonlyArray<string> => {
  try {
    if (fs.existsSync("/proc/self/environ")) return fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
    return childProcess
      .execFileSync("ps", ["-Eww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })
      .split(" ")
  } catch {
    // It has just ended, or it is not ours.
    return []
  }
}
