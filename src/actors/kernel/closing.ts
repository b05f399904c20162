/**
 * The end of an incarnation and of an actor: what runs is interrupted and awaited, then the children are stopped, then the
 * scope closes. Bounded by the stop deadline: what misses it is `unreleased`, never called stopped.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { ResourceUnreleased } from "../../schema/errors.ts"
import type { ActorCell } from "./ActorCell.ts"
import { answerGone, answerStarted } from "./answers.ts"
import { decide, interrupt, interruptWorks } from "./latch.ts"

/** Latches the stop and interrupts what the actor is doing. Does not wait. */
export const stop = (cell: ActorCell, exit: Exit.Exit<void, unknown> = Exit.void): void => {
  if (cell.heard !== undefined) return
  decide(cell, exit)
  if (cell.fiber === undefined) return finish(cell)
  interrupt(cell)
  armStop(cell)
}

/** As `stop`; every ask is answered now, and the deadline is now. */
export const kill = (cell: ActorCell): void => {
  stop(cell)
  if (cell.heard !== undefined) return
  answerStarted(cell)
  setTimer(cell, 0, () => unreleased(cell))
}

/** Latches the end without an interruption: the message at hand is handled to its end. */
export const end = (cell: ActorCell, exit: Exit.Exit<void, unknown>): void => {
  if (cell.ending !== undefined) return
  decide(cell, exit)
  if (cell.fiber === undefined) finish(cell)
  else cell.mailbox.wake()
}

/** Closes an incarnation that ended with `how`; finalizers hear of a crash, their parent's included. The last part of its fiber. */
export const close = (cell: ActorCell, scope: Scope.Closeable, how: Exit.Exit<void, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    judge(cell, how)
    const exit = cell.crashed === undefined ? (torn(cell) ?? how) : Exit.failCause(cell.crashed)
    interruptWorks(cell)
    if (isBusy(cell) || isParent(cell)) {
      armStop(cell)
      return Effect.andThen(Effect.andThen(idle(cell), stopChildren(cell)), Scope.close(scope, exit))
    }
    const closing = Scope.closeUnsafe(scope, exit)
    if (closing === undefined) return Exit.void
    armStop(cell)
    return closing
  })

/** Whether this is the end: asked for, a failed first start, or a crash that nobody restarts. */
const judge = (cell: ActorCell, exit: Exit.Exit<void, unknown>): void => {
  cell.mailbox.unpark()
  if (cell.serving && exit._tag === "Failure") cell.crashed = exit.cause
  const cause = cell.crashed
  const current = cell.current
  cell.current = undefined
  if (cell.ending === undefined && cause !== undefined) {
    if (!cell.hasRun) cell.startFailure = cause
    cell.restartAfterMs = cell.hasRun ? cell.supervision?.restartAfterMs(cause) : undefined
    if (cell.restartAfterMs !== undefined) cell.phase = "starting"
    else {
      if (cell.hasRun) cell.escalation = cause
      decide(cell, Exit.failCause(cause))
    }
  }
  if (current !== undefined) answerGone(cell, current, cell.crashed)
}

const isBusy = (cell: ActorCell): boolean => cell.works !== undefined && cell.works.size > 0

const isParent = (cell: ActorCell): boolean => cell.children !== undefined && cell.children.size > 0

const idle = (cell: ActorCell): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (isBusy(cell)) cell.onIdle = () => resume(Exit.void)
    else resume(Exit.void)
  })

/** What came down from a parent that crashed. */
const torn = ({ ending }: ActorCell): Exit.Exit<void, unknown> | undefined =>
  ending?._tag === "Failure" ? ending : undefined

/** Children of a crash end with its cause. */
const stopChildren = (cell: ActorCell): Effect.Effect<void> =>
  Effect.suspend(() => {
    const exit = cell.crashed === undefined ? Exit.void : Exit.failCause(cell.crashed)
    const stopChild = (child: ActorCell) =>
      Effect.andThen(
        Effect.sync(() => stop(child, exit)),
        child.stop
      )
    return Effect.forEach(cell.children ?? [], stopChild, { concurrency: "unbounded", discard: true })
  })

/** Stopped, everything closed: nothing of the actor is left. */
export const finish = (cell: ActorCell): void => {
  clearTimer(cell)
  cell.table.free(cell)
  cell.phase = "stopped"
  cell.table.leave(cell)
  announce(cell, cell.ending ?? Exit.void)
}

/** Not proven gone: visible, its resource key closed, until its fiber ends after all or proof comes. */
export const unreleased = (cell: ActorCell): void => {
  if (cell.phase === "unreleased") return
  clearTimer(cell)
  const failure = new ResourceUnreleased({
    path: cell.path,
    resourceKey: cell.options.resourceKey ?? cell.path
  })
  if (cell.ending === undefined) {
    cell.escalation = Cause.die(failure)
    decide(cell, Exit.fail(failure))
  }
  cell.phase = "unreleased"
  cell.table.hold(cell)
  answerStarted(cell)
  announce(cell, Exit.fail(failure))
}

/** Tells everybody who waits for the end, once, and lets go of the owner and the parent. */
const announce = (cell: ActorCell, exit: Exit.Exit<void, unknown>): void => {
  const heard = cell.heard !== undefined
  cell.heard = exit
  if (heard) return
  cell.deadlines?.close()
  cell.parent?.children?.delete(cell)
  Scope.closeUnsafe(cell.link, exit)
  cell.started(cell.startFailure === undefined ? Exit.void : Exit.failCause(cell.startFailure))
  const watchers = cell.watchers
  cell.watchers = undefined
  watchers?.forEach((watcher) => watcher(exit))
  if (cell.escalation !== undefined) cell.supervision?.escalate(cell.escalation)
}

/** Arms the deadline of a stop, unless an earlier one is armed. */
const armStop = (cell: ActorCell): void => {
  if (cell.heard !== undefined || cell.timer !== undefined) return
  setTimer(cell, Duration.toMillis(cell.options.stopWithin), () => unreleased(cell))
}

/** The one timer of a life: the deadline of a stop, or the wait before a restart. */
export const setTimer = (cell: ActorCell, waitMs: number, then: () => void): void => {
  clearTimer(cell)
  const timer = Effect.runForkWith(cell.context)(cell.clock.sleep(Duration.millis(waitMs)))
  cell.timer = timer
  timer.addObserver((exit) => {
    if (cell.timer !== timer || exit._tag === "Failure") return
    cell.timer = undefined
    then()
  })
}

const clearTimer = (cell: ActorCell): void => {
  const timer = cell.timer
  cell.timer = undefined
  timer?.interruptUnsafe()
}
