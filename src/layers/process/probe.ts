/**
 * Whether a backend works here, found out by using it: containers, kernels and policies forbid parts of it in too many ways
 * to be guessed from.
 *
 * Guarantees: a probe leaves no process of its command, and is bounded.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { limits } from "../../schema/limits.ts"
import { type Backend, type BackendProbe, markerVariable, type SpawnRequest } from "../../services/Os.ts"
import type { Anchors } from "./anchors.ts"
import { spawnChild } from "./child.ts"
import { makeGuardian } from "./guardian.ts"
import { enter } from "./namespace.ts"
import { pullFrom } from "./pipes.ts"
import type { ProcessTable } from "./ProcessTable.ts"
import { shell, toolEnvironment } from "./tools.ts"

/** What a probe works with. `marker` is a fresh one. */
export interface ProbeKit {
  readonly table: ProcessTable
  readonly anchors: Anchors
  readonly marker: string
}

/** Never fails: what went wrong is the reason. */
export const probe = (backend: Backend, kit: ProbeKit): Effect.Effect<BackendProbe> =>
  (backend === "namespace" ? probeNamespace(kit) : probeMarked(kit)).pipe(
    Effect.match({
      onFailure: (reason): BackendProbe => ({ backend, usable: false, reason }),
      onSuccess: (reason): BackendProbe => ({ backend, usable: true, reason })
    }),
    Effect.uninterruptible
  )

/** Runs a command as an agent would run, and keeps the anchor for the first launch. */
const probeNamespace = Effect.fnUntraced(function* ({ anchors, marker }: ProbeKit) {
  const anchor = yield* Effect.mapError(anchors.take, ({ reason }) => reason)
  const request: SpawnRequest = {
    command: shell,
    args: ["-c", whoAmI],
    env: toolEnvironment(),
    cwd: "/",
    marker,
    backend: "namespace"
  }
  const run = Effect.gen(function* () {
    const child = yield* Effect.mapError(enter(anchor, request, shell), ({ reason }) => reason)
    const said = yield* Effect.timeoutOption(pullFrom(child.stdout), limits.anchorReadyMs)
    const complaint = yield* Effect.timeoutOption(pullFrom(child.stderr), limits.drainAfterExitMs)
    // The zombie of the command must be taken away by its own parent: a namespace ends only after that.
    yield* Effect.timeoutOption(Deferred.await(child.exit), limits.killGraceMs)
    child.kill()
    const words = textOf(said).trim().split(" ")
    if (words.length !== 3)
      return yield* Effect.fail(textOf(complaint).split("\n")[0] || "nothing ran in the namespace")
    const [user, self, shellNumber] = words
    if (user !== String(process.getuid?.())) return yield* Effect.fail(`an agent would see user ${user ?? "none"}`)
    if (self !== shellNumber) return yield* Effect.fail("/proc of the namespace does not show its own processes")
    return `a command ran in a pid namespace of its own${user === "0" ? "" : " and of its user"}`
  })
  const reason = yield* Effect.tapError(run, () => anchor.end)
  yield* anchors.keep(anchor)
  return reason
})

/** Prints user, number by /proc, and number by the shell, with nothing but the shell: a probe is on the way of a start. */
const whoAmI = `
while read -r name first _; do
  case $name in
    Pid:) self=$first ;;
    Uid:) user=$first ;;
  esac
done </proc/self/status
echo "$user $self $$"
`

const textOf = (said: Option.Option<Uint8Array | undefined>) =>
  new TextDecoder().decode(Option.getOrUndefined(said) ?? new Uint8Array())

/** Ends a guardian's input and sees the process that it guards end. */
const probeMarked = Effect.fnUntraced(function* ({ marker, table }: ProbeKit) {
  const child = yield* Effect.mapError(
    spawnChild({
      file: shell,
      args: ["-c", "read -r _"],
      env: { ...toolEnvironment(), [markerVariable]: marker },
      cwd: "/"
    }),
    (reason) => `${shell}: ${reason}`
  )
  const guarded = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const found = yield* table.census({ marker, pidNamespace: undefined, isHelper: () => false })
    if (!found.some(({ pid }) => pid === child.pid))
      return yield* Effect.fail("the environment of a child cannot be read")
    const guardian = yield* Scope.provide(makeGuardian, scope)
    yield* guardian.watch(marker)
    yield* Scope.close(scope, Exit.void)
    const exit = yield* Effect.timeoutOption(Deferred.await(child.exit), limits.killGraceMs)
    if (Option.isNone(exit)) return yield* Effect.fail("the guardian did not end a marked process")
    return "a guardian ended a process by its marker"
  })
  return yield* Effect.ensuring(guarded, Effect.sync(child.kill))
})
