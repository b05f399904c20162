/** How a message gets its one answer. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { ActorCrashed, ActorStopped } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { ActorCell } from "./ActorCell.ts"
import type { Envelope } from "./Envelope.ts"

/** Hands the reply of a handler to the asker; counts it when there is none any more. */
export const reply = (cell: ActorCell, envelope: Envelope, exit: Exit.Exit<unknown, unknown>): void => {
  cell.deadlines?.remove(envelope)
  if (envelope.kind !== "ask") return
  if (envelope.abandoned || !envelope.complete(exit)) cell.table.counts.lateReplies++
}

/** Answers a message that gets no reply of its handler: the handler or its incarnation crashed, or the actor has stopped. */
export const answerGone = (cell: ActorCell, envelope: Envelope, cause?: Cause.Cause<unknown>): void => {
  cell.deadlines?.remove(envelope)
  if (envelope.resume === undefined) return
  envelope.complete(Exit.fail(cause === undefined ? gone(cell) : crashedOf(cell, cause)))
}

/** Answers everything that has no handler yet. */
export const answerWaiting = (cell: ActorCell): void => {
  for (const envelope of cell.mailbox.drain()) {
    if (envelope.kind === "tell" && envelope.resume === undefined) cell.table.counts.dropped++
    answerGone(cell, envelope)
  }
}

/** Answers everything that has a handler at work. Its reply will be late. */
export const answerStarted = (cell: ActorCell, cause?: Cause.Cause<unknown>): void => {
  if (cell.current !== undefined) answerGone(cell, cell.current, cause)
  cell.works?.forEach((work) => {
    if (work.envelope !== undefined) answerGone(cell, work.envelope, cause)
  })
}

export const gone = (cell: ActorCell): ActorStopped => new ActorStopped({ path: cell.path })

const crashedOf = (cell: ActorCell, cause: Cause.Cause<unknown>): ActorCrashed => {
  const defect = Cause.squash(cause)
  const text = defect instanceof Error ? `${defect.name}: ${defect.message}` : String(defect)
  return new ActorCrashed({ path: cell.path, defect: text.slice(0, limits.defectCharactersMax) })
}
