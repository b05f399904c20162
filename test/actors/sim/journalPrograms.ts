/**
 * The durable journal over a store that ends its process, or fails, at some commit; then a second life over what was stored.
 * Beside it a peer that reads and acknowledges, and a controller that sends commands: both outlive the process.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as durable from "../../../src/actors/durableJournal.ts"
import { type Entry, Journal, type Subscription } from "../../../src/actors/Journal.ts"
import { makeMemoryStore } from "../../../src/layers/store/memory.ts"
import { StoreFailed } from "../../../src/schema/errors.ts"
import { draftOf, type EventDraft } from "../../../src/schema/prp/event.ts"
import { turnTerminal } from "../../../src/schema/prp/projection.ts"
import { recoveryOf } from "../../../src/schema/prp/recoveryDrafts.ts"
import { sessionStarting } from "../../../src/schema/prp/runDrafts.ts"
import * as Ids from "../../../src/services/Ids.ts"
import { JournalStore } from "../../../src/services/JournalStore.ts"
import type { MakeProgram } from "../../../src/testing/index.ts"
import { pause } from "./agent.ts"
import { DurableBook } from "./durableBook.ts"

export interface Fault {
  /** The commit, from 1. */
  readonly at: number
  /** The process ends before it is stored, behind it, or lives on while the store is over. */
  readonly how: "ends before" | "ends behind" | "fails"
}

/** Commits of a life with no fault, at least. */
export const commitsMin = 8

/** So small that appends wait for the peer. */
const bounds = { bytesMax: 8_000, reserveBytes: 6_500 }

export const journalProgram =
  (fault: Fault | undefined): MakeProgram<unknown, unknown> =>
  () => {
    const book = new DurableBook()
    const kept = makeMemoryStore()
    const effect = Effect.gen(function* () {
      yield* life(book, faulty(kept, book, fault), "1")
      yield* life(book, faulty(kept, book, undefined), "2")
      book.finish(yield* Effect.orDie(kept.load))
    })
    return { effect, violations: book.violations, reached: () => book.reached }
  }

/** As a disk: nothing is done in the step in which it is asked for. */
const faulty = (
  kept: JournalStore["Service"],
  book: DurableBook,
  fault: Fault | undefined
): JournalStore["Service"] => {
  let commits = 0
  const failed = new StoreFailed({ operation: "commit", reason: "planted" })
  return {
    ...kept,
    commit: (changes) =>
      Effect.gen(function* () {
        yield* pause(2)
        const isHit = ++commits === fault?.at
        if (isHit) book.hit(fault.how)
        if (!isHit || fault.how === "ends behind") {
          yield* kept.commit(changes)
          book.stored(changes)
        }
        if (isHit) return yield* failed
        yield* pause(2)
      })
  }
}

const life = (book: DurableBook, store: JournalStore["Service"], name: string) => {
  const layer = durable.layer(bounds).pipe(Layer.provide([Ids.layer, Layer.succeed(JournalStore, store)]))
  const lived = Effect.gen(function* () {
    const journal = yield* durable.DurableJournal
    book.begins(journal)
    // Before anything is pruned that it does not have.
    book.registered(yield* journal.peers.register("peer"))
    const subscription = yield* (yield* Journal).subscribe({})
    for (const left of recoveryOf(journal.recovered)) yield* (yield* Journal).force({ ...left, bytes: 0 })
    yield* Effect.forkScoped(listen(subscription, book))
    yield* Effect.forkScoped(peer(book))
    yield* Effect.all([speaker(book, `${name}a`), speaker(book, `${name}b`), asker(book, name), controller(book)], {
      concurrency: "unbounded"
    })
    if (!book.isOver) yield* book.caughtUp
  })
  return lived.pipe(
    Effect.scoped,
    Effect.provide(layer),
    // A life that could not even begin is over.
    Effect.catchTag(["StoreFailed", "JournalFailed", "AcknowledgementRefused"], () => Effect.void),
    Effect.ensuring(Effect.sync(() => book.ends()))
  )
}

const piece = (mark: string, itemId: string): EventDraft =>
  draftOf("item.delta", { kind: "assistant_message", text: `<${mark}>${".".repeat(40)}` }, { itemId, turnId: "t1" })

const begins = (sessionId: string): ReadonlyArray<EventDraft> => [
  sessionStarting(sessionId),
  draftOf("turn.submitted", {}, { turnId: "t1" })
]

const turnEnd = turnTerminal("t1", { _tag: "Failed", reason: "crashed", detail: "", undeliveredEvents: 0 })

const terminal = (mark: string): EventDraft => draftOf("session.failed", { code: "test", message: `<${mark}>` })

/** Begins and appends, then says the ends; the last append is cancelled at some time. */
const speaker = Effect.fnUntraced(function* (book: DurableBook, name: string) {
  const journal = yield* Journal
  const entry = (drafts: ReadonlyArray<EventDraft>): Entry => ({ runId: "r1", sessionId: name, drafts, bytes: 0 })
  const draining = Latch.makeUnsafe(false)
  const marks = (n: number) => [`${name}${n}x`, `${name}${n}y`, `${name}${n}z`]
  for (let n = 0; n < 3; n++) {
    yield* pause(4)
    if (n === 2) {
      yield* Effect.forkChild(
        Effect.andThen(
          pause(8),
          Effect.sync(() => draining.openUnsafe())
        )
      )
    }
    const [one = "", two = "", three = ""] = marks(n)
    // The first two are joined.
    const pieces = [piece(one, "i1"), piece(two, "i1"), piece(three, "i2")]
    const drafts = n === 0 ? [...begins(name), ...pieces] : pieces
    const exit = yield* Effect.exit(journal.append(entry(drafts), draining))
    if (Exit.isFailure(exit)) book.appendDied()
    else if (exit.value === 0) book.confirmed(marks(n))
    else book.reached.add("left out")
  }
  yield* journal.force(entry([turnEnd, terminal(`${name}end`)]))
  book.forced(`${name}end`)
})

/** A request that is opened and ended. */
const asker = Effect.fnUntraced(function* (book: DurableBook, name: string) {
  const journal = yield* Journal
  const requestId = `q${name}`
  const about = { runId: "r1", sessionId: "s", bytes: 0 }
  const request = {
    schema: "paperclip.runtime_request.v1",
    requestKind: "runtime",
    requestId,
    type: "permission",
    status: "pending",
    prompt: "?",
    choices: []
  } as const
  const drafts = [draftOf("runtime_request.created", { request })]
  const exit = yield* Effect.exit(journal.append({ ...about, drafts }, Latch.makeUnsafe(false)))
  if (Exit.isFailure(exit)) return book.appendDied()
  book.requestOpened(requestId)
  yield* pause(6)
  yield* journal.force({ ...about, drafts: [draftOf("runtime_request.resolved", { requestId })] })
  book.requestEnded(requestId)
})

/** In this process. */
const listen = Effect.fnUntraced(function* (subscription: Subscription, book: DurableBook) {
  for (;;) {
    const events = yield* subscription.take
    if (events === undefined) return
    book.heard(events)
  }
})

/** Reads from its own cursor. Acknowledges what it has, first of all what it has from before. */
const peer = Effect.fnUntraced(
  function* (book: DurableBook) {
    const { follow, peers } = yield* durable.DurableJournal
    const reader = yield* follow({ after: book.cursor })
    for (;;) {
      const through = book.cursor
      yield* peers.acknowledge("peer", through)
      book.acknowledged(through)
      book.received(yield* reader.take)
      yield* pause(3)
    }
  },
  (effect, book) =>
    Effect.catch(effect, (error) =>
      Effect.sync(() => {
        if (error._tag !== "JournalFailed") book.peerRefused(error)
      })
    )
)

/** Sends its commands in their order, each until it knows what came of it. */
const controller = Effect.fnUntraced(
  function* (book: DurableBook) {
    const { commands } = yield* durable.DurableJournal
    for (let sent = 0; sent < 2; sent++) {
      const controllerSeq = book.commandsDone + 1
      const commandId = `c${controllerSeq}`
      const admission = yield* commands.admit("controller", { commandId, controllerSeq, type: "turn.start" })
      if (admission._tag === "Replay") {
        book.replayed(commandId, admission.entry)
        continue
      }
      book.executed(commandId)
      yield* pause(3)
      const settled = yield* commands.settle("controller", commandId, { status: "completed", result: commandId })
      book.settled(commandId, settled)
    }
  },
  Effect.catchTag("JournalFailed", () => Effect.void)
)

/** For a campaign: a fault at any commit of a life. */
export const journalPrograms: Readonly<Record<string, MakeProgram<unknown, unknown>>> = {
  "a durable journal": journalProgram(undefined),
  ...Object.fromEntries(
    (["ends before", "ends behind", "fails"] as const).map((how) => [
      `a durable journal whose store ${how} a commit`,
      (options) => journalProgram({ at: 1 + ((options.seed ?? 1) % (commitsMin + 6)), how })(options)
    ])
  )
}

export const journalReaches: Readonly<Record<string, ReadonlyArray<string>>> = {
  "a durable journal": ["engaged", "relieved", "left out", "joined"],
  "a durable journal whose store ends before a commit": ["indeterminate", "an open request", "open turns and sessions"],
  "a durable journal whose store ends behind a commit": [
    "indeterminate",
    "an open request",
    "stored and not confirmed"
  ],
  "a durable journal whose store fails a commit": ["an append died", "told and not stored"]
}
