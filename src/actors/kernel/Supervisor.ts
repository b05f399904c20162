/**
 * One-for-one supervision: a crashed permanent child is rebuilt in place, within a restart intensity; beyond it the Cause
 * escalates to the actor that owns the supervisor.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { ResourceUnreleased } from "../../schema/errors.ts"
import type { ActorRef, Options, Self } from "./Actor.ts"
import type { AnyMessage } from "./Message.ts"
import type { Registry } from "./Registry.ts"

export interface Intensity {
  /** Restarts of all children together that are tolerated ... */
  readonly restarts: number
  /** ... in any window of this length. */
  readonly within: Duration.Input
  /** Wait before the n-th restart in the window (n counts from 1). */
  readonly backoff: (restart: number) => Duration.Input
}

/** `permanent`: restarted after a crash. `temporary`: a crash is final, and is heard by watchers only. */
export type Restart = "permanent" | "temporary"

export interface Supervisor {
  readonly spawn: <M extends AnyMessage, E, R>(
    restart: Restart,
    options: Options<M, E, R>
  ) => Effect.Effect<ActorRef<M>, E | ResourceUnreleased, Exclude<R, Scope.Scope | Self> | Registry>
  /** Success when its scope closes; the escalated Cause when the intensity was exceeded. */
  readonly watch: Effect.Effect<Exit.Exit<void, unknown>>
}

/** A supervisor whose children live in the caller's scope. It escalates by crashing the caller's `Self`, when there is one. */
export declare const make: (intensity: Intensity) => Effect.Effect<Supervisor, never, Scope.Scope>
