/**
 * The termination ladder, as a pure policy over `Os`: end of input, grace, SIGTERM, grace, SIGKILL, proof.
 *
 * Guarantees: it ends within the first two graces and three times the last, whatever the agent does; a step is taken only
 * when something is still alive; it is not the agent's exit that ends a step but the end of everything that belongs to the
 * launch; the report names what is left. Time comes from the Effect Clock.
 */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import { limits } from "../schema/limits.ts"
import type { CleanupReport, Launch } from "./AgentLink.ts"
import type { Os, OsProcess, ProcessExit, ProcessIdentity } from "./Os.ts"
import { type Look, sweep, untilNoneLeft } from "./sweep.ts"

type LadderOs = Pick<Os["Service"], "signal" | "census" | "readIdentity">
type Step = CleanupReport["steps"][number]

export interface Graces {
  readonly eofMs: number
  readonly termMs: number
  readonly killMs: number
}

/** The graces of a launch; what it does not name has the bound of the house. */
export const gracesOf = (launch: Pick<Launch, "graces">): Graces => ({
  eofMs: launch.graces?.eofMs ?? limits.eofGraceMs,
  termMs: launch.graces?.termMs ?? limits.termGraceMs,
  killMs: launch.graces?.killMs ?? limits.killGraceMs
})

/**
 * Ends a launch and reports. Never fails.
 *
 * An open `hurry` skips the graces, before or in the middle of one. If interrupted: the launch is left as it is, so run it
 * where it cannot be.
 */
export const terminate: (
  os: LadderOs,
  process: OsProcess,
  graces: Graces,
  hurry: Latch.Latch
) => Effect.Effect<CleanupReport> = Effect.fnUntraced(function* (os, process, graces, hurry) {
  const steps: Array<Step> = []
  const seen = new Set<string>()
  const census: Look = Effect.tap(os.census(process.marker), (found) =>
    Effect.sync(() => found.forEach((identity) => seen.add(nameOf(identity))))
  )
  const everything = withMainProcess(os, process, census)
  const noteKill = Effect.sync(() => {
    if (!steps.includes("SIGKILL")) steps.push("SIGKILL")
  })

  const idle = yield* hasEnded(process, census)
  // The anchor of a namespace ends only by SIGKILL; an agent that dropped its marker is known all the same.
  const termed = process.backend === "namespace" ? census : everything
  const ended = !idle && (yield* climb(os, process, graces, hurry, { census, termed }, steps))
  let survivors: ReadonlyArray<ProcessIdentity> = []
  if (!idle && !ended) survivors = yield* Effect.andThen(noteKill, sweep(os, everything, graces.killMs))
  yield* Effect.timeoutOption(process.release, graces.killMs)
  if (survivors.length > 0) survivors = yield* everything
  else if (idle || (yield* isAlive(os, process.identity)))
    survivors = yield* sweep(os, everything, graces.killMs, noteKill)
  const exit = yield* Effect.timeoutOption(process.exit, survivors.length > 0 ? 0 : graces.killMs)

  return {
    exit: Option.getOrElse(exit, (): ProcessExit => ({ _tag: "Unknown", reason: "the exit was not reported" })),
    steps,
    proof: process.backend === "namespace" ? "namespace" : "marker",
    processesSeen: Math.max(1, seen.size),
    survivors
  }
})

/** The steps that have a grace. `true`: everything ended within one of them. */
const climb = Effect.fnUntraced(function* (
  os: LadderOs,
  process: OsProcess,
  graces: Graces,
  hurry: Latch.Latch,
  { census, termed }: { readonly census: Look; readonly termed: Look },
  steps: Array<Step>
) {
  const hurried = Effect.as(hurry.await, false)
  const ended = Effect.as(Effect.andThen(process.exit, untilNoneLeft(census)), true)
  const endsWithin = (graceMs: number) =>
    Effect.map(
      Effect.timeoutOption(Effect.raceFirst(hurried, ended), graceMs),
      Option.getOrElse(() => false)
    )

  if (hurry.isOpen()) return false
  steps.push("eof")
  yield* process.end
  if (yield* endsWithin(graces.eofMs)) return true
  if (hurry.isOpen()) return false
  steps.push("SIGTERM")
  for (const identity of yield* termed) yield* os.signal(identity, "SIGTERM")
  return yield* endsWithin(graces.termMs)
})

/**
 * An agent whose exit nobody reported yet may also be one that is about to be born. Two looks in a row, as in a sweep: under
 * `namespace` the release kills what one of them missed.
 */
const hasEnded = Effect.fnUntraced(function* (process: OsProcess, census: Look) {
  const exit = yield* Effect.timeoutOption(process.exit, 0)
  if (Option.isNone(exit) || (yield* census).length > 0) return false
  yield* Effect.sleep(limits.sweepPauseMsMin)
  return (yield* census).length === 0
})

/** The census, and before it the main process as long as it lives: its SIGKILL may take all the others. */
const withMainProcess = (os: LadderOs, process: OsProcess, census: Look): Look =>
  Effect.gen(function* () {
    const alive = yield* isAlive(os, process.identity)
    const others = (yield* census).filter((identity) => nameOf(identity) !== nameOf(process.identity))
    return alive ? [process.identity, ...others] : others
  })

const isAlive = (os: LadderOs, identity: ProcessIdentity) =>
  Effect.map(os.readIdentity(identity.pid), (now) => now !== undefined && nameOf(now) === nameOf(identity))

const nameOf = (identity: ProcessIdentity) => `${identity.pid} ${identity.startTime} ${identity.bootId}`
