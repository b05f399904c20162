/**
 * What an operator wants to know of this machine: which backends work and why, what dead hosts left, how much is stored.
 *
 * The report is data and `renderDoctor` is pure. Only `reap` (of `services/reap.ts`) ends anything.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { limits } from "../../schema/limits.ts"
import { type BackendProbe, Os, type ProcessIdentity } from "../../services/Os.ts"
import type { Reaped } from "../../services/reap.ts"
import { cacheFolder, stateFolder } from "../folders.ts"
import { isNodeSupported, nodeVersionMin } from "./NodeOs.ts"

export interface FolderSize {
  readonly name: string
  readonly path: string
  readonly files: number
  readonly bytes: number
  /** `false`: there were more entries than anybody wants to wait for. */
  readonly complete: boolean
}

export interface OtherHost {
  readonly path: string
  readonly host: ProcessIdentity
  readonly gone: boolean
  readonly reason: string
  readonly launches: number
  /** Processes of its launches that are alive now. */
  readonly processes: ReadonlyArray<ProcessIdentity>
  /** Private homes of its launches that are there now. */
  readonly homes: ReadonlyArray<string>
}

export interface DoctorReport {
  readonly node: { readonly version: string; readonly supported: boolean; readonly needed: string }
  readonly platform: string
  readonly backends: ReadonlyArray<BackendProbe>
  readonly folders: ReadonlyArray<FolderSize>
  readonly hosts: ReadonlyArray<OtherHost>
}

/** Looks, probes and changes nothing. If interrupted: nothing is left. */
export const doctor: Effect.Effect<DoctorReport, never, Os> = Effect.gen(function* () {
  const os = yield* Os
  return {
    node: {
      version: process.version,
      supported: isNodeSupported(process.version),
      needed: nodeVersionMin.join(".")
    },
    platform: `${process.platform} ${process.arch}`,
    backends: yield* os.backends,
    folders: [yield* sizeOf("state", stateFolder(process.env)), yield* sizeOf("cache", cacheFolder(process.env))],
    hosts: yield* otherHosts(os)
  }
})

/** For a terminal, one fact a line. `reaped` is what `reap` answered, if it ran. */
export const renderDoctor = (report: DoctorReport, reaped: ReadonlyArray<Reaped> = []): string =>
  [
    `node       ${report.node.version}${report.node.supported ? "" : `, too old: ${report.node.needed} or later is needed`}`,
    `platform   ${report.platform}`,
    ...report.backends.map(
      (one) => `backend    ${one.backend}: ${one.usable ? "works" : "does not work"} (${one.reason})`
    ),
    `default    ${report.backends.find((one) => one.usable)?.backend ?? "none: no agent can be started here"}`,
    ...report.folders.map(renderFolder),
    ...report.hosts.flatMap(renderHost),
    ...reaped.flatMap(renderReaped)
  ].join("\n")

const otherHosts = (os: Os["Service"]) =>
  Effect.flatMap(
    os.ledger.foreign,
    Effect.forEach((ledger) =>
      Effect.map(
        Effect.forEach(ledger.entries, (entry) => os.census(entry.marker)),
        (found): OtherHost => ({
          path: ledger.path,
          host: ledger.host,
          gone: ledger.hostGone,
          reason: ledger.reason,
          launches: ledger.entries.length,
          processes: found.flat(),
          homes: ledger.homes
        })
      )
    )
  )

/** Everything below a folder, links not followed. A folder that is not there has nothing. */
const sizeOf = (name: string, folder: string): Effect.Effect<FolderSize> =>
  Effect.map(
    Effect.promise(() => measure(folder)),
    (size) => ({ name, path: folder, ...size })
  )

const measure = async (folder: string) => {
  let seen = 0
  let files = 0
  let bytes = 0
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await fs.readdir(next, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (seen === limits.measuredEntriesMax) return { files, bytes, complete: false }
      seen++
      const name = path.join(next, entry.name)
      if (entry.isDirectory()) waiting.push(name)
      else {
        files++
        bytes += (await fs.lstat(name).catch(() => undefined))?.size ?? 0
      }
    }
  }
  return { files, bytes, complete: true }
}

const renderFolder = ({ bytes, complete, files, name, path: folder }: FolderSize) =>
  `${name.padEnd(11)}${folder}: ${complete ? "" : "at least "}${files} files, ${(bytes / (1024 * 1024)).toFixed(1)} MiB`

/** The homes of a dead host are named: they may hold what an operator wants to keep. */
const renderHost = ({ gone, homes, host, launches, processes, reason }: OtherHost): ReadonlyArray<string> => [
  `host       ${host.pid}, ${gone ? "gone" : "not proven gone"} (${reason}): ${launches} launches, ${
    processes.length === 0 ? "no process" : `processes ${processes.map(({ pid }) => pid).join(", ")}`
  }${homes.length === 0 ? "" : `, ${countOfHomes(homes.length)}`}${
    gone && processes.length + homes.length > 0 ? "; can be reaped" : ""
  }`,
  ...(gone ? homes.map((home) => `home       ${home}: left by host ${host.pid}`) : [])
]

const renderReaped = ({ keptHomes, ledger, survivors }: Reaped): ReadonlyArray<string> => {
  const deleted = ledger.homes.length - keptHomes.length
  const left = [
    ...survivors.map(({ pid }) => String(pid)),
    ...(keptHomes.length === 0 ? [] : [countOfHomes(keptHomes.length)])
  ]
  return [
    `reaped     host ${ledger.host.pid}: ${left.length === 0 ? "nothing is left" : `still there: ${left.join(", ")}`}${
      deleted === 0 ? "" : `; ${countOfHomes(deleted)} deleted`
    }`,
    ...keptHomes.map(({ path: home, reason }) => `home       ${home}: not deleted (${reason})`)
  ]
}

const countOfHomes = (count: number) => `${count} private ${count === 1 ? "home" : "homes"}`
