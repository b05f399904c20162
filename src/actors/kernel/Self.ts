/**
 * Who the running fiber is: the actor whose behaviour, handler or forked work it runs. Children are spawned below it, and
 * the check that nothing suspends on an ancestor starts from it.
 */
import * as Context from "effect/Context"
import type * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Later } from "./Message.ts"

export interface SelfShape {
  readonly path: string
  /** The actor above; `undefined` at the root. */
  readonly parent: SelfShape | undefined
  /**
   * Ends this actor with `exit` (default: success) once the message at hand has been answered. Does not wait.
   * The first end decides.
   */
  end(exit?: Exit.Exit<void, unknown>): Effect.Effect<void>
  /** Fails this actor as a defect of its own would: supervision decides. Does not wait. */
  crash(cause: Cause.Cause<unknown>): Effect.Effect<void>
  /** See `Actor.later`. */
  later<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Later<A, E>, never, R>
}

/** Available to the behaviour, to handlers, and to what they fork. */
export class Self extends Context.Service<Self, SelfShape>()("greenroom/actors/kernel/Self") {}
