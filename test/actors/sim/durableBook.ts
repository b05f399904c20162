/**
 * What the world around a durable journal has seen: the store, the peer, the controller, and whoever listens and appends in the
 * process. From the moment in which a process ends, nobody in it sees anything any more.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { DurableJournal } from "../../../src/actors/durableJournal.ts"
import type { Event } from "../../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../../src/schema/prp/terminals.ts"
import type { CommandEntry } from "../../../src/schema/prp/rules/commandJournal.ts"
import type { Change, Loaded, StoredEvent, StoredRecord } from "../../../src/services/JournalStore.ts"
import type { Fault } from "./journalPrograms.ts"
import { Problems } from "./problems.ts"

export type DurableInvariant =
  | "gapless"
  | "sameSource"
  | "storedFirst"
  | "nothingLost"
  | "nothingTwice"
  | "executedOnce"
  | "acknowledged"
  | "requests"
  | "open"
  | "bounded"

export class DurableBook {
  readonly reached = new Set<string>()
  private readonly problems = new Problems<DurableInvariant>()
  private source: string | undefined
  private isDead = false
  /** The store is over, and with it the journal. */
  private isFailed = false
  /** All events that were ever stored, by number. */
  private readonly log = new Map<number, string>()
  /** By the peer, which keeps what it has. */
  private readonly has: Array<StoredEvent> = []
  private readonly confirmedMarks = new Set<string>()
  private readonly ended = new Set<string>()
  private readonly executions = new Map<string, number>()
  private readonly results = new Map<string, unknown>()
  private readonly open = new Set<string>()
  /** Turns and sessions, by what the stored events say. */
  private readonly openPlaces = new Set<string>()
  private lastHeard = 0
  private lastAcknowledged = 0
  private caught = Latch.makeUnsafe(false)
  commandsDone = 0

  get cursor(): number {
    return this.has.length
  }

  /** The process is over, or its journal. */
  get isOver(): boolean {
    return this.isDead || this.isFailed
  }

  /** Once the peer has everything, or there is nothing more to come. */
  readonly caughtUp: Effect.Effect<void> = Effect.suspend(() =>
    this.cursor >= this.log.size || this.isOver ? Effect.void : Effect.andThen(this.caught.await, this.caughtUp)
  )

  readonly violations = (): ReadonlyArray<string> => this.problems.found

  readonly hit = (how: Fault["how"]): void => {
    if (how === "fails") this.isFailed = true
    else this.isDead = true
    if (how === "ends behind") this.reached.add("stored and not confirmed")
    this.tell()
  }

  private tell(): void {
    this.caught.openUnsafe()
    this.caught = Latch.makeUnsafe(false)
  }

  readonly begins = ({ recovered, sourceInstanceId }: DurableJournal["Service"]): void => {
    this.source ??= sourceInstanceId
    if (this.isDead) return
    if (sourceInstanceId !== this.source) this.problems.add("sameSource", `${sourceInstanceId} follows ${this.source}`)
    const found = new Set(recovered.requests.map(({ requestId }) => requestId))
    for (const requestId of this.open) {
      if (!found.has(requestId)) this.problems.add("requests", `${requestId} was open and is not known`)
    }
    for (const requestId of found) {
      this.reached.add("an open request")
      if (this.ended.has(requestId)) this.problems.add("requests", `${requestId} has ended and is open`)
    }
    this.checkOpen(recovered.records)
    if (this.openPlaces.size > 0) this.reached.add("open turns and sessions")
  }

  private checkOpen(records: ReadonlyArray<StoredRecord>): void {
    const found = records.map(({ id, kind }) => `${kind} ${id}`).toSorted()
    const known = [...this.openPlaces].toSorted()
    if (found.join() !== known.join()) this.problems.add("open", `${found.join()} is kept, ${known.join()} is open`)
  }

  readonly ends = (): void => {
    this.isDead = false
    this.isFailed = false
    this.lastHeard = this.log.size
  }

  /** The one who knows what is true. */
  readonly stored = (changes: ReadonlyArray<Change>): void => {
    for (const change of changes) {
      if (change._tag !== "Event") continue
      const { bytes, json, seq } = change
      if (seq !== this.log.size + 1) this.problems.add("gapless", `${seq} is stored behind ${this.log.size}`)
      if (bytes !== json.length) this.problems.add("bounded", `${seq} is said to have ${bytes} bytes`)
      this.log.set(seq, json)
      this.place(JSON.parse(json))
    }
  }

  private place({ eventType, normalizedSessionId: sessionId, turnId }: Event): void {
    if (eventType === "turn.submitted") this.openPlaces.add(`turn ${sessionId}/${turnId}`)
    if (isTurnTerminal({ eventType })) this.openPlaces.delete(`turn ${sessionId}/${turnId}`)
    if (eventType === "session.starting") this.openPlaces.add(`session ${sessionId}`)
    if (eventType === "session.failed") this.openPlaces.delete(`session ${sessionId}`)
  }

  readonly heard = (events: ReadonlyArray<Event>): void => {
    if (this.isDead) return
    for (const event of events) {
      if (event.sourceInstanceId !== this.source) {
        this.reached.add("told and not stored")
        if (!this.isFailed) this.problems.add("storedFirst", `${event.sourceEventId} is of another source`)
        continue
      }
      if (event.sourceSeq !== this.lastHeard + 1) {
        this.problems.add("gapless", `${event.sourceSeq} is delivered behind ${this.lastHeard}`)
      }
      this.lastHeard = event.sourceSeq
      if (this.log.get(event.sourceSeq) !== JSON.stringify(event)) {
        this.problems.add("storedFirst", `${event.sourceSeq} is delivered and not stored`)
      }
      if (event.eventType === "runner.backpressure") this.reached.add(event.payload.state)
    }
  }

  readonly received = (events: ReadonlyArray<StoredEvent>): void => {
    if (this.isDead) return
    for (const event of events) {
      if (event.seq !== this.cursor + 1)
        this.problems.add("gapless", `the peer gets ${event.seq} behind ${this.cursor}`)
      if (event.json !== this.log.get(event.seq)) this.problems.add("storedFirst", `the peer gets another ${event.seq}`)
      this.has.push(event)
    }
    this.tell()
  }

  readonly registered = (acknowledged: number): void => {
    if (this.isDead || acknowledged >= this.lastAcknowledged) return
    this.problems.add("acknowledged", `${acknowledged} is known of ${this.lastAcknowledged}`)
  }

  readonly acknowledged = (through: number): void => {
    if (!this.isDead) this.lastAcknowledged = through
  }

  readonly peerRefused = (error: { readonly _tag: string; readonly code: string }): void => {
    if (!this.isDead) this.problems.add("acknowledged", `the peer is refused: ${error.code}`)
  }

  readonly confirmed = (marks: ReadonlyArray<string>): void => {
    if (!this.isDead) for (const mark of marks) this.confirmedMarks.add(mark)
  }

  readonly forced = (mark: string): void => {
    if (!this.isOver) this.confirmedMarks.add(mark)
  }

  readonly appendDied = (): void => {
    if (this.isDead) return
    this.reached.add("an append died")
    if (!this.isFailed) this.problems.add("nothingLost", "an append died while the store worked")
  }

  readonly requestOpened = (requestId: string): void => {
    if (!this.isDead) this.open.add(requestId)
  }

  readonly requestEnded = (requestId: string): void => {
    this.open.delete(requestId)
    if (!this.isOver) this.ended.add(requestId)
  }

  readonly executed = (commandId: string): void => {
    if (this.isDead) return
    const times = (this.executions.get(commandId) ?? 0) + 1
    this.executions.set(commandId, times)
    if (times > 1) this.problems.add("executedOnce", `${commandId} is carried out ${times} times`)
  }

  readonly settled = (commandId: string, { result }: CommandEntry): void => {
    if (this.isDead) return
    this.results.set(commandId, result)
    this.commandsDone++
  }

  readonly replayed = (commandId: string, { result, status }: CommandEntry): void => {
    if (this.isDead) return
    this.commandsDone++
    if (status === "indeterminate") this.reached.add("indeterminate")
    if (status === "pending")
      this.problems.add("executedOnce", `${commandId} is pending in a life that did not take it`)
    if (this.results.has(commandId) && this.results.get(commandId) !== result) {
      this.problems.add("nothingLost", `the result of ${commandId} is lost`)
    }
  }

  /** Only of a run that was not interrupted. */
  readonly finish = ({ lastSeq, records }: Loaded): void => {
    this.checkOpen(records)
    if (records.length > 0) this.problems.add("open", `${records.length} are open when everything has ended`)
    if (lastSeq !== this.log.size) this.problems.add("gapless", `${lastSeq} is the last of ${this.log.size}`)
    // Its last acknowledgement may have led to one more.
    const rest = [...this.log.values()].slice(this.cursor)
    if (rest.some((json) => !json.includes("runner.backpressure"))) {
      this.problems.add("nothingLost", `the peer has ${this.cursor} of ${this.log.size}`)
    }
    const all = [...this.log.values()].join("\n")
    const counts = new Map<string, number>()
    for (const [, mark = ""] of all.matchAll(/<(\w+)>/g)) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    for (const [mark, count] of counts)
      if (count > 1) this.problems.add("nothingTwice", `${mark} is stored ${count} times`)
    for (const mark of this.confirmedMarks) {
      if (!counts.has(mark)) this.problems.add("nothingLost", `${mark} was confirmed and is not stored`)
    }
    if (/<\w+>\.*<\w+>/.test(all)) this.reached.add("joined")
  }
}
