/**
 * One bounded mailbox: two lanes in one structure, one waiter.
 *
 * Guarantees: the control lane is emptied before the data lane, each lane in order of arrival; a lane never holds more than
 * `capacity` messages and reservations together; who waits for room is admitted in order of arrival, the moment there is
 * room. Everything here is synchronous; only the waiter's wake-up goes through the scheduler, so that a sender never runs the
 * receiver on its own stack.
 */
import * as Exit from "effect/Exit"
import type { SchedulerDispatcher } from "effect/Scheduler"
import { invariant } from "../../schema/errors.ts"
import { type Envelope, EnvelopeList } from "./Envelope.ts"

/** One of the two lanes. */
export class Lane {
  /** Messages that have room. */
  readonly admitted = new EnvelopeList()
  /** Senders that wait for room, in order. Empty while there is room. */
  readonly waiting = new EnvelopeList()
  /** Room taken by reservations that were neither used nor released. */
  reserved = 0
}

export class Mailbox {
  readonly capacity: number
  private readonly dispatcher: SchedulerDispatcher
  private readonly data = new Lane()
  private control: Lane | undefined = undefined
  private waiter: (() => void) | undefined = undefined
  private waking = false

  constructor(capacity: number, dispatcher: SchedulerDispatcher) {
    invariant(Number.isInteger(capacity) && capacity > 0, "a mailbox has a capacity", String(capacity))
    this.capacity = capacity
    this.dispatcher = dispatcher
  }

  lane(control: boolean): Lane {
    return control ? (this.control ??= new Lane()) : this.data
  }

  /** Messages in both lanes, and senders that wait for room. */
  get depth(): number {
    const control = this.control === undefined ? 0 : this.control.admitted.size + this.control.waiting.size
    return control + this.data.admitted.size + this.data.waiting.size
  }

  get isEmpty(): boolean {
    return this.data.admitted.size === 0 && (this.control === undefined || this.control.admitted.size === 0)
  }

  /** Gives the sender room. `false` when there is none. */
  offer(lane: Lane, envelope: Envelope): boolean {
    if (lane.admitted.size + lane.reserved >= this.capacity) return false
    this.give(lane, envelope)
    return true
  }

  /** Puts a message into room that its sender has. */
  admit(lane: Lane, envelope: Envelope): void {
    lane.admitted.push(envelope)
    this.wake()
  }

  /** The next message, control first. Its room goes to the first who waits for it. */
  take(): Envelope | undefined {
    const control = this.control
    const urgent = control?.admitted.shift()
    if (urgent !== undefined) {
      this.refill(control!)
      return urgent
    }
    const envelope = this.data.admitted.shift()
    if (envelope !== undefined) this.refill(this.data)
    return envelope
  }

  /** Takes a message or a waiting sender back. `false` when it had been taken already. */
  withdraw(envelope: Envelope): boolean {
    const list = envelope.list
    if (list === undefined) return false
    list.remove(envelope)
    this.refill(this.data)
    if (this.control !== undefined) this.refill(this.control)
    return true
  }

  /** Gives room to those who wait for it. */
  refill(lane: Lane): void {
    while (lane.waiting.size > 0 && lane.admitted.size + lane.reserved < this.capacity) {
      this.give(lane, lane.waiting.shift()!)
    }
  }

  private give(lane: Lane, envelope: Envelope): void {
    if (envelope.kind === "reserve") lane.reserved++
    else this.admit(lane, envelope)
    if (envelope.kind !== "ask") envelope.complete(Exit.void)
  }

  /** Empties both lanes and both waiting lists, control first. */
  *drain(): Generator<Envelope> {
    for (const lane of [this.control, this.data]) {
      if (lane === undefined) continue
      for (let left = lane.admitted.shift(); left !== undefined; left = lane.admitted.shift()) yield left
      for (let left = lane.waiting.shift(); left !== undefined; left = lane.waiting.shift()) yield left
    }
  }

  /** Parks the one receiver until `wake`. */
  park(waiter: () => void): void {
    invariant(this.waiter === undefined, "a mailbox has one waiter")
    this.waiter = waiter
  }

  /** The receiver went away without having been woken. */
  unpark(): void {
    this.waiter = undefined
  }

  /** Lets the parked receiver look again, in a task of its own. */
  wake(): void {
    if (this.waiter === undefined || this.waking) return
    this.waking = true
    this.dispatcher.scheduleTask(() => {
      this.waking = false
      const waiter = this.waiter
      this.waiter = undefined
      waiter?.()
    }, 0)
  }
}
