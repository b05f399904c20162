/**
 * A queue with one consumer, bounded in entries and bytes: the ordered queue of a connection, and the queue of a subscriber.
 *
 * Guarantees: order is the order of the offers, also among producers that wait; who offers too much waits for room (so the
 * pressure reaches the agent's pipe); nothing admitted is lost, ending included. One entry larger than the byte bound is
 * admitted when the queue is empty, else it could never pass. `force` is for what always fits: the last entry of a
 * connection, the terminal of a turn.
 */
import * as Effect from "effect/Effect"
import { invariant } from "../schema/errors.ts"

export interface Batch<A> {
  readonly entries: ReadonlyArray<A>
  readonly bytes: number
}

/** What became of an offer so far. */
export interface Offer {
  readonly isAdmitted: () => boolean
  /** Completes once all is admitted, or the queue has ended. If interrupted the offer still stands: see `abandon`. */
  readonly admitted: Effect.Effect<void>
  /** Takes back what is not admitted yet, and says how many entries that were. */
  readonly abandon: () => number
}

export interface OrderedQueue<A> {
  /** Appends what fits now; the rest follows, in order, as room comes. */
  readonly offer: (entries: ReadonlyArray<A>, sizeOf: (entry: A) => number) => Offer
  /** Appends all and waits for it. If interrupted, what was admitted stays, the rest is taken back. */
  readonly offerAll: (entries: ReadonlyArray<A>, sizeOf: (entry: A) => number) => Effect.Effect<void>
  /** Appends, behind everything that was offered, whatever the bounds say. */
  readonly force: (entry: A, bytes: number) => void
  /** Nothing is admitted from now on; what is queued is still taken. Idempotent. */
  readonly end: () => void
  /** Everything there is, at least one entry; `undefined` at the end. If interrupted nothing is taken. One waiter. */
  readonly take: Effect.Effect<Batch<A> | undefined>
  readonly depth: () => { readonly entries: number; readonly bytes: number }
}

interface Job<A> {
  readonly entries: ReadonlyArray<A>
  readonly sizeOf: (entry: A) => number
  index: number
  wake: (() => void) | undefined
}

export const makeOrderedQueue = <A>(bounds: {
  readonly entriesMax: number
  readonly bytesMax: number
}): OrderedQueue<A> => {
  let buffer: Array<A> = []
  let bytes = 0
  let ended = false
  let jobs: Array<Job<A>> = []
  let consumer: (() => void) | undefined

  const wakeConsumer = () => {
    const wake = consumer
    consumer = undefined
    if (wake !== undefined) wake()
  }

  /** Admits what fits. `true`: the whole job is admitted. */
  const admit = (job: Job<A>): boolean => {
    const { entries, sizeOf } = job
    while (job.index < entries.length) {
      const entry = entries[job.index]!
      const size = sizeOf(entry)
      const fits = buffer.length < bounds.entriesMax && bytes + size <= bounds.bytesMax
      if (!fits && buffer.length > 0) return false
      buffer.push(entry)
      bytes += size
      job.index++
    }
    return true
  }

  const finish = (job: Job<A>) => {
    const wake = job.wake
    job.wake = undefined
    if (wake !== undefined) wake()
  }

  /** Gives the room that a take has made to those who wait, first come first served. */
  const refill = () => {
    while (jobs.length > 0 && admit(jobs[0]!)) finish(jobs.shift()!)
  }

  const offer = (entries: ReadonlyArray<A>, sizeOf: (entry: A) => number): Offer => {
    if (ended) return admittedOffer
    const job: Job<A> = { entries, sizeOf, index: 0, wake: undefined }
    if (jobs.length > 0 || !admit(job)) jobs.push(job)
    if (buffer.length > 0) wakeConsumer()
    return job.index === entries.length ? admittedOffer : offerOf(job)
  }

  const isSettled = (job: Job<A>) => ended || job.index === job.entries.length

  const offerOf = (job: Job<A>): Offer => ({
    isAdmitted: () => isSettled(job),
    admitted: Effect.callback<void>((resume) => {
      if (isSettled(job)) return resume(Effect.void)
      job.wake = () => resume(Effect.void)
      return Effect.sync(() => {
        job.wake = undefined
      })
    }),
    abandon: () => {
      if (isSettled(job)) return 0
      jobs = jobs.filter((other) => other !== job)
      return job.entries.length - job.index
    }
  })

  const offerAll = (entries: ReadonlyArray<A>, sizeOf: (entry: A) => number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const offered = offer(entries, sizeOf)
      return offered.isAdmitted()
        ? Effect.void
        : Effect.onInterrupt(offered.admitted, () => Effect.sync(() => offered.abandon()))
    })

  const force = (entry: A, size: number) => {
    if (ended) return
    const waiting = jobs
    jobs = []
    for (const job of waiting) {
      for (const late of job.entries.slice(job.index)) {
        buffer.push(late)
        bytes += job.sizeOf(late)
      }
      job.index = job.entries.length
      finish(job)
    }
    buffer.push(entry)
    bytes += size
    wakeConsumer()
  }

  const takeUnsafe = (): Batch<A> | undefined => {
    if (buffer.length === 0) return undefined
    const batch = { entries: buffer, bytes }
    buffer = []
    bytes = 0
    refill()
    return batch
  }

  /** Looks again in the step in which it goes to sleep: something may have come since. */
  const filled = Effect.callback<void>((resume) => {
    if (buffer.length > 0 || ended) return resume(Effect.void)
    invariant(consumer === undefined, "orderedQueue.oneConsumer")
    consumer = () => resume(Effect.void)
    return Effect.sync(() => {
      consumer = undefined
    })
  })

  return {
    offer,
    offerAll,
    force,
    end: () => {
      if (ended) return
      ended = true
      const waiting = jobs
      jobs = []
      waiting.forEach(finish)
      wakeConsumer()
    },
    take: Effect.suspend(() => (buffer.length > 0 || ended ? Effect.sync(takeUnsafe) : Effect.map(filled, takeUnsafe))),
    depth: () => ({ entries: buffer.length, bytes })
  }
}

const admittedOffer: Offer = { isAdmitted: () => true, admitted: Effect.void, abandon: () => 0 }
