/**
 * The latch beside the mailbox: how an actor ends, once that is decided, or why its incarnation is over. Set first, then the
 * running fiber is interrupted; nothing starts once it is set. The first decision counts.
 */
import type * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import type { ActorCell } from "./ActorCell.ts"
import { answerWaiting } from "./answers.ts"

/** The actor ends with `exit`. Everything that waits in the mailbox is answered now. */
export const decide = (cell: ActorCell, exit: Exit.Exit<void, unknown>): void => {
  cell.ending ??= exit
  cell.phase = "stopping"
  answerWaiting(cell)
}

/** This incarnation is over; supervision decides about the actor. */
export const crash = (cell: ActorCell, cause: Cause.Cause<unknown>): void => {
  if (cell.fiber === undefined || cell.crashed !== undefined) return
  cell.crashed = cause
  cell.table.counts.crashes++
  interrupt(cell)
}

/** Interrupts whatever the actor runs. */
export const interrupt = (cell: ActorCell): void => {
  interruptWorks(cell)
  cell.fiber?.interruptUnsafe()
}

export const interruptWorks = (cell: ActorCell): void => {
  cell.works?.forEach((work) => work.fiber?.interruptUnsafe())
}
