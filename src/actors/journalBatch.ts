/**
 * What goes into the next commit. Numbers are given here, so that what is left out takes none.
 *
 * Appends come in their order, and one without room holds up those behind it; what is forced overtakes them and uses the
 * reserve. A batch that was made is committed, or the journal is over: its numbers are not given back.
 */
import type { EventDraft, Event } from "../schema/prp/event.ts"
import { utf8Bytes } from "../schema/characters.ts"
import { invariant } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { draftOf, type EventVersion, versionOf } from "../schema/prp/event.ts"
import type { Change } from "../services/JournalStore.ts"
import { type Entry, eventOf } from "./Journal.ts"
import type { Job } from "./journalJob.ts"
import { openChange } from "./journalOpen.ts"
import type { Retention } from "./journalRetention.ts"

export interface Batch {
  readonly changes: ReadonlyArray<Change>
  readonly parts: ReadonlyArray<Part>
  readonly finished: ReadonlyArray<Job>
  readonly lastSeq: number
  /** There is no room even in the reserve. */
  readonly isExhausted: boolean
}

/** Events of one job; without a job, of the journal itself. */
export interface Part {
  readonly job: Job | undefined
  readonly entry: Entry
  /** In one row from `firstSeq` on. */
  readonly drafts: ReadonlyArray<EventDraft>
  readonly firstSeq: number
  readonly emittedAt: string
}

/** Only for who listens: it takes as long as all the rest. */
export const eventsOf = (
  { drafts, emittedAt, entry, firstSeq }: Part,
  sourceInstanceId: string
): ReadonlyArray<Event> => drafts.map((draft, n) => eventOf(draft, entry, sourceInstanceId, firstSeq + n, emittedAt))

export interface Batches {
  readonly next: (jobs: ReadonlyArray<Job>, emittedAt: string) => Batch
  /** Appends have to wait, or had to not long ago. */
  readonly isPressed: () => boolean
}

export const makeBatches = (
  retention: Retention,
  source: { readonly sourceInstanceId: string; readonly lastSeq: number; readonly bytesMax: number }
): Batches => {
  let lastSeq = source.lastSeq
  let prunedThrough = retention.prunedThrough()
  let pressed: Entry | undefined

  const next = (jobs: ReadonlyArray<Job>, emittedAt: string): Batch => {
    const changes: Array<Change> = []
    const parts: Array<Part> = []
    const finished: Array<Job> = []
    let count = 0
    /** What comes behind waits for the next batch: this one is large, or its events must be stored before they may go. */
    let isFull = false
    let isBlocked = false
    let isExhausted = false

    /** `false`: there is no room. */
    const add = (draft: EventDraft, entry: Entry, wire: Wire, mayUseReserve: boolean): boolean => {
      const text = JSON.stringify(shown(draft))
      const json = wire.jsonOf(text, lastSeq + 1)
      const bytes = json.length + utf8Bytes(text) - text.length + wire.extraBytes
      if (!retention.admit(bytes, mayUseReserve)) return false
      lastSeq++
      count++
      const { priority } = draft
      const { runId, sessionId } = entry
      changes.push({ _tag: "Event", seq: lastSeq, priority, runId, sessionId, json, bytes })
      const change = openChange(draft, entry, json)
      if (change !== undefined) changes.push(change)
      return true
    }

    /** Of the journal itself. */
    const say = (entry: Entry, state: "engaged" | "relieved") => {
      const draft = draftOf("runner.backpressure", {
        state,
        retainedBytes: retention.retainedBytes(),
        limitBytes: source.bytesMax
      })
      const wire = wireOf(draft, entry, source.sourceInstanceId, emittedAt)
      if (!add(draft, entry, wire, true)) isExhausted = true
      else parts.push({ job: undefined, entry: placeOf(entry), drafts: [draft], firstSeq: lastSeq, emittedAt })
    }

    const addEvents = (job: Job, entry: Entry) => {
      const [from, firstSeq] = [job.planned, lastSeq + 1]
      const isForced = job.draining === undefined
      let hasRoom = true
      const first = job.drafts[job.planned]
      if (first === undefined || isFull) return
      let wire = wireOf(first, entry, source.sourceInstanceId, job.emittedAt)
      while (job.planned < job.drafts.length && !isFull) {
        const draft = job.drafts[job.planned]!
        if (versionOf(draft.eventType) !== wire.version) {
          wire = wireOf(draft, entry, source.sourceInstanceId, job.emittedAt)
        }
        const mayUseReserve = isForced || draft.priority === 0
        hasRoom = add(draft, entry, wire, mayUseReserve)
        if (!hasRoom) {
          if (count > 0) isFull = true
          else if (mayUseReserve) isExhausted = true
          break
        }
        job.planned++
        isFull = count >= limits.commitEventsMax
      }
      if (job.planned > from) {
        parts.push({ job, entry, drafts: job.drafts.slice(from, job.planned), firstSeq, emittedAt: job.emittedAt })
      }
      if (hasRoom || isFull || isExhausted) return
      if (job.draining?.isOpen() === true) {
        job.leftOut = job.drafts.length - job.planned
        return
      }
      isBlocked = true
      job.state = "blocked"
      if (pressed === undefined) {
        pressed = entry
        say(entry, "engaged")
      }
    }

    const finish = (job: Job) => {
      for (const change of job.changes) {
        if (change._tag === "Peer") retention.acknowledge(change.peer, change.acknowledged)
        changes.push(change)
      }
      finished.push(job)
    }

    // First what needs no room, and may make some.
    for (const job of jobs) if (job.drafts.length === 0) finish(job)
    for (const job of jobs) {
      if (job.entry === undefined || job.drafts.length === 0) continue
      if (isExhausted) break
      if (!isBlocked || job.draining === undefined) {
        job.state = "waiting"
        addEvents(job, job.entry)
      } else if (job.draining.isOpen()) {
        // What drains does not wait behind others.
        job.leftOut = job.drafts.length - job.planned
      } else {
        job.state = "blocked"
      }
      if (job.planned + job.leftOut === job.drafts.length) finish(job)
    }
    if (pressed !== undefined && !isBlocked && !isFull && !isExhausted && retention.relax()) {
      const entry = pressed
      pressed = undefined
      say(entry, "relieved")
    }
    if (retention.prunedThrough() > prunedThrough) {
      prunedThrough = retention.prunedThrough()
      changes.push({ _tag: "Pruned", through: prunedThrough })
    }
    return { changes, parts, finished, lastSeq, isExhausted }
  }

  return { next, isPressed: () => pressed !== undefined }
}

/** What goes over a wire: not what is for this process only. */
const shown = (draft: EventDraft): EventDraft => {
  if (draft.debug === undefined) return draft
  const { debug: _debug, ...rest } = draft
  return rest
}

interface Wire {
  readonly version: EventVersion
  readonly jsonOf: (draftJson: string, seq: number) => string
  /** What the envelope takes in UTF-8 beyond its length. */
  readonly extraBytes: number
}

/**
 * Envelopes of one entry and one version as JSON: what follows the draft is the same in all of them but for the number, and
 * most of the text. Made once, it takes a third of the time.
 */
const wireOf = (draft: EventDraft, entry: Entry, sourceInstanceId: string, emittedAt: string): Wire => {
  const whole = JSON.stringify(eventOf(shown(draft), entry, sourceInstanceId, 0, emittedAt))
  const envelope = whole.slice(JSON.stringify(shown(draft)).length - 1)
  const number = `:0","sourceSeq":0,`
  const at = envelope.indexOf(number)
  invariant(at > 0, "an envelope names its number", envelope)
  const before = envelope.slice(0, at)
  const after = envelope.slice(at + number.length)
  return {
    version: versionOf(draft.eventType),
    jsonOf: (draftJson, seq) => `${draftJson.slice(0, -1)}${before}:${seq}","sourceSeq":${seq},${after}`,
    extraBytes: utf8Bytes(envelope) - envelope.length
  }
}

const placeOf = ({ runId, sessionId }: Entry): Entry => ({ runId, sessionId, drafts: [], bytes: 0 })
