/** `greenroom doctor`: how processes can be owned on this machine, and what dead hosts have left. */
import * as Effect from "effect/Effect"
import * as NodeOs from "../layers/process/NodeOs.ts"
import type { OutputClosed, PlatformUnsupported } from "../schema/errors.ts"
import { type BackendProbe, type ForeignLedger, Os, type ProcessIdentity } from "../services/Os.ts"
import { reap } from "../services/reap.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"
import { type Paint, paintFor } from "./paint.ts"
import { shownLine } from "./shownText.ts"

export interface DoctorOptions {
  /** End what is left of dead hosts; else only look. */
  readonly reap: boolean
  readonly json: boolean
}

/** 5 when something of a dead host is left afterwards; 1 when processes cannot be owned here at all. */
export const doctor = Effect.fn("greenroom.doctor")(function* (
  options: DoctorOptions
): Effect.fn.Return<ExitCode, OutputClosed | PlatformUnsupported> {
  const diagnosis = yield* Effect.provide(diagnose(options.reap), NodeOs.layer())
  const stdout = stdoutStream()
  const paint = paintFor(stdout.isTerminal, process.env)
  yield* stdout.write(options.json ? jsonLine(diagnosis) : `${diagnosisLines(diagnosis, paint).join("\n")}\n`)
  return verdictOf(diagnosis)
})

export interface Host {
  readonly pid: number
  readonly isGone: boolean
  /** Why it is held to be gone, alive, or not provable from here. */
  readonly reason: string
  readonly ledger: string
  readonly launches: number
  /** Of a host that is gone: its processes that are still there. */
  readonly left: ReadonlyArray<number>
}

export interface Diagnosis {
  readonly node: string
  readonly platform: string
  readonly backends: ReadonlyArray<BackendProbe>
  /** Other hosts with a ledger; those of `--reap` as they were before. */
  readonly hosts: ReadonlyArray<Host>
  readonly reaped: boolean
}

const diagnose = Effect.fnUntraced(function* (isReaping: boolean): Effect.fn.Return<Diagnosis, never, Os> {
  const os = yield* Os
  const backends = yield* os.backends
  const ledgers = yield* os.ledger.foreign
  const reaped = isReaping ? yield* reap(os) : []
  const hosts = yield* Effect.forEach(ledgers, (ledger) => {
    const done = reaped.find((one) => one.ledger.path === ledger.path)
    return Effect.map(done === undefined ? leftOf(os, ledger) : Effect.succeed(done.survivors), (left) =>
      hostOf(ledger, left)
    )
  })
  return { node: process.version, platform: process.platform, backends, hosts, reaped: isReaping }
})

const leftOf = (os: Os["Service"], ledger: ForeignLedger): Effect.Effect<ReadonlyArray<ProcessIdentity>> =>
  ledger.hostGone
    ? Effect.map(
        Effect.forEach(ledger.entries, (entry) => os.census(entry.marker)),
        (found) => found.flat()
      )
    : Effect.succeed([])

const hostOf = (ledger: ForeignLedger, left: ReadonlyArray<ProcessIdentity>): Host => ({
  pid: ledger.host.pid,
  isGone: ledger.hostGone,
  reason: ledger.reason,
  ledger: ledger.path,
  launches: ledger.entries.length,
  left: left.map(({ pid }) => pid)
})

export const verdictOf = ({ backends, hosts }: Diagnosis): ExitCode => {
  if (hosts.some(({ left }) => left.length > 0)) return exitCodes.notClean
  return backends.some(({ usable }) => usable) ? exitCodes.completed : exitCodes.failed
}

export const diagnosisLines = (diagnosis: Diagnosis, paint: Paint): ReadonlyArray<string> => [
  `node ${diagnosis.node} on ${diagnosis.platform}`,
  ...diagnosis.backends.map(
    ({ backend, reason, usable }) =>
      `${usable ? paint.green("✓") : paint.red("✗")} backend ${paint.bold(backend)}: ${shownLine(reason)}`
  ),
  ...(diagnosis.hosts.length === 0
    ? ["no other host has a ledger here"]
    : diagnosis.hosts.map((host) => hostLine(host, diagnosis, paint)))
]

const hostLine = (host: Host, { reaped }: Diagnosis, paint: Paint): string => {
  const { isGone, launches, left, pid, reason } = host
  const about = `host ${pid} (${shownLine(reason)}), ${launches} launches`
  if (!isGone) return `${paint.dim("·")} ${about}: not touched`
  if (left.length > 0) {
    const advice = reaped ? "could not be ended" : "end them with --reap"
    return `${paint.red("✗")} ${about}: processes left: ${left.join(", ")}; ${advice}`
  }
  return `${paint.green("✓")} ${about}: nothing left${reaped ? ", ledger deleted" : ""}`
}
