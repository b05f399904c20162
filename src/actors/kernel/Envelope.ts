/**
 * What travels through a mailbox: one message with the one who waits for it, and the list that holds envelopes in order.
 *
 * An envelope is in at most one list, and leaves it in constant time, so that a withdrawn message frees its room at once.
 */
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { AnyMessage } from "./Message.ts"

/**
 * Completes whoever waits. Declared as a method, because the kernel forgets the types of replies: `ActorRef` says what an ask
 * of a tag is answered with, and `Handlers` holds the handler of that tag to it.
 */
export type Resume = { resume(effect: Effect.Effect<unknown, unknown>): void }["resume"]

/** `reserve` waits for room only and never enters a lane. */
export type EnvelopeKind = "ask" | "tell" | "reserve"

/** When the answer is due, and its place in the list of those. */
export interface Deadline {
  readonly envelope: Envelope
  readonly at: number
  /** The time that the asker gave. */
  readonly waitMs: number
  previous: Deadline | undefined
  next: Deadline | undefined
}

export class Envelope {
  readonly kind: EnvelopeKind
  readonly message: AnyMessage
  /** Who waits: for the reply of an ask, or for the admission of a tell or a reservation. Taken when it is used. */
  resume: Resume | undefined
  /** The fiber at work on this message, when it is not the actor's own. */
  worker: Fiber.Fiber<unknown, unknown> | undefined = undefined
  /** The asker went away after the handler had started. */
  abandoned = false

  list: EnvelopeList | undefined = undefined
  previous: Envelope | undefined = undefined
  next: Envelope | undefined = undefined

  deadline: Deadline | undefined = undefined

  constructor(kind: EnvelopeKind, message: AnyMessage, resume: Resume | undefined) {
    this.kind = kind
    this.message = message
    this.resume = resume
  }

  /** Completes whoever waits, at most once. `false` when nobody does (any more). */
  complete(effect: Effect.Effect<unknown, unknown>): boolean {
    const resume = this.resume
    if (resume === undefined) return false
    this.resume = undefined
    resume(effect)
    return true
  }
}

/** First in, first out, with removal from the middle. */
export class EnvelopeList {
  size = 0
  private first: Envelope | undefined = undefined
  private last: Envelope | undefined = undefined

  push(envelope: Envelope): void {
    envelope.list = this
    envelope.previous = this.last
    if (this.last === undefined) this.first = envelope
    else this.last.next = envelope
    this.last = envelope
    this.size++
  }

  shift(): Envelope | undefined {
    const envelope = this.first
    if (envelope !== undefined) this.remove(envelope)
    return envelope
  }

  remove(envelope: Envelope): void {
    if (envelope.previous === undefined) this.first = envelope.next
    else envelope.previous.next = envelope.next
    if (envelope.next === undefined) this.last = envelope.previous
    else envelope.next.previous = envelope.previous
    envelope.list = undefined
    envelope.previous = undefined
    envelope.next = undefined
    this.size--
  }
}
