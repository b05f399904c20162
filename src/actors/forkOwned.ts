/** Work that belongs to an actor beside its handlers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Actor from "./kernel/Actor.ts"

/**
 * Forks into the actor's scope and runs the first steps at once. A defect of the work is a crash of the actor: nothing that an
 * actor relies on dies in silence. Called from the actor's behaviour or its handlers.
 */
export const forkOwned = <R>(
  work: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R | Actor.Self | Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Actor.Self | Scope.Scope>) => {
    const self = Context.get(context, Actor.Self)
    const watched = Effect.onExit(work, (exit) =>
      Exit.isFailure(exit) && Exit.hasDies(exit) ? self.crash(exit.cause) : Effect.void
    )
    return Effect.asVoid(Effect.forkIn(watched, Context.get(context, Scope.Scope), { startImmediately: true }))
  })
