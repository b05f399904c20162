/**
 * `AgentLinks` by owned processes.
 *
 * Guarantees: a launch is written to the ledger before it is started; a failed or interrupted open leaves nothing; a failed
 * clean-up never hides the failure before it; releasing the layer ends every link that is open and awaits the proof. A start
 * ends what dead hosts left behind, and deletes their private homes, beside its own work.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { BackendUnavailable } from "../../schema/errors.ts"
import { type AgentLink, AgentLinks, type Launch } from "../../services/AgentLink.ts"
import { checkEnvironment } from "../../services/environment.ts"
import { Ids } from "../../services/Ids.ts"
import { type Backend, Os } from "../../services/Os.ts"
import { reap } from "../../services/reap.ts"
import { makeOwnedLink } from "./ownedLink.ts"

export const layer: Layer.Layer<AgentLinks, never, Os | Ids> = Layer.effect(
  AgentLinks,
  Effect.gen(function* () {
    const os = yield* Os
    const ids = yield* Ids
    const live = new Set<AgentLink>()
    const finish = (link: AgentLink) =>
      link.close.pipe(
        Effect.catchCause((cause) => Effect.logError(`the clean-up of a launch failed: ${Cause.pretty(cause)}`)),
        Effect.andThen(Effect.sync(() => live.delete(link)))
      )
    const starts = makeStarts()
    yield* Effect.addFinalizer(() =>
      Effect.andThen(starts.close, Effect.forEach(live, finish, { concurrency: "unbounded", discard: true }))
    )
    // So that the first launch finds a probed backend.
    yield* Effect.forkScoped(Effect.ignore(os.backend()))
    yield* Effect.forkScoped(reportReaped(os))

    const start = Effect.fnUntraced(function* (launch: Launch, backend: Backend) {
      const marker = yield* ids.next("launch")
      const { args, command, cwd, env, home } = launch
      yield* os.ledger.add({ marker, backend, command, identity: undefined, ...(home === undefined ? {} : { home }) })
      const process = yield* os
        .spawn({ command, args, env, cwd, marker, backend })
        .pipe(Effect.tapError(() => os.ledger.remove(marker)))
      const link = yield* makeOwnedLink(os, process, launch)
      live.add(link)
      return link
    })
    const open = Effect.fn("AgentLinks.open")(function* (launch: Launch) {
      yield* Effect.fromResult(checkEnvironment(launch.env))
      const backend = yield* os.backend(launch.backend)
      const owned = Effect.acquireRelease(start(launch, backend), finish)
      return yield* starts.count(owned, new BackendUnavailable({ backend, reason: "the host is shutting down" }))
    })
    return AgentLinks.of({ open })
  })
)

/** Starts on their way. Who asked for one may be given up for gone; the layer still waits for it. */
const makeStarts = () => {
  const none = Latch.makeUnsafe(true)
  let running = 0
  let isClosed = false
  return {
    count: <A, E, E2, R>(start: Effect.Effect<A, E, R>, refusal: E2): Effect.Effect<A, E | E2, R> =>
      Effect.uninterruptibleMask((restore): Effect.Effect<A, E | E2, R> => {
        if (isClosed) return Effect.fail(refusal)
        running++
        none.closeUnsafe()
        return Effect.ensuring(
          restore(start),
          Effect.sync(() => {
            if (--running === 0) none.openUnsafe()
          })
        )
      }),
    /** Refuses from now on; completes once none is running. */
    close: Effect.suspend(() => {
      isClosed = true
      return none.await
    })
  }
}

const reportReaped = Effect.fnUntraced(function* (os: Os["Service"]) {
  for (const { keptHomes, ledger, survivors } of yield* reap(os)) {
    if (survivors.length > 0)
      yield* Effect.logWarning(`${survivors.length} processes of a dead host could not be ended (${ledger.path})`)
    else if (keptHomes.length > 0)
      yield* Effect.logWarning(`${keptHomes.length} private homes of a dead host could not be deleted (${ledger.path})`)
  }
})
