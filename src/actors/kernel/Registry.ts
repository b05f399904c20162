/** Every actor of one runtime by path: look-up, the live tree, counters. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { ActorRef, ActorState } from "./Actor.ts"

/** What anybody may do with an actor whose protocol is not known. */
export type AnyActor = Pick<ActorRef<never>, "path" | "state" | "stop" | "kill" | "watch">

/** One actor as the tree snapshot shows it. */
export interface Row {
  readonly path: string
  readonly state: ActorState
  /** Messages waiting, both lanes. */
  readonly depth: number
  /** Milliseconds since the actor was spawned; a restart does not reset it. */
  readonly ageMs: number
  readonly restarts: number
}

export interface Counters {
  readonly spawned: number
  readonly stopped: number
  readonly crashes: number
  readonly restarts: number
  /** Replies that came after their ask had been interrupted or timed out. */
  readonly lateReplies: number
  /** Actors that missed their stop deadline, and those of them released since. */
  readonly unreleased: number
  readonly released: number
}

export interface RegistryShape {
  readonly lookup: (path: string) => AnyActor | undefined
  /** Rows in tree order: a parent before its children, siblings in order of birth. */
  readonly snapshot: () => ReadonlyArray<Row>
  readonly counters: () => Counters
  /**
   * Declares an unreleased actor gone on the strength of `evidence` (kept in the log): its row and its resource key are freed.
   * `false` when no unreleased actor has this path.
   */
  readonly release: (path: string, evidence: string) => Effect.Effect<boolean>
}

export class Registry extends Context.Service<Registry, RegistryShape>()("greenroom/actors/kernel/Registry") {}

/** A registry of its own per build: one per host, or one per test. */
export declare const layer: Layer.Layer<Registry>
