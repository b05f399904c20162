/**
 * The message loop: takes the next message while the actor serves, runs its handler to the end, answers.
 *
 * The hot path. Handlers that are already decided (`Effect.succeed`, `Effect.fail`) are answered in a batch without leaving
 * this function; replies are completed on the spot; the loop parks only when both lanes are empty.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { invariant } from "../../schema/errors.ts"
import type { ActorCell } from "./ActorCell.ts"
import { answerGone } from "./answers.ts"
import type { Envelope } from "./Envelope.ts"
import type { ErasedHandlers } from "./erase.ts"
import type { Self } from "./Self.ts"
import { fork, isInterruptible, settle } from "./work.ts"

/** Decided handlers in a row before the fiber's budget is looked at. */
const batchMax = 32

export const serve = (cell: ActorCell, handlers: ErasedHandlers): Effect.Effect<void, unknown, Self | Scope.Scope> =>
  Effect.suspend(() => {
    cell.handlers = handlers
    cell.hasRun = true
    cell.phase = "running"
    cell.started(Exit.void)
    return messages(cell)
  })

/** Successes stay in the inner loop; a failure of a handler leaves it, is settled, and enters it again. */
const messages = (cell: ActorCell): Effect.Effect<void, unknown, Self | Scope.Scope> =>
  Effect.catchCause(
    Effect.whileLoop({
      while: () => cell.serving,
      body: () => next(cell),
      step: (value) => {
        if (cell.current !== undefined) settleCurrent(cell, Exit.succeed(value))
      }
    }),
    (cause) => {
      if (cell.current !== undefined) settleCurrent(cell, Exit.failCause(cause))
      else if (cell.serving) return Effect.failCause(cause)
      return cell.serving ? messages(cell) : Exit.void
    }
  )

const settleCurrent = (cell: ActorCell, exit: Exit.Exit<unknown, unknown>): void => {
  const envelope = cell.current!
  cell.current = undefined
  settle(cell, envelope, exit)
}

type Step = Effect.Effect<unknown, unknown, Self | Scope.Scope>

/** The handler of the next message, or the wait for one. */
const next = (cell: ActorCell): Step => {
  for (let n = 0; n < batchMax && cell.serving; n++) {
    const envelope = cell.mailbox.take()
    if (envelope === undefined) return park(cell)
    if (!cell.serving) {
      answerGone(cell, envelope)
    } else if (isInterruptible(cell, envelope)) {
      // The fiber may be stopped before it does what is returned here.
      cell.current = envelope
      return interruptibly(cell, envelope)
    } else {
      const handled = handle(cell, envelope)
      if (!Exit.isExit(handled)) {
        cell.current = envelope
        return handled
      }
      settle(cell, envelope, handled)
    }
  }
  return Exit.void
}

const handle = (cell: ActorCell, envelope: Envelope): Effect.Effect<unknown, unknown, Self | Scope.Scope> => {
  try {
    const handler = cell.handlers![envelope.message._tag]
    invariant(handler !== undefined, "every message has a handler", envelope.message._tag)
    return handler(envelope.message)
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Waits for the next message. Looks again first: one may have come since the lanes were found empty. */
const park = (cell: ActorCell): Step =>
  Effect.callback((resume) => {
    if (cell.mailbox.isEmpty && cell.serving) cell.mailbox.park(() => resume(Exit.void))
    else resume(Exit.void)
  })

/** Runs the handler in a fiber of its own, so that it can be interrupted without the actor, and waits for its end. */
const interruptibly = (cell: ActorCell, envelope: Envelope): Step =>
  Effect.contextWith((context: Context.Context<Self | Scope.Scope>) => {
    const handled = Effect.suspend(() => handle(cell, envelope))
    cell.current = undefined
    const work = fork(cell, context, handled, envelope)
    return Effect.callback<void>((resume) => {
      if (work.exit !== undefined) resume(Exit.void)
      else work.onEnd = () => resume(Exit.void)
    })
  })
