/**
 * The `namespace` backend: each launch lives in a pid namespace of its own, whose init is its anchor. One kill of the anchor
 * takes everything, enforced by the kernel, and so does the end of the host.
 *
 * The agent's parent is a shell outside of the namespace, a child of the host that entered the namespace's mounts and user.
 * The agent's pipes go through it alone: whoever else held them would hold them open for ever. The agent's exit is what a
 * shell tells: a status above 128 may be a signal.
 */
import * as os from "node:os"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { BackendUnavailable } from "../../schema/errors.ts"
import { markerVariable, type OsProcess, type ProcessExit, type SpawnRequest } from "../../services/Os.ts"
import { type Anchor, type Anchors, tool, unavailable } from "./anchors.ts"
import { spawnChild } from "./child.ts"
import { pipesOf } from "./pipes.ts"
import * as procfs from "./procfs.ts"
import { parentScript } from "./scripts.ts"
import { markersOf, shell } from "./tools.ts"

/** A launch in its namespace, and what belongs to the backend rather than to the launch. */
export interface NamespaceLaunch {
  readonly process: OsProcess
  /** Inode of the pid namespace. */
  readonly inode: string
  readonly isHelper: (pid: number) => boolean
}

/** Starts a launch whose executable was located. A failure leaves nothing running. Uninterruptible. */
export const spawnInNamespace = Effect.fnUntraced(function* (
  request: SpawnRequest,
  file: string,
  anchors: Anchors
): Effect.fn.Return<NamespaceLaunch, BackendUnavailable> {
  const anchor = yield* anchors.take
  const parent = yield* enter(anchor, request, file).pipe(Effect.tapError(() => anchor.end))
  return {
    process: {
      ...pipesOf(parent),
      exit: Effect.map(Deferred.await(parent.exit), exitToldByShell),
      marker: request.marker,
      backend: "namespace",
      identity: anchor.identity,
      release: Effect.andThen(anchor.end, Effect.asVoid(Deferred.await(parent.exit)))
    },
    inode: anchor.inode,
    // The watcher of the anchor is a fork of it, and its number may change.
    isHelper: (pid) => pid === parent.pid || pid === anchor.holder.pid || procfs.commandLine(pid) === anchor.commandLine
  }
}, Effect.uninterruptible)

/** Starts a command in the namespace of an anchor. Its parent is the child that is returned. */
export const enter = Effect.fnUntraced(function* (anchor: Anchor, request: SpawnRequest, file: string) {
  const nsenter = yield* tool("nsenter")
  const setsid = yield* tool("setsid")
  const strays = shellVariables.filter((name) => !(name in request.env)).join(" ")
  const script = [shell, "-c", parentScript, "greenroom-parent", request.cwd, strays]
  return yield* Effect.mapError(
    spawnChild({
      file: nsenter,
      args: [...anchor.enterArguments, ...script, setsid, file, ...request.args],
      env: { ...request.env, [markerVariable]: markersOf(request.marker) },
      cwd: "/"
    }),
    (reason) => unavailable(`nsenter: ${reason}`)
  )
})

/** What a shell adds to the environment of its children. */
const shellVariables = ["PWD", "OLDPWD", "SHLVL"]

/** What a shell says of a command's end: 128 and more may be a signal, and may be a code. */
export const exitToldByShell = (exit: ProcessExit): ProcessExit => {
  if (exit._tag === "Signal") return { _tag: "Unknown", reason: `the parent of the agent got ${exit.signal}` }
  if (exit._tag === "Unknown" || exit.code <= 128) return exit
  const named = Object.entries(os.constants.signals).find(([, number]) => number === exit.code - 128)
  return named === undefined ? exit : { _tag: "Signal", signal: named[0], inferred: true }
}
