/** `greenroom doctor`: how processes can be owned on this machine, and what dead hosts have left. */
import * as Effect from "effect/Effect"
import { doctor as examine, type DoctorReport, renderDoctor } from "../layers/process/doctor.ts"
import * as NodeOs from "../layers/process/NodeOs.ts"
import type { OutputClosed, PlatformUnsupported } from "../schema/errors.ts"
import { Os } from "../services/Os.ts"
import { reap, type Reaped } from "../services/reap.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"

export interface DoctorOptions {
  /** End the processes that dead hosts left and delete their private homes; else only look. The report is of before. */
  readonly reap: boolean
  readonly json: boolean
}

export const doctor = Effect.fn("greenroom.doctor")(function* (
  options: DoctorOptions
): Effect.fn.Return<ExitCode, OutputClosed | PlatformUnsupported> {
  const [report, reaped] = yield* Effect.provide(examineAndReap(options.reap), NodeOs.layer())
  yield* stdoutStream().write(
    options.json ? jsonLine({ ...report, reaped: reaped ?? null }) : `${renderDoctor(report, reaped)}\n`
  )
  return verdictOf(report, reaped)
})

/** 5 when something of a dead host is left, 1 when processes cannot be owned here at all. `undefined`: nothing was reaped. */
export const verdictOf = (
  { backends, hosts }: Pick<DoctorReport, "backends" | "hosts">,
  reaped: ReadonlyArray<Reaped> | undefined
): ExitCode => {
  const isLeft =
    reaped === undefined
      ? hosts.some(({ gone, homes, processes }) => gone && processes.length + homes.length > 0)
      : reaped.some(({ keptHomes, survivors }) => survivors.length + keptHomes.length > 0)
  if (isLeft) return exitCodes.notClean
  return backends.some(({ usable }) => usable) ? exitCodes.completed : exitCodes.failed
}

const examineAndReap = Effect.fnUntraced(function* (isReaping: boolean) {
  const report = yield* examine
  return [report, isReaping ? yield* reap(yield* Os) : undefined] as const
})
