/**
 * The `marked` backend: the host is the direct parent, so the exit is exact; everything else of the launch is found by the
 * marker that it inherits, and after the end of the host by the guardian.
 *
 * Not covered: a process that dropped or overwrote its environment, and one of another user or with raised privileges, whose
 * environment nobody may read.
 */
import * as Effect from "effect/Effect"
import { BackendUnavailable, LaunchFailed } from "../../schema/errors.ts"
import { markerVariable, type OsProcess, type ProcessIdentity, type SpawnRequest } from "../../services/Os.ts"
import { spawnChild } from "./child.ts"
import type { Guardian } from "./guardian.ts"
import { pipesOf } from "./pipes.ts"
import { markersOf } from "./tools.ts"

/** Starts a launch whose executable was located. `identify` reads the identity of a child that was just started. */
export const spawnMarked = Effect.fnUntraced(function* (
  request: SpawnRequest,
  file: string,
  guardian: Guardian,
  identify: (pid: number) => Effect.Effect<ProcessIdentity>
): Effect.fn.Return<OsProcess, LaunchFailed | BackendUnavailable> {
  yield* Effect.mapError(
    guardian.watch(request.marker),
    (reason) => new BackendUnavailable({ backend: "marked", reason: `no guardian: ${reason}` })
  )
  const child = yield* Effect.mapError(
    spawnChild({
      file,
      name: request.command,
      args: request.args,
      env: { ...request.env, [markerVariable]: markersOf(request.marker) },
      cwd: request.cwd
    }),
    (reason) => new LaunchFailed({ command: request.command, reason })
  ).pipe(Effect.tapError(() => guardian.forget(request.marker)))
  const identity = yield* identify(child.pid)
  return { ...pipesOf(child), marker: request.marker, backend: "marked", identity, release: Effect.void }
})
