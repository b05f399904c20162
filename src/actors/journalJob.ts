/** What waits to be committed: the events of one append, or changes without events. */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { JournalFailed } from "../schema/errors.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import type { Change } from "../services/JournalStore.ts"
import type { Entry } from "./Journal.ts"
import type { Offer } from "./orderedQueue.ts"

export interface Job {
  readonly entry: Entry | undefined
  /** Of the entry, coalesced. */
  readonly drafts: ReadonlyArray<EventDraft>
  /** Come with the last event. */
  readonly changes: ReadonlyArray<Change>
  readonly emittedAt: string
  /** `undefined`: must not wait for room. */
  readonly draining: Latch.Latch | undefined
  /** Drafts that are in a commit, and those of which the commit has succeeded. */
  planned: number
  committed: number
  /** Left out, because there is no room and nobody waits. */
  leftOut: number
  /** `blocked`: there is no room for the next draft. */
  state: "waiting" | "blocked" | "settled"
  failure: JournalFailed | undefined
  /** Nobody waits for it any more. */
  isAbandoned: boolean
  /** To subscribers that are full. */
  readonly offers: Array<Offer>
  wake: (() => void) | undefined
}

export const newJob = (parts: Pick<Job, "entry" | "drafts" | "changes" | "emittedAt" | "draining">): Job => ({
  ...parts,
  planned: 0,
  committed: 0,
  leftOut: 0,
  state: "waiting",
  failure: undefined,
  isAbandoned: false,
  offers: [],
  wake: undefined
})

export const isInFlight = (job: Job): boolean => job.planned > job.committed

/** Tells whoever waits for the job to look at it again. */
export const wake = (job: Job): void => {
  const waiter = job.wake
  job.wake = undefined
  if (waiter !== undefined) waiter()
}

export const settle = (job: Job): void => {
  job.state = "settled"
  wake(job)
}

/**
 * Until the job is settled. One that is blocked when it drains, or is when draining begins, is given to `withdraw`, which settles
 * it. If interrupted the job stands.
 */
export const settled = (job: Job, withdraw: (job: Job) => void): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (job.state === "settled") return Effect.void
    const { draining } = job
    if (job.state === "waiting" || isInFlight(job) || draining === undefined) {
      return Effect.flatMap(changed(job), () => settled(job, withdraw))
    }
    return Effect.flatMap(Effect.raceFirst(changed(job), draining.await), () => {
      if (job.state === "blocked" && !isInFlight(job) && draining.isOpen()) withdraw(job)
      return settled(job, withdraw)
    })
  })

const changed = (job: Job) =>
  Effect.callback<void>((resume) => {
    if (job.state === "settled") return resume(Effect.void)
    job.wake = () => resume(Effect.void)
    return Effect.sync(() => {
      job.wake = undefined
    })
  })
