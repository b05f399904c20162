/**
 * What an actor runs beside its own fiber: forked replies (`Actor.later`) and interruptible handlers, each a fiber. They
 * belong to the incarnation, which is closed only after they have ended.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { ActorCell } from "./ActorCell.ts"
import { answerGone, reply } from "./answers.ts"
import type { Envelope } from "./Envelope.ts"
import { crash } from "./latch.ts"
import type { Later } from "./Message.ts"

export class Work<A, E> implements Later<A, E> {
  readonly "~greenroom/Later" = true
  fiber: Fiber.Fiber<A, E> | undefined = undefined
  exit: Exit.Exit<A, E> | undefined = undefined
  /** The message that this answers, once the handler has returned it. */
  envelope: Envelope | undefined = undefined
  /** Told when the fiber has ended and its message is answered. */
  onEnd: (() => void) | undefined = undefined

  get await(): Effect.Effect<A, E> {
    return Effect.suspend(() => this.exit ?? Fiber.join(this.fiber!))
  }
}

/** Forks work of this incarnation, in one synchronous stretch with its registration. */
export const fork = <A, E, R>(
  cell: ActorCell,
  context: Context.Context<R>,
  effect: Effect.Effect<A, E, R>,
  envelope?: Envelope
): Work<A, E> => {
  const work = new Work<A, E>()
  work.envelope = envelope
  const works = (cell.works ??= new Set())
  works.add(work)
  const fiber = Effect.runForkWith(context)(effect)
  work.fiber = fiber
  if (envelope !== undefined) envelope.worker = fiber
  fiber.addObserver((exit) => {
    work.exit = exit
    if (work.envelope !== undefined) settle(cell, work.envelope, exit)
    else if (exit._tag === "Failure" && !isTyped(exit.cause)) failed(cell, exit.cause)
    works.delete(work)
    work.onEnd?.()
    if (works.size === 0) cell.onIdle?.()
  })
  if (!cell.serving || envelope?.abandoned === true) fiber.interruptUnsafe()
  return work
}

/** Answers the message with how its handler ended; a later reply is awaited, a defect crashes the actor. */
export const settle = (cell: ActorCell, envelope: Envelope, exit: Exit.Exit<unknown, unknown>): void => {
  if (exit._tag === "Success") {
    if (exit.value instanceof Work) follow(cell, envelope, exit.value)
    else reply(cell, envelope, exit)
  } else if (isTyped(exit.cause)) {
    reply(cell, envelope, exit)
  } else {
    const { cause } = exit
    const asked = envelope.abandoned && envelope.worker !== undefined
    if (asked && !Cause.hasDies(cause)) return
    const crashes = Cause.hasDies(cause) || cell.serving
    if (crashes) crash(cell, cause)
    answerGone(cell, envelope, crashes ? cause : cell.ending === undefined ? cell.crashed : undefined)
  }
}

/** The handler has returned work that answers later. */
const follow = (cell: ActorCell, envelope: Envelope, work: Work<unknown, unknown>): void => {
  if (work.exit !== undefined) return settle(cell, envelope, work.exit)
  work.envelope = envelope
  envelope.worker = isInterruptible(cell, envelope) ? work.fiber : undefined
  if (envelope.abandoned) envelope.worker?.interruptUnsafe()
}

export const isInterruptible = (cell: ActorCell, envelope: Envelope): boolean =>
  cell.options.interruptible?.includes(envelope.message._tag) === true

/** A failure that work without a message ended with: its own defect, or an interruption that the actor did not ask for. */
const failed = (cell: ActorCell, cause: Cause.Cause<unknown>): void => {
  if (cell.serving || Cause.hasDies(cause)) crash(cell, cause)
}

const isTyped = (cause: Cause.Cause<unknown>): boolean => cause.reasons.every(Cause.isFailReason)

export const isLater = (value: unknown): value is Later<unknown, unknown> => value instanceof Work
