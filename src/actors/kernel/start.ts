/** Starting an actor for a given owner: what `Actor.spawn` and a supervisor have in common. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { invariant, type ResourceUnreleased } from "../../schema/errors.ts"
import type { ActorRef, Options } from "./Actor.ts"
import { ActorCell, type CellBirth, type Supervision } from "./ActorCell.ts"
import { stop } from "./closing.ts"
import { eraseBehaviour, typeFailure, typeRef } from "./erase.ts"
import { launch } from "./life.ts"
import type { AnyMessage } from "./Message.ts"
import { Registry } from "./Registry.ts"
import { Self, type SelfShape } from "./Self.ts"

/** Who starts the actor. */
export interface Circumstances {
  /** Its closing stops the actor. */
  readonly owner: Scope.Scope
  /** The actor above; by default the caller's `Self`. */
  readonly above?: SelfShape | undefined
  readonly supervision?: Supervision
}

export const start = <M extends AnyMessage, E, R>(
  options: Options<M, E, R>,
  circumstances: Circumstances
): Effect.Effect<ActorRef<M>, E | ResourceUnreleased, Exclude<R, Scope.Scope | Self> | Registry> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(enter(options, circumstances), (cell) =>
      Effect.as(
        Effect.onInterrupt(restore(run<E>(cell)), () => cell.stop),
        typeRef<M>(cell)
      )
    )
  )

/** The actor exists: it has its path and its owner, and nothing runs. */
const enter = <M extends AnyMessage, E, R>(
  options: Options<M, E, R>,
  circumstances: Circumstances
): Effect.Effect<ActorCell, ResourceUnreleased, Registry> =>
  Effect.flatMap(Registry, (table) =>
    Effect.withFiber((fiber) => {
      const { owner, supervision } = circumstances
      const parent = cellOf(circumstances.above ?? Context.getOrUndefined(fiber.context, Self))
      const birth: CellBirth = {
        options,
        behaviour: eraseBehaviour(options.behaviour),
        path: pathOf(parent, options.name),
        parent,
        table,
        supervision,
        fiber
      }
      const refusal = table.refusal(birth.path, options.resourceKey)
      if (refusal !== undefined) return Exit.fail(refusal)
      const cell = new ActorCell(birth, Scope.forkUnsafe(owner))
      table.enter(cell)
      if (parent?.serving === false) stop(cell)
      return Effect.as(Scope.addFinalizer(cell.link, cell.stop), cell)
    })
  )

/** Launches the actor and waits until it runs or has failed to. */
const run = <E>(cell: ActorCell): Effect.Effect<void, E> =>
  Effect.callback((resume) => {
    if (cell.heard !== undefined) return resume(Exit.void)
    cell.onStarted = (exit) => resume(typeFailure<E>(exit))
    launch(cell)
  })

const cellOf = (self: SelfShape | undefined): ActorCell | undefined => {
  invariant(self === undefined || self instanceof ActorCell, "Self is made by the kernel", self?.path)
  return self
}

const pathOf = (parent: ActorCell | undefined, name: string): string => {
  invariant(name.length > 0 && !name.includes("/"), "a name is one path segment", name)
  return `${parent?.path ?? ""}/${name}`
}
