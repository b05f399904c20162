/** A durable journal over a store that a test looks into, holds up, and makes fail. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as durable from "../../src/actors/durableJournal.ts"
import { Journal } from "../../src/actors/Journal.ts"
import { makeMemoryStore } from "../../src/layers/store/memory.ts"
import { StoreFailed } from "../../src/schema/errors.ts"
import { draftOf, type EventDraft } from "../../src/schema/prp/event.ts"
import * as Ids from "../../src/services/Ids.ts"
import { type Change, JournalStore, type StoredEvent } from "../../src/services/JournalStore.ts"

export interface ProbedStore {
  readonly store: JournalStore["Service"]
  /** What was given to the store, per commit. */
  readonly commits: Array<ReadonlyArray<Change>>
  /** While closed, a commit waits before it is done. */
  readonly gate: Latch.Latch
  /** The next commit fails. */
  fails: boolean
}

export const probedStore = (): ProbedStore => {
  const inner = makeMemoryStore()
  const probe: ProbedStore = {
    commits: [],
    gate: Latch.makeUnsafe(true),
    fails: false,
    store: {
      ...inner,
      commit: (changes) =>
        Effect.andThen(
          probe.gate.await,
          Effect.suspend(() => {
            if (probe.fails) return Effect.fail(new StoreFailed({ operation: "commit", reason: "planted" }))
            probe.commits.push(changes)
            return inner.commit(changes)
          })
        )
    }
  }
  return probe
}

/** One life of a journal over the store. */
export const inLife = <A, E, R>(
  probe: ProbedStore,
  effect: Effect.Effect<A, E, R>,
  options: durable.DurableJournalOptions = {}
) =>
  Effect.scoped(
    Effect.provide(
      effect,
      durable.layer(options).pipe(Layer.provide([Ids.layer, Layer.succeed(JournalStore, probe.store)]))
    )
  )

export const eventsOf = (changes: ReadonlyArray<Change>): ReadonlyArray<StoredEvent> =>
  changes.filter((change) => change._tag === "Event")

export const started = (turnId = "t1"): EventDraft => draftOf("turn.started", {}, { turnId })

export const delta = (text: string, itemId = "i1"): EventDraft =>
  draftOf("item.delta", { kind: "assistant_message", text }, { itemId, turnId: "t1" })

/** A request of the agent. */
export const asked = (requestId: string): EventDraft =>
  draftOf(
    "runtime_request.created",
    {
      request: {
        schema: "paperclip.runtime_request.v1",
        requestKind: "runtime",
        requestId,
        type: "permission",
        status: "pending",
        prompt: "May I?",
        choices: []
      }
    },
    { turnId: "t1" }
  )

export const entry = (
  drafts: ReadonlyArray<EventDraft>,
  about: Partial<Parameters<Journal["Service"]["force"]>[0]> = {}
) => ({
  runId: "r1",
  sessionId: "s1",
  turnId: "t1",
  drafts,
  bytes: 0,
  ...about
})

export const append = (...drafts: ReadonlyArray<EventDraft>) =>
  Effect.flatMap(Journal, (journal) => journal.append(entry(drafts), Latch.makeUnsafe(false)))

export const force = (...drafts: ReadonlyArray<EventDraft>) =>
  Effect.flatMap(Journal, (journal) => journal.force(entry(drafts)))

/** Events of different items, of about so many bytes each, which are never joined. */
export const sized = (count: number, bytes: number): ReadonlyArray<EventDraft> =>
  Array.from({ length: count }, (_, n) => delta("x".repeat(bytes), `i${n}`))
