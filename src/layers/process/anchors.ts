/**
 * Anchors: inits of pid namespaces, each waiting for the one launch that will live in its namespace.
 *
 * An anchor is the child of its holder (`unshare`), which is ours. One is kept ready ahead of the next launch, so that the
 * launch pays for entering a namespace and not for making it. The end of the host ends every anchor twice over: its lifeline
 * closes, and the holder's parent-death signal passes through to it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { BackendUnavailable } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { ProcessIdentity } from "../../services/Os.ts"
import { type Child, spawnChild } from "./child.ts"
import { pullFrom } from "./pipes.ts"
import * as procfs from "./procfs.ts"
import { anchorScript } from "./scripts.ts"
import { locateTool, shell, toolEnvironment } from "./tools.ts"

export interface Anchor {
  readonly holder: Child
  readonly identity: ProcessIdentity
  /** Inode of its pid namespace. */
  readonly inode: string
  readonly commandLine: string
  /** The arguments with which `nsenter` enters the namespace; its children will be born there. */
  readonly enterArguments: ReadonlyArray<string>
  /** Cuts the lifeline and completes when the holder, and so the anchor, is gone. Idempotent. */
  readonly end: Effect.Effect<void>
}

export interface Anchors {
  /** A fresh anchor, owned by the caller. Uninterruptible and bounded. */
  readonly take: Effect.Effect<Anchor, BackendUnavailable>
  /** Gives back an anchor whose namespace is empty again, for the next launch. */
  readonly keep: (anchor: Anchor) => Effect.Effect<void>
}

/** The scope owns the spare anchor. */
export const makeAnchors = Effect.fnUntraced(function* (
  identify: (pid: number) => Effect.Effect<ProcessIdentity>
): Effect.fn.Return<Anchors, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let spare: Anchor | undefined
  let closed = false

  const keep = (anchor: Anchor) =>
    Effect.suspend(() => {
      if (closed || spare !== undefined) return anchor.end
      spare = anchor
      return Effect.void
    })
  /** Not at once: the launch that took the last one needs the processor now. A failure shows at the next `take`. */
  const refill = Effect.sleep(limits.anchorRefillPauseMs).pipe(
    Effect.andThen(
      Effect.suspend(() => (spare === undefined ? Effect.flatMap(startAnchor(identify), keep) : Effect.void)).pipe(
        Effect.uninterruptible
      )
    ),
    Effect.ignore
  )
  const take = Effect.suspend(() => {
    const ready = spare
    spare = undefined
    return ready !== undefined && !Deferred.isDoneUnsafe(ready.holder.exit)
      ? Effect.succeed(ready)
      : startAnchor(identify)
  }).pipe(
    Effect.tap(() => Effect.forkIn(refill, scope)),
    Effect.uninterruptible
  )

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      return spare === undefined ? Effect.void : spare.end
    })
  )
  return { take, keep }
})

const startAnchor = Effect.fnUntraced(function* (identify: (pid: number) => Effect.Effect<ProcessIdentity>) {
  const setpriv = yield* tool("setpriv")
  const unshare = yield* tool("unshare")
  const holder = yield* Effect.mapError(
    spawnChild({
      file: setpriv,
      args: ["--pdeathsig", "KILL", unshare, ...unshareArguments(), shell, "-c", anchorScript, "greenroom-anchor"],
      env: toolEnvironment(),
      cwd: "/"
    }),
    (reason) => unavailable(`setpriv: ${reason}`)
  )
  holder.unref()
  return yield* anchorOf(holder, identify).pipe(Effect.tapError(() => abandon(holder)))
})

/** Waits until the anchor is up and finds out who it is. */
const anchorOf = Effect.fnUntraced(function* (
  holder: Child,
  identify: (pid: number) => Effect.Effect<ProcessIdentity>
): Effect.fn.Return<Anchor, BackendUnavailable> {
  const said = yield* Effect.timeoutOption(pullFrom(holder.stdout), limits.anchorReadyMs)
  if (said._tag === "None") return yield* unavailable("the anchor did not come up in time")
  if (said.value === undefined) return yield* unavailable(yield* complaintOf(holder))
  holder.stdout.destroy()
  holder.stderr.destroy()
  const pid = procfs.childOf(holder.pid)
  const inode = procfs.pidNamespace(holder.pid, "pid_for_children")
  const commandLine = pid === undefined ? undefined : procfs.commandLine(pid)
  if (pid === undefined || inode === undefined || commandLine === undefined || !procfs.isInit(pid))
    return yield* unavailable("the anchor is not the init of a namespace")
  return {
    holder,
    identity: yield* identify(pid),
    inode,
    commandLine,
    enterArguments: enterArguments(holder.pid),
    end: Effect.andThen(cutLifeline(holder), Effect.asVoid(Deferred.await(holder.exit)))
  }
})

const complaintOf = (holder: Child) =>
  Effect.map(Effect.timeoutOption(pullFrom(holder.stderr), limits.anchorComplaintMs), (said) => {
    const text = said._tag === "Some" && said.value !== undefined ? new TextDecoder().decode(said.value) : ""
    return text.split("\n")[0] || "the anchor ended at once"
  })

const cutLifeline = (holder: Child) =>
  Effect.sync(() => {
    holder.ref()
    for (const pipe of [holder.stdin, holder.stdout, holder.stderr]) pipe.destroy()
  })

/** Ends a holder that may be stuck before its anchor holds the lifeline. */
const abandon = (holder: Child) =>
  Effect.sync(holder.kill).pipe(Effect.andThen(cutLifeline(holder)), Effect.andThen(Deferred.await(holder.exit)))

/** Root needs no user namespace. Others keep their own number in theirs; as root in it, agents would believe to be root. */
const unshareArguments = () => [
  ...(isRoot() ? [] : ["--user", "--map-current-user"]),
  "--pid",
  "--fork",
  "--mount-proc",
  "--propagation=slave",
  "--kill-child=SIGKILL"
]

const enterArguments = (holder: number) => [
  "--no-fork",
  ...(isRoot() ? [] : [`--user=/proc/${holder}/ns/user`, "--preserve-credentials"]),
  `--mount=/proc/${holder}/ns/mnt`,
  `--pid=/proc/${holder}/ns/pid_for_children`,
  `--root=/proc/${holder}/root`
]

const isRoot = () => process.geteuid?.() === 0

/** Absolute path of a system tool. */
export const tool = (name: string): Effect.Effect<string, BackendUnavailable> =>
  Effect.mapError(Effect.fromResult(locateTool(name)), unavailable)

/** The failure of this backend. */
export const unavailable = (reason: string): BackendUnavailable =>
  new BackendUnavailable({ backend: "namespace", reason })
