/**
 * The one guardian of this host for the `marked` backend: a shell process that outlives the host and ends what it left.
 *
 * Guarantees: a marker is in the guardian's pipe before its launch starts; a guardian that dies is replaced as long as there
 * is a marker to guard. It does not keep the host alive.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { limits } from "../../schema/limits.ts"
import { type Child, spawnChild } from "./child.ts"
import { writeTo } from "./pipes.ts"
import { guardianScript } from "./scripts.ts"
import { shell, toolEnvironment } from "./tools.ts"

export interface Guardian {
  /** The failure says why there is no guardian. */
  readonly watch: (marker: string) => Effect.Effect<void, string>
  readonly forget: (marker: string) => Effect.Effect<void>
}

interface Running {
  readonly child: Child
  readonly tell: (line: string) => Effect.Effect<void, string>
}

/** Started at the first marker. When the scope closes its input ends: what is still marked then is swept by it. */
export const makeGuardian: Effect.Effect<Guardian, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const markers = new Set<string>()
  const one = yield* Semaphore.make(1)
  let running: Running | undefined
  let closing = false

  const start = Effect.gen(function* () {
    const started = yield* startGuardian
    running = started
    yield* Effect.forkIn(replaceAfterExit(started), scope)
    for (const marker of markers) yield* started.tell(`+ ${marker}\n`)
  })
  const ensure = Effect.suspend(() => (running === undefined ? start : Effect.void))
  const replaceAfterExit = (of: Running): Effect.Effect<void> =>
    Effect.gen(function* () {
      yield* Deferred.await(of.child.exit)
      if (running === of) running = undefined
      yield* Effect.sleep(limits.guardianReplacePauseMs)
      if (markers.size > 0 && !closing) yield* Effect.ignore(one.withPermit(ensure))
    })

  const watch = (marker: string) =>
    Effect.gen(function* () {
      markers.add(marker)
      // A new one is told of all markers.
      if (running === undefined) return yield* start
      yield* Effect.catch(running.tell(`+ ${marker}\n`), () => start)
    }).pipe(
      one.withPermit,
      Effect.tapError(() => Effect.sync(() => markers.delete(marker)))
    )

  const forget = (marker: string) =>
    Effect.suspend(() => {
      if (!markers.delete(marker) || running === undefined) return Effect.void
      return Effect.ignore(running.tell(`- ${marker}\n`))
    }).pipe(one.withPermit)

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing = true
      if (running === undefined) return Effect.void
      running.child.ref()
      running.child.stdin.end()
      return Effect.asVoid(
        Effect.timeoutOption(Deferred.await(running.child.exit), markers.size > 0 ? 0 : limits.guardianCloseMs)
      )
    })
  )
  return { watch, forget }
})

const startGuardian: Effect.Effect<Running, string> = Effect.map(
  spawnChild({
    file: shell,
    args: ["-c", guardianScript(process.platform), "greenroom-guardian"],
    env: toolEnvironment(),
    cwd: "/"
  }),
  (child) => {
    child.unref()
    const write = writeTo(child.stdin)
    const tell = (line: string) => Effect.mapError(write(new TextEncoder().encode(line)), (closed) => closed.reason)
    return { child, tell }
  }
)
