/** The journal of a run from both sides: what was recorded, and the events that a subscriber of everything got. */
import * as Exit from "effect/Exit"
import type { Entry } from "../../../src/actors/Journal.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { Event } from "../../../src/schema/prp/event.ts"
import { valueAt } from "../observe.ts"
import type { InvariantName } from "./invariants.ts"
import type { Problem } from "./problems.ts"

export interface JournalBookOptions {
  readonly problem: Problem<InvariantName>
  readonly isSplit: boolean
  readonly reached: Set<string>
}

export class JournalBook {
  readonly events: Array<Event> = []
  /** The number of the last event. */
  sequence = (): number => 0
  private readonly options: JournalBookOptions
  private started = 0
  private recorded = 0
  /** Events of appends that wait for subscribers. */
  private waiting = 0
  /** What may stand in a queue over its bound, because something was forced behind it. */
  private forced = 0
  /** Some subscriber did not get everything. */
  private hasLeftOut = false
  /** By turn: how many events some subscriber did not get. Not a number: an append did not live to say so. */
  private readonly leftOut = new Map<string, number>()

  constructor(options: JournalBookOptions) {
    this.options = options
  }

  readonly leftOutOf = (turnId: string): number => this.leftOut.get(turnId) ?? 0

  readonly append = ({ drafts, turnId = "" }: Entry): ((exit: Exit.Exit<number>) => void) => {
    this.started += drafts.length
    this.waiting += drafts.length
    return (exit) => {
      this.waiting -= drafts.length
      if (Exit.isSuccess(exit)) this.recorded += drafts.length
      const left = Exit.isSuccess(exit) ? exit.value : NaN
      if (left === 0) return
      this.hasLeftOut = true
      this.leftOut.set(turnId, this.leftOutOf(turnId) + left)
    }
  }

  readonly force = ({ drafts }: Entry): ((exit: Exit.Exit<void>) => void) => {
    this.started += drafts.length
    this.forced += drafts.length + this.waiting
    return (exit) => {
      if (Exit.isSuccess(exit)) this.recorded += drafts.length
    }
  }

  readonly read = (batch: ReadonlyArray<Event>): void => {
    const { isSplit, problem } = this.options
    this.events.push(...batch)
    if (!isSplit && batch.length > limits.subscriberEventsMax + this.forced) {
      problem("bounded", `${batch.length} events waited for a subscriber`)
    }
    this.forced = 0
  }

  readonly check = (): void => {
    this.checkCount()
    this.checkSequence()
    this.checkClosed()
  }

  /** What was interrupted or died may be in the journal, and may not. */
  private checkCount(): void {
    const last = this.sequence()
    if (last < this.recorded || last > this.started) {
      this.options.problem("nothingLost", `${this.recorded} to ${this.started} events, ${last} in the journal`)
    }
  }

  /** A subscriber that is held up may be left out while a turn drains; in whole stretches ours never is. */
  private checkSequence(): void {
    const { isSplit, problem } = this.options
    const mayLack = isSplit && this.hasLeftOut
    this.events.forEach(({ sourceSeq }, index) => {
      const before = this.events[index - 1]?.sourceSeq ?? 0
      const isNext = mayLack ? sourceSeq > before : sourceSeq === before + 1
      if (!isNext) problem("gapless", `event ${sourceSeq} comes after ${before}`)
    })
  }

  private checkClosed(): void {
    const { problem, reached } = this.options
    const closed = new Set<unknown>()
    for (const { eventType, normalizedSessionId, payload } of this.events) {
      if (eventType === "session.failed") reached.add(`session.failed ${String(valueAt(payload, "reason"))}`)
      if (closed.has(normalizedSessionId)) problem("closedLast", `${eventType} comes after its session is closed`)
      if (eventType === "session.closed") closed.add(normalizedSessionId)
    }
  }
}
