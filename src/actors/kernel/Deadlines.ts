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
import type { Deadline, Envelope } from "./Envelope.ts"
import { monotonicMs } from "./time.ts"

export class Deadlines {
  private readonly clock: Clock.Clock
  private readonly context: Context.Context<never>
  private readonly expire: (envelope: Envelope, waitMs: number) => void
  private first: Deadline | undefined = undefined
  private last: Deadline | undefined = undefined
  private timer: Fiber.Fiber<void> | undefined = undefined
  private timerAt = 0

  constructor(
    clock: Clock.Clock,
    context: Context.Context<never>,
    expire: (envelope: Envelope, waitMs: number) => void
  ) {
    this.clock = clock
    this.context = context
    this.expire = expire
  }

  add(envelope: Envelope, waitMs: number): void {
    const at = monotonicMs(this.clock) + waitMs
    let before = this.last
    while (before !== undefined && before.at > at) before = before.previous
    const after = before === undefined ? this.first : before.next
    const deadline: Deadline = { envelope, at, waitMs, previous: before, next: after }
    envelope.deadline = deadline
    if (before === undefined) this.first = deadline
    else before.next = deadline
    if (after === undefined) this.last = deadline
    else after.previous = deadline
    if (this.timer === undefined || at < this.timerAt) this.arm(at)
  }

  /** Nothing when the envelope has no deadline. */
  remove(envelope: Envelope): void {
    const deadline = envelope.deadline
    if (deadline === undefined) return
    envelope.deadline = undefined
    const { next, previous } = deadline
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
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
    for (let due = this.first; due !== undefined && due.at <= now; due = this.first) {
      this.remove(due.envelope)
      this.expire(due.envelope, due.waitMs)
    }
    if (this.first !== undefined && this.timer === undefined) this.arm(this.first.at)
  }
}
