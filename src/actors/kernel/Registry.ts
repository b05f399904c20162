/**
 * Every actor of one runtime by path: look-up, the live tree, counters, and the resource keys that are closed because an
 * unreleased actor holds them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { invariant, ResourceUnreleased } from "../../schema/errors.ts"
import type { ActorRef, ActorState } from "./Actor.ts"
import type { ActorCell } from "./ActorCell.ts"
import { finish } from "./closing.ts"
import { monotonicMs } from "./time.ts"

/** What anybody may do with an actor whose protocol is not known. */
export type AnyActor = Pick<ActorRef<never>, "path" | "state" | "stop" | "kill" | "watch">

/** One actor as the tree snapshot shows it. */
export interface Row {
  readonly path: string
  readonly state: ActorState
  /** Messages waiting, both lanes, senders that wait for room included. */
  readonly depth: number
  /** Milliseconds since the actor was spawned; a restart does not reset it. */
  readonly ageMs: number
  readonly restarts: number
}

/** Counted since the registry was made. */
export interface Counters {
  readonly spawned: number
  readonly stopped: number
  readonly crashes: number
  readonly restarts: number
  /** Replies that came after their ask had been interrupted, timed out or answered by a stop. */
  readonly lateReplies: number
  /** Tells that were in the mailbox of an actor that ended. */
  readonly dropped: number
  /** Actors that missed their stop deadline, and those of them released since. */
  readonly unreleased: number
  readonly released: number
}

export class ActorTable {
  /** Written by the kernel only. */
  readonly counts: { -readonly [K in keyof Counters]: Counters[K] } = {
    spawned: 0,
    stopped: 0,
    crashes: 0,
    restarts: 0,
    lateReplies: 0,
    dropped: 0,
    unreleased: 0,
    released: 0
  }
  private readonly cells = new Map<string, ActorCell>()
  private readonly unreleased = new Set<ActorCell>()

  lookup(path: string): AnyActor | undefined {
    return this.cells.get(path)
  }

  /** In tree order: a parent before its children, siblings in order of birth. */
  snapshot(): ReadonlyArray<Row> {
    const rows: Array<Row> = []
    const add = (cell: ActorCell): void => {
      rows.push(rowOf(cell))
      cell.children?.forEach(add)
    }
    for (const cell of this.cells.values()) {
      if (cell.parent?.children?.has(cell) !== true) add(cell)
    }
    return rows
  }

  counters(): Counters {
    return { ...this.counts }
  }

  /**
   * Declares an unreleased actor gone on the strength of `evidence`, which goes to the log: its row and its resource key are
   * freed. `false` when no unreleased actor has this path.
   */
  release(path: string, evidence: string): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const cell = this.cells.get(path)
      if (cell?.phase !== "unreleased") return Effect.succeed(false)
      finish(cell)
      return Effect.as(Effect.logWarning("unreleased actor declared gone", { path, evidence }), true)
    })
  }

  /** Kernel: why an actor may not start here: an unreleased one holds the path or the resource key. */
  refusal(path: string, resourceKey: string | undefined): ResourceUnreleased | undefined {
    for (const holder of this.unreleased) {
      const key = holder.options.resourceKey
      if (holder.path === path || (key !== undefined && key === resourceKey)) {
        return new ResourceUnreleased({ path: holder.path, resourceKey: resourceKey ?? path })
      }
    }
    return undefined
  }

  /** Kernel: a new actor. */
  enter(cell: ActorCell): void {
    invariant(!this.cells.has(cell.path), "a path has one actor", cell.path)
    this.cells.set(cell.path, cell)
    if (cell.parent !== undefined) (cell.parent.children ??= new Set()).add(cell)
    this.counts.spawned++
  }

  /** Kernel: a stopped actor. */
  leave(cell: ActorCell): void {
    if (this.cells.get(cell.path) !== cell) return
    this.cells.delete(cell.path)
    this.counts.stopped++
  }

  /** Kernel: an actor is unreleased; its path and its resource key are closed. */
  hold(cell: ActorCell): void {
    this.unreleased.add(cell)
    this.counts.unreleased++
  }

  /** Kernel: an unreleased actor is gone after all. */
  free(cell: ActorCell): void {
    if (this.unreleased.delete(cell)) this.counts.released++
  }
}

const rowOf = (cell: ActorCell): Row => ({
  path: cell.path,
  state: cell.phase,
  depth: cell.mailbox.depth,
  ageMs: Math.round(monotonicMs(cell.clock) - cell.bornAt),
  restarts: cell.restarts
})

export class Registry extends Context.Service<Registry, ActorTable>()("greenroom/actors/kernel/Registry") {}

/** A registry of its own per build: one per host, or one per test. */
export const layer: Layer.Layer<Registry> = Layer.sync(Registry)(() => new ActorTable())
