/** Opening something of several parts, all of it or none. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/**
 * Opens in a scope of its own within the caller's. A failed or interrupted open has closed what it had opened before anybody
 * is told; later closing is the caller's scope.
 */
export const openWhole = <A, E, R>(open: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.scope, (owner) => {
      const scope = Scope.forkUnsafe(owner)
      return Effect.onExit(restore(Scope.provide(open, scope)), (exit) =>
        Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void
      )
    })
  )
