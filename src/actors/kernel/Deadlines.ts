/**
 * The deadlines of the open asks of one mailbox, ordered, with one timer to the earliest.
 *
 * The timer is never moved to a later time: when it fires early, it is set again for what is then the earliest. So an ask that
 * is answered in time costs two list operations and no timer.
 */
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { Envelope } from "./Envelope.ts"
import { monotonicMs } from "./time.ts"

export class Deadlines {
  private readonly clock: Clock.Clock
  private readonly context: Context.Context<never>
  private readonly expire: (envelope: Envelope) => void
  private first: Envelope | undefined = undefined
  private last: Envelope | undefined = undefined
  private timer: Fiber.Fiber<void> | undefined = undefined
  private timerAt = 0

  constructor(clock: Clock.Clock, context: Context.Context<never>, expire: (envelope: Envelope) => void) {
    this.clock = clock
    this.context = context
    this.expire = expire
  }

  add(envelope: Envelope, deadlineMs: number): void {
    const at = monotonicMs(this.clock) + deadlineMs
    envelope.deadlineAt = at
    envelope.deadlineMs = deadlineMs
    let before = this.last
    while (before !== undefined && before.deadlineAt > at) before = before.previousDeadline
    const after = before === undefined ? this.first : before.nextDeadline
    envelope.previousDeadline = before
    envelope.nextDeadline = after
    if (before === undefined) this.first = envelope
    else before.nextDeadline = envelope
    if (after === undefined) this.last = envelope
    else after.previousDeadline = envelope
    if (this.timer === undefined || at < this.timerAt) this.arm(at)
  }

  /** Nothing when the envelope has no deadline. */
  remove(envelope: Envelope): void {
    if (envelope.deadlineAt === -1) return
    envelope.deadlineAt = -1
    const before = envelope.previousDeadline
    const after = envelope.nextDeadline
    if (before === undefined) this.first = after
    else before.nextDeadline = after
    if (after === undefined) this.last = before
    else after.previousDeadline = before
    envelope.previousDeadline = undefined
    envelope.nextDeadline = undefined
  }

  /** Stops the timer. */
  close(): void {
    const timer = this.timer
    this.timer = undefined
    timer?.interruptUnsafe()
  }

  private arm(at: number): void {
    this.close()
    this.timerAt = at
    const wait = Duration.millis(Math.max(Math.ceil(at - monotonicMs(this.clock)), 0))
    const timer = Effect.runForkWith(this.context)(this.clock.sleep(wait))
    this.timer = timer
    timer.addObserver((exit) => {
      if (this.timer !== timer || exit._tag === "Failure") return
      this.timer = undefined
      this.fire()
    })
  }

  private fire(): void {
    const now = monotonicMs(this.clock)
    for (let due = this.first; due !== undefined && due.deadlineAt <= now; due = this.first) {
      this.remove(due)
      this.expire(due)
    }
    if (this.first !== undefined && this.timer === undefined) this.arm(this.first.deadlineAt)
  }
}
