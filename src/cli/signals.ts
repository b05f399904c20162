/**
 * The signals of the command, as effects. Only the command handles signals; the library installs no handler.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Interrupt, interrupted, notInterrupted } from "./interrupts.ts"

export interface Interrupts {
  /** What a signal does; also for a key in raw mode, and for a reader that is gone. */
  readonly raise: (signal: Interrupt) => Effect.Effect<void>
  /** Completes at the first interrupt, and says which it was. */
  readonly cancelled: Effect.Effect<Interrupt>
  /** Completes at a second Ctrl-C. */
  readonly killed: Effect.Effect<void>
}

/** Handles SIGINT, SIGTERM and SIGHUP until the scope closes. */
export const makeInterrupts: Effect.Effect<Interrupts, never, Scope.Scope> = Effect.gen(function* () {
  const cancelled = Deferred.makeUnsafe<Interrupt>()
  const killed = Deferred.makeUnsafe<void>()
  let state = notInterrupted

  const raise = (signal: Interrupt) => {
    const [next, action] = interrupted(state, signal, performance.now())
    state = next
    if (action !== "none") Deferred.doneUnsafe(cancelled, Effect.succeed(signal))
    if (action === "kill") Deferred.doneUnsafe(killed, Effect.void)
  }

  yield* Effect.acquireRelease(
    Effect.sync(() => signals.map((signal) => [signal, () => raise(signal)] as const)).pipe(
      Effect.tap((handlers) => Effect.sync(() => handlers.forEach(([signal, handler]) => process.on(signal, handler))))
    ),
    (handlers) => Effect.sync(() => handlers.forEach(([signal, handler]) => process.off(signal, handler)))
  )
  return {
    raise: (signal) => Effect.sync(() => raise(signal)),
    cancelled: Deferred.await(cancelled),
    killed: Deferred.await(killed)
  }
})

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
