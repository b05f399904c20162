/**
 * The durable journal in a real file, beside the least that keeps the same rows, and a whole turn into it beside the official
 * SDK. Wall time, since a disk is waited for. A figure is the median over the rounds of the ratio within a round.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Connections from "../src/actors/Connections.ts"
import * as durable from "../src/actors/durableJournal.ts"
import { Journal } from "../src/actors/Journal.ts"
import * as Registry from "../src/actors/kernel/Registry.ts"
import * as Runner from "../src/actors/Runner.ts"
import * as NodeFiles from "../src/layers/NodeFiles.ts"
import * as sqlite from "../src/layers/store/sqlite.ts"
import { draftOf, type EventDraft } from "../src/schema/prp/event.ts"
import * as Ids from "../src/services/Ids.ts"
import { JournalStore, type StoredEvent } from "../src/services/JournalStore.ts"
import { framesCount, makeChunks, memoryProvider, openOptions, readWithSdk } from "./codec.ts"
import { inTurns, median } from "./measure.ts"
import { memoryAgent } from "./memoryAgent.ts"

const eventsCount = 100_000
/** Turns that append at once, and the events of one append: a pump hands on what has come since the last. */
const appenders = 8
const entryEvents = 64
const rounds = 5

export const run = async (): Promise<Record<string, number>> => {
  const chunks = makeChunks()
  const rows = await rowsOf()
  const { bare, endToEnd, kept, pruned, sdk } = await inTurns(rounds, {
    bare: () => millis(() => insertBare(rows)),
    // Nothing is pruned: the rival does not either.
    kept: () => millis(() => inJournal(appendAll, { bytesMax: 1024 ** 3 })),
    pruned: () => millis(() => inJournal(appendAll, {})),
    sdk: () => millis(() => readWithSdk(chunks)),
    endToEnd: () => millis(() => turnInto(chunks))
  })
  const ratio = (of: ReadonlyArray<number>, to: ReadonlyArray<number>) =>
    median(of.map((value, round) => value / (to[round] ?? Number.NaN)))
  return {
    journalEventsPerSecond: (eventsCount / median(kept)) * 1000,
    prunedEventsPerSecond: (eventsCount / median(pruned)) * 1000,
    durableFramesPerSecond: (framesCount / median(endToEnd)) * 1000,
    journalVsSqlite: ratio(bare, kept),
    endToEndVsSdk: ratio(sdk, endToEnd)
  }
}

const millis = async (act: () => unknown): Promise<number> => {
  const begin = performance.now()
  await act()
  return performance.now() - begin
}

const inFolder = async <A>(use: (file: string) => A): Promise<Awaited<A>> => {
  const folder = mkdtempSync(join(tmpdir(), "greenroom-bench-"))
  try {
    return await use(join(folder, "store", "journal.db"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

type Durable = Journal | durable.DurableJournal | JournalStore

/** Over a new file. */
const inJournal = <A, E>(effect: Effect.Effect<A, E, Durable>, options: durable.DurableJournalOptions): Promise<A> =>
  inFolder((file) => {
    const layer = durable.layer(options).pipe(Layer.provideMerge(sqlite.layer({ file })), Layer.provide(Ids.layer))
    return Effect.runPromise(Effect.provide(effect, layer))
  })

/** No two that follow each other are pieces of one item: each is an event of its own. */
const drafts: ReadonlyArray<EventDraft> = Array.from({ length: entryEvents }, (_, n) =>
  draftOf(
    "item.delta",
    { kind: "assistant_message", text: "word ".repeat(12) },
    { itemId: `item_${n % 2}`, turnId: "t1" }
  )
)

const appendAll = Effect.gen(function* () {
  const journal = yield* Journal
  const draining = Latch.makeUnsafe(false)
  const perAppender = Math.ceil(eventsCount / appenders / entryEvents)
  const entryOf = (n: number) => ({ runId: "run_1", sessionId: `session_${n}`, turnId: "t1", drafts, bytes: 0 })
  const appender = (n: number) =>
    Effect.forEach(Array(perAppender).keys(), () => journal.append(entryOf(n), draining), { discard: true })
  yield* Effect.forEach(Array(appenders).keys(), appender, { concurrency: "unbounded", discard: true })
  if (journal.sequence() < eventsCount) throw new Error(`${journal.sequence()} events are kept`)
})

/** What the journal stores, for the rival. */
const rowsOf = (): Promise<ReadonlyArray<StoredEvent>> =>
  inJournal(
    Effect.gen(function* () {
      yield* appendAll
      const store = yield* JournalStore
      const rows: Array<StoredEvent> = []
      while (rows.length < eventsCount) {
        rows.push(...(yield* store.read({ after: rows.length, eventsMax: 10_000, bytesMax: 1e9 })))
      }
      return rows.slice(0, eventsCount)
    }),
    { bytesMax: 1024 ** 3 }
  )

/** As many rows in one transaction as the journal has in a commit. */
const insertBare = (rows: ReadonlyArray<StoredEvent>): Promise<void> =>
  inFolder((path) => {
    const database = new DatabaseSync(path.replace("/store/", "/"))
    database.exec("PRAGMA page_size = 16384; PRAGMA locking_mode = EXCLUSIVE")
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    database.exec(
      "CREATE TABLE events (seq INTEGER PRIMARY KEY, priority INTEGER, run_id TEXT, session_id TEXT, bytes INTEGER, json TEXT)"
    )
    const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)")
    for (let first = 0; first < rows.length; first += appenders * entryEvents) {
      database.exec("BEGIN IMMEDIATE")
      for (const row of rows.slice(first, first + appenders * entryEvents)) {
        insert.run(row.seq, row.priority, row.runId, row.sessionId, row.bytes, row.json)
      }
      database.exec("COMMIT")
    }
    database.close()
  })

/** From the bytes of the agent to whoever reads the log: split, projected, coalesced, stored, read. */
const turnInto = (chunks: ReadonlyArray<Uint8Array>): Promise<void> =>
  inFolder((file) => {
    const journal = durable.layer().pipe(Layer.provide(sqlite.layer({ file })))
    const runner = Runner.layer.pipe(
      Layer.provide(Connections.layer),
      Layer.provideMerge(journal),
      Layer.provide(Layer.mergeAll(Registry.layer, Ids.layer, NodeFiles.layer, memoryAgent(chunks)))
    )
    return Effect.runPromise(
      Effect.gen(function* () {
        const session = yield* (yield* Runner.Runner).open({ ...openOptions, provider: memoryProvider })
        const reader = yield* (yield* durable.DurableJournal).follow({ after: 0 })
        yield* session.prompt("go", { events: "discard" })
        let characters = 0
        for (let isOver = false; !isOver;) {
          for (const { json } of yield* reader.take) {
            const event: { readonly eventType: string; readonly payload: { readonly text?: string } } = JSON.parse(json)
            if (event.eventType === "item.delta") characters += event.payload.text?.length ?? 0
            isOver ||= event.eventType === "turn.completed"
          }
        }
        if (characters % framesCount !== 0 || characters === 0) throw new Error(`${characters} characters came through`)
      }).pipe(Effect.scoped, Effect.provide(runner))
    )
  })
