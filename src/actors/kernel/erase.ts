/**
 * The one place where the kernel forgets the types of a protocol and gives them back. Sound because one union types both
 * sides: the sender's tag picks the handler, and the handler of a tag has the reply type of that tag.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { ActorRef, ActorState } from "./Actor.ts"
import type { AnyMessage, Handlers } from "./Message.ts"
import type { Self } from "./Self.ts"

/** Handlers as the kernel calls them. Methods, so that a record of typed handlers fits. */
export type ErasedHandlers = {
  readonly [tag: string]: { handle(message: AnyMessage): Effect.Effect<unknown, unknown, Self | Scope.Scope> }["handle"]
}

export type ErasedBehaviour = Effect.Effect<ErasedHandlers, unknown, Self | Scope.Scope>

/** What `ActorCell` offers of an `ActorRef`. */
export interface ErasedRef {
  readonly path: string
  ask(message: AnyMessage, options?: { readonly deadline?: Duration.Input }): Effect.Effect<unknown, unknown>
  tell(message: AnyMessage): Effect.Effect<void, unknown>
  reserve(tag: string): Effect.Effect<unknown, unknown>
  readonly stop: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  readonly watch: Effect.Effect<Exit.Exit<void, unknown>>
  state(): ActorState
}

/** The dependencies of the behaviour are in the context of the fiber that spawns. */
export function eraseBehaviour<M extends AnyMessage, E, R>(
  behaviour: Effect.Effect<Handlers<M, Self | Scope.Scope>, E, R>
): ErasedBehaviour
export function eraseBehaviour(behaviour: Effect.Effect<unknown, unknown, unknown>) {
  return behaviour
}

export function typeRef<M extends AnyMessage>(ref: ErasedRef): ActorRef<M>
export function typeRef(ref: ErasedRef): ErasedRef {
  return ref
}

/** The failure of a behaviour, as the caller of `spawn` knows it. */
export function typeFailure<E>(exit: Exit.Exit<void, unknown>): Exit.Exit<void, E>
export function typeFailure(exit: Exit.Exit<void, unknown>): Exit.Exit<void, unknown> {
  return exit
}
