/**
 * The journal that keeps: events, acknowledgements, commands and records survive the process, as durable as its store.
 *
 * Guarantees: an event is delivered only once it is stored; its number is given in the commit that stores it, goes on after a
 * restart, and is never given again; what comes while a commit runs goes into the next one; adjacent pieces of one item's text
 * that come together are one event; a command is stored as pending before its effect, and one that was pending at the end of
 * the process is indeterminate; a request, a turn and a session is open in the store from the commit of its first event to that
 * of its last.
 *
 * Bounds: the log. An append waits for room, so the pressure reaches the agent; what is forced uses the reserve, whatever its
 * priority, since whoever says it cannot wait; when even that is full, the journal is over.
 *
 * When the store fails the journal is over until it is opened again: an append dies, which ends its turn as crashed; what is
 * forced (that terminal) reaches the subscribers in this process as events of another source, numbered from 1, which are not
 * stored; readers of the log end with `JournalFailed` behind the last stored event. So no event of the durable source is ever
 * taken back, and nobody in this process waits for an end that does not come.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Latch from "effect/Latch"
import { JournalFailed, type StoreFailed, TurnsRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { coalesced } from "../schema/prp/coalesce.ts"
import type { CommandEntry } from "../schema/prp/rules/commandJournal.ts"
import { Ids } from "../services/Ids.ts"
import { type Change, JournalStore, type StoredRecord, type StoredRequest } from "../services/JournalStore.ts"
import { type Entry, instantOf, Journal, newSource } from "./Journal.ts"
import { type Batch, eventsOf, makeBatches, type Part } from "./journalBatch.ts"
import { type CommandLog, makeCommandLog } from "./journalCommands.ts"
import { isInFlight, type Job, newJob, settle, settled, wake } from "./journalJob.ts"
import { makePeers, type Peers } from "./journalPeers.ts"
import { type FollowOptions, openReader, type Reader } from "./journalReader.ts"
import { makeRetention } from "./journalRetention.ts"
import { abandonAll, deliver, makeSubscribers } from "./journalSubscribers.ts"

export interface DurableJournalOptions {
  /** Of the log. Default `journalBytesMax`. */
  readonly bytesMax?: number
  /** The part of it for what cannot wait. Default `journalReserveBytes`. */
  readonly reserveBytes?: number
}

/** What an earlier process left. */
export interface Recovered {
  /** Open when that process ended, until an event ends it. */
  readonly requests: ReadonlyArray<StoredRequest>
  /** Those of the kinds `turn` and `session` are open too, and what `OpenTurn` and `OpenSession` say. */
  readonly records: ReadonlyArray<StoredRecord>
  /** Commands that were pending. */
  readonly indeterminate: ReadonlyArray<{ readonly stream: string; readonly entry: CommandEntry }>
}

export class DurableJournal extends Context.Service<
  DurableJournal,
  {
    readonly sourceInstanceId: string
    readonly recovered: Recovered
    /** The log behind a cursor, then everything that is committed. */
    readonly follow: (options: FollowOptions) => Effect.Effect<Reader, Effect.Error<ReturnType<typeof openReader>>>
    /** The number of the last event that is gone; 0 for none. A cursor before it has expired, or is about to. */
    readonly prunedThrough: () => number
    /** Keeps them as durable as events. If interrupted it is done all the same. */
    readonly record: (records: ReadonlyArray<StoredRecord>) => Effect.Effect<void, JournalFailed>
    readonly peers: Peers
    readonly commands: CommandLog
  }
>()("greenroom/actors/DurableJournal") {}

export const layer = (
  options: DurableJournalOptions = {}
): Layer.Layer<Journal | DurableJournal, StoreFailed, Ids | JournalStore> => Layer.effectContext(make(options))

const make = Effect.fnUntraced(function* ({
  bytesMax = limits.journalBytesMax,
  reserveBytes = limits.journalReserveBytes
}: DurableJournalOptions) {
  const store = yield* JournalStore
  const ids = yield* Ids
  const loaded = yield* store.load
  const sourceInstanceId = loaded.sourceInstanceId ?? (yield* ids.next("runner"))
  if (loaded.sourceInstanceId === undefined) yield* store.commit([{ _tag: "Source", sourceInstanceId }])
  const retention = makeRetention({ ...loaded, bytesMax, reserveBytes })
  const batches = makeBatches(retention, { sourceInstanceId, lastSeq: loaded.lastSeq, bytesMax })
  /** Of what can only be told in this process. */
  const unstored = newSource(yield* ids.next("runner"))
  const subscribers = makeSubscribers()
  const readers = new Set<() => void>()
  let jobs: ReadonlyArray<Job> = []
  let lastSeq = loaded.lastSeq
  let failure: JournalFailed | undefined
  let isDue = false
  let committer: (() => void) | undefined

  const makeDue = () => {
    isDue = true
    const call = committer
    committer = undefined
    call?.()
  }

  const enqueue = (job: Job): Job => {
    if (failure === undefined) {
      jobs = [...jobs, job]
      makeDue()
    } else {
      fail(job, failure)
    }
    return job
  }

  const withdraw = (job: Job) => {
    job.leftOut = job.drafts.length - job.planned
    jobs = jobs.filter((other) => other !== job)
    settle(job)
    makeDue()
  }

  const append = Effect.fnUntraced(function* (entry: Entry, draining: Latch.Latch) {
    if (entry.drafts.length === 0 && entry.records === undefined) return 0
    const job = enqueue(jobOf(entry, yield* Clock.currentTimeMillis, draining))
    yield* Effect.onInterrupt(settled(job, withdraw), () => Effect.sync(() => abandon(job)))
    if (job.failure !== undefined) return yield* Effect.die(job.failure)
    const waiting = job.offers.filter((offer) => !offer.isAdmitted())
    return job.leftOut + (waiting.length === 0 ? 0 : yield* deliver(waiting, draining))
  })

  const abandon = (job: Job) => {
    job.isAbandoned = true
    abandonAll(job.offers)
    if (job.state !== "settled" && !isInFlight(job)) withdraw(job)
  }

  const force = Effect.fnUntraced(function* (entry: Entry) {
    if (entry.drafts.length === 0 && entry.records === undefined) return
    yield* settled(enqueue(jobOf(entry, yield* Clock.currentTimeMillis, undefined)), withdraw)
  })

  const persist = (changes: ReadonlyArray<Change>): Effect.Effect<void, JournalFailed> =>
    Effect.suspend(() => {
      const job = enqueue(newJob({ entry: undefined, drafts: [], changes, emittedAt: "", draining: undefined }))
      return Effect.flatMap(settled(job, withdraw), () =>
        job.failure === undefined ? Effect.void : Effect.fail(job.failure)
      )
    })

  const due = Effect.callback<void>((resume) => {
    if (isDue) return resume(Effect.void)
    committer = () => resume(Effect.void)
    return Effect.sync(() => {
      committer = undefined
    })
  })

  const commit = Effect.gen(function* () {
    isDue = false
    // The numbers of the batch that failed were not given to anybody, and are not given again.
    if (failure !== undefined) return
    const batch = batches.next(jobs, instantOf(yield* Clock.currentTimeMillis))
    const exit = batch.changes.length === 0 ? Exit.void : yield* Effect.exit(store.commit(batch.changes))
    if (Exit.isFailure(exit)) return end("store_failed", reasonOf(exit))
    committed(batch)
    if (batch.isExhausted) end("p0_storage_exhausted", `the reserve of ${reserveBytes} bytes is full`)
  })

  const committed = (batch: Batch) => {
    retention.committed()
    lastSeq = batch.lastSeq
    batch.parts.forEach(publish)
    const finished = new Set(batch.finished)
    jobs = jobs.filter((job) => !finished.has(job))
    batch.finished.forEach(settle)
    jobs.forEach(wake)
    // More than one commit may hold.
    if (jobs.some((job) => job.state === "waiting")) makeDue()
    callReaders()
  }

  const publish = (part: Part) => {
    const { entry, job } = part
    if (job !== undefined) job.committed = job.planned
    if (!subscribers.hear(entry)) return
    const events = eventsOf(part, sourceInstanceId)
    if (job?.draining === undefined) return subscribers.force(entry, events)
    const offers = subscribers.publish(entry, events, entry.bytes / job.drafts.length)
    if (job.isAbandoned) abandonAll(offers)
    else job.offers.push(...offers)
  }

  const callReaders = () => {
    const calls = [...readers]
    readers.clear()
    for (const call of calls) call()
  }

  const end = (code: JournalFailed["code"], reason: string) => {
    if (failure !== undefined) return
    failure = new JournalFailed({ code, reason })
    const left = jobs
    jobs = []
    for (const job of left) fail(job, failure)
    callReaders()
  }

  /** What is forced is at least told. */
  const fail = (job: Job, cause: JournalFailed) => {
    job.failure = cause
    if (job.entry !== undefined && job.draining === undefined) {
      const rest = { ...job.entry, drafts: job.drafts.slice(job.committed) }
      subscribers.force(rest, unstored.sequencedAt(rest, job.emittedAt))
    }
    settle(job)
  }

  const { commands, indeterminate, changes } = makeCommandLog(loaded.commands, persist)
  if (changes.length > 0) yield* store.commit(changes)

  yield* Effect.addFinalizer(() => Effect.sync(() => end("journal_closed", "the journal was closed")))
  // One turn of the scheduler, so that whoever is about to append comes along.
  const run = Effect.forever(Effect.andThen(Effect.andThen(due, Effect.yieldNow), Effect.uninterruptible(commit)))
  yield* Effect.forkScoped(
    Effect.onExit(run, () => Effect.sync(() => end("journal_closed", "the journal was closed"))),
    { startImmediately: true }
  )

  const log = {
    lastSeq: () => lastSeq,
    failure: () => failure,
    onChange: (call: () => void) => {
      readers.add(call)
      return () => void readers.delete(call)
    }
  }

  const admitsTurns = Effect.suspend(() => {
    if (failure !== undefined) return Effect.fail(new TurnsRefused({ reason: failure.code }))
    return batches.isPressed() ? Effect.fail(new TurnsRefused({ reason: "backpressure" })) : Effect.void
  })

  return Context.make(
    Journal,
    Journal.of({ append, force, subscribe: subscribers.subscribe, sequence: () => lastSeq, admitsTurns })
  ).pipe(
    Context.add(
      DurableJournal,
      DurableJournal.of({
        sourceInstanceId,
        recovered: { requests: loaded.requests, records: loaded.records, indeterminate },
        follow: (follow) => openReader(store, log, follow),
        prunedThrough: retention.prunedThrough,
        record: (records) => (records.length === 0 ? Effect.void : persist(changesOf(records))),
        peers: makePeers(loaded.peers, log.lastSeq, retention.prunedThrough, persist),
        commands
      })
    )
  )
})

const jobOf = (entry: Entry, nowMs: number, draining: Latch.Latch | undefined): Job =>
  newJob({
    entry,
    drafts: coalesced(entry.drafts),
    changes: changesOf(entry.records ?? []),
    emittedAt: instantOf(nowMs),
    draining
  })

const changesOf = (records: ReadonlyArray<StoredRecord>): ReadonlyArray<Change> =>
  records.map((record) => ({ _tag: "Record", ...record }))

/** A store that dies has failed too. */
const reasonOf = (exit: Exit.Failure<void, StoreFailed>): string => {
  const [first] = exit.cause.reasons
  return first?._tag === "Fail" ? first.error.reason : "the store died"
}
