/**
 * The life of an actor: `starting -> running -> stopping -> stopped`, with restarts in between.
 *
 * One fiber per incarnation, uninterruptible but for the behaviour and the handlers, so that its closing always runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ActorCell } from "./ActorCell.ts"
import { close, finish, setTimer, unreleased } from "./closing.ts"
import { serve } from "./loop.ts"
import { Self } from "./Self.ts"

/** Starts an incarnation. Nothing when the actor has been ended before. */
export const launch = (cell: ActorCell): void => {
  if (cell.ending !== undefined) return
  cell.crashed = undefined
  const scope = Scope.makeUnsafe()
  const context = Context.add(Context.add(cell.context, Self, cell), Scope.Scope, scope)
  const fiber = Effect.runForkWith(context)(incarnation(cell, scope), { uninterruptible: true })
  fiber.addObserver((exit) => ended(cell, exit))
}

const incarnation = (cell: ActorCell, scope: Scope.Closeable): Effect.Effect<void, never, Self | Scope.Scope> =>
  Effect.withFiber((fiber) => {
    cell.fiber = fiber
    const life = Effect.flatMap(cell.behaviour, (handlers) => serve(cell, handlers))
    return Effect.flatMap(Effect.exit(Effect.interruptible(life)), (exit) => close(cell, scope, exit))
  })

/** The fiber of an incarnation has ended. A finalizer that died has proven nothing. */
const ended = (cell: ActorCell, exit: Exit.Exit<void>): void => {
  cell.fiber = undefined
  cell.handlers = undefined
  cell.onIdle = undefined
  if (cell.phase === "stopped") return
  if (exit._tag === "Failure") unreleased(cell)
  else if (cell.ending !== undefined) finish(cell)
  else setTimer(cell, cell.restartAfterMs ?? 0, () => restart(cell))
}

const restart = (cell: ActorCell): void => {
  cell.restarts++
  cell.table.counts.restarts++
  launch(cell)
}
