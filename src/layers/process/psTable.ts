/** The process table of POSIX systems without /proc, from `ps`. Written for macOS. */
import * as childProcess from "node:child_process"
import * as Effect from "effect/Effect"
import { PlatformUnsupported } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import { markerVariable, type ProcessIdentity } from "../../services/Os.ts"
import { type CensusQuery, isSame, type ProcessTable, sendSignal } from "./ProcessTable.ts"
import { toolEnvironment } from "./tools.ts"

/** One process of a listing of `psColumns`. */
export interface Listed {
  readonly pid: number
  readonly state: string
  /** To the second. */
  readonly startTime: string
  readonly command: string
}

const psColumns = ["-o", "pid=", "-o", "stat=", "-o", "lstart=", "-o", "command="]

/** Reads a listing; what is not a line of it is passed over. */
export const parseListing = (text: string): ReadonlyArray<Listed> =>
  text.split("\n").flatMap((line) => {
    const [, pid, state, startTime, command = ""] = listedLine.exec(line) ?? []
    if (pid === undefined || state === undefined || startTime === undefined) return []
    return [{ pid: Number(pid), state, startTime, command }]
  })

/** `lstart` is five words: weekday, month, day, time, year. */
const listedLine = /^\s*(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)(?:\s+(.*))?$/

export const psTable: Effect.Effect<ProcessTable, PlatformUnsupported> = Effect.gen(function* () {
  const booted = yield* output("sysctl", ["-n", "kern.bootsessionuuid"])
  const own = parseListing(yield* list(["-p", String(process.pid)]))[0]
  const bootId = booted.trim()
  if (own === undefined || bootId === "")
    return yield* new PlatformUnsupported({
      platform: process.platform,
      reason: "ps and sysctl do not show this process"
    })

  const identityOf = ({ pid, startTime }: Listed): ProcessIdentity => ({ pid, startTime, bootId, pidNamespace: "none" })
  const find = (pid: number) =>
    Effect.map(list(["-p", String(pid)]), (text) => parseListing(text).find((listed) => listed.pid === pid))
  const read = (pid: number) =>
    Effect.map(find(pid), (one) => (one === undefined || isDead(one) ? undefined : identityOf(one)))
  return {
    host: identityOf(own),
    machine: (yield* output("sysctl", ["-n", "kern.uuid"])).trim() || undefined,
    readIdentity: read,
    identify: (pid) => Effect.map(find(pid), (one) => identityOf(one ?? { ...own, pid, startTime: "unknown" })),
    signal: (identity, signal) =>
      Effect.map(
        read(identity.pid),
        (now) => now !== undefined && isSame(now, identity) && sendSignal(identity.pid, signal)
      ),
    census: (query) =>
      Effect.map(list(["-axEww"]), (text) =>
        parseListing(text)
          .filter((listed) => !isDead(listed) && belongs(listed, query))
          .map(identityOf)
      )
  }
})

const isDead = (listed: Listed) => listed.state.startsWith("Z")

/** The variable must be there, too: our own `grep`s have a marker among their arguments. */
const belongs = (listed: Listed, query: CensusQuery) =>
  !query.isHelper(listed.pid) && listed.command.includes(`${markerVariable}=`) && listed.command.includes(query.marker)

const list = (selection: ReadonlyArray<string>) => output("ps", [...selection, ...psColumns])

/** What a tool printed; nothing when it could not be run. */
const output = (file: string, args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const options = { env: toolEnvironment(), maxBuffer: limits.psOutputBytesMax }
    const child = childProcess.execFile(file, args, options, (_, stdout) => resume(Effect.succeed(stdout)))
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
