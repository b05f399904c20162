/** What only a file can do: be somebody else's, be damaged, be full, fail in the middle. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { describe } from "vitest"
import * as sqlite from "../../../src/layers/store/sqlite.ts"
import * as sqliteClient from "../../../src/layers/store/sqliteClient.ts"
import { StoreRefused } from "../../../src/schema/errors.ts"
import { type Change, JournalStore } from "../../../src/services/JournalStore.ts"
import { temporaryFolder } from "../providers/temporary.ts"
import { event, events } from "./storeCases.ts"

const newFile = Effect.map(temporaryFolder, (folder) => join(folder, "store", "journal.db"))

const holding = <A, E>(file: string, use: (store: JournalStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(JournalStore, use).pipe(Effect.provide(sqlite.layer({ file })))

const opening = (file: string) => Effect.exit(holding(file, () => Effect.void))

const refused = (file: string, reason: StoreRefused["reason"]) =>
  Exit.fail(expect.objectContaining({ _tag: "StoreRefused", path: file, reason }))

/** Changes the file by other means. */
const alter = (file: string, statement: string) =>
  Effect.sync(() => {
    const database = new DatabaseSync(file)
    database.exec(statement)
    database.close()
  })

describe("the file of a store", () => {
  it.effect("is private, as is its folder", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      const modes = yield* holding(file, (store) =>
        Effect.map(store.commit(events(1, 3)), () =>
          [dirname(file), file, `${file}-wal`].map((path) => (statSync(path).mode & 0o777).toString(8))
        )
      )
      expect(modes).toEqual(["700", "600", "600"])
    }).pipe(Effect.scoped)
  )

  it.effect("has one holder: a second one is refused at once, until the first one is gone", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      const second = yield* holding(file, () => opening(file))
      expect(second).toEqual(refused(file, "locked"))
      expect(Exit.isSuccess(yield* opening(file))).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when it is open to others, or its folder is", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* opening(file)
      chmodSync(file, 0o640)
      expect(yield* opening(file)).toEqual(refused(file, "not_private"))
      chmodSync(file, 0o600)
      chmodSync(dirname(file), 0o750)
      expect(yield* opening(file)).toEqual(refused(file, "not_private"))
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when it is a link, or its folder is", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* opening(file)
      const folder = yield* temporaryFolder
      const link = join(folder, "journal.db")
      symlinkSync(file, link)
      expect(yield* opening(link)).toEqual(refused(link, "symlink"))
      symlinkSync(dirname(file), join(folder, "linked"))
      const behind = join(folder, "linked", "journal.db")
      expect(yield* opening(behind)).toEqual(refused(behind, "symlink"))
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when it is no file", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      mkdirSync(file, { recursive: true, mode: 0o700 })
      chmodSync(dirname(file), 0o700)
      expect(yield* opening(file)).toEqual(refused(file, "unusable"))
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when a newer version wrote it, and is as it was", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* opening(file)
      yield* alter(file, "PRAGMA user_version = 99")
      const before = readFileSync(file)
      expect(yield* opening(file)).toEqual(refused(file, "newer"))
      expect(readFileSync(file).equals(before)).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when it is the database of another program, and is as it was", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      mkdirSync(dirname(file), { mode: 0o700 })
      yield* alter(file, "CREATE TABLE theirs (a)")
      chmodSync(file, 0o600)
      const before = readFileSync(file)
      expect(yield* opening(file)).toEqual(refused(file, "foreign"))
      expect(readFileSync(file).equals(before)).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when it is no database, or a damaged one", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* holding(file, (store) => store.commit(events(1, 2000)))
      const whole = readFileSync(file)
      const damaged = Buffer.from(whole)
      damaged.fill(0x5a, damaged.length / 2, damaged.length - 100)
      writeFileSync(file, damaged)
      expect(yield* opening(file)).toEqual(refused(file, "corrupt"))
      writeFileSync(file, "not a database, but a text that is long enough to be looked at".repeat(20))
      expect(yield* opening(file)).toEqual(refused(file, "corrupt"))
      writeFileSync(file, whole)
      expect(Exit.isSuccess(yield* opening(file))).toBe(true)
    }).pipe(Effect.scoped)
  )
})

/** A store and the client below it, with which a test makes it fail. */
const withClient = <A, E>(
  file: string,
  use: (store: JournalStore["Service"], sql: SqlClient.SqlClient) => Effect.Effect<A, E>
) => {
  const client = sqliteClient.layer({ file })
  return Effect.gen(function* () {
    return yield* use(yield* JournalStore, yield* SqlClient.SqlClient)
  }).pipe(Effect.provide(Layer.provideMerge(sqlite.overSql(file), client)))
}

const mixed: ReadonlyArray<Change> = [
  ...events(3, 5),
  { _tag: "Pruned", through: 1 },
  { _tag: "Peer", peer: "a", acknowledged: 1 },
  { _tag: "Request", requestId: "q", created: {} },
  { _tag: "Record", kind: "run", id: "r", value: 1 },
  {
    _tag: "Command",
    stream: "x",
    entry: {
      commandId: "c",
      controllerSeq: 1,
      type: "t",
      fingerprint: `sha256:${"0".repeat(64)}`,
      status: "pending",
      result: null
    },
    compactedThrough: 0
  }
]

/** One fault for each table, and each kind of statement. */
const faults: ReadonlyArray<string> = [
  ...[3, 4, 5].map((seq) => `BEFORE INSERT ON main.events WHEN NEW.seq = ${seq}`),
  "BEFORE DELETE ON main.events",
  "BEFORE UPDATE OF pruned_through ON main.source",
  "BEFORE UPDATE OF last_seq ON main.source",
  "BEFORE INSERT ON main.peers",
  "BEFORE INSERT ON main.requests",
  "BEFORE INSERT ON main.records",
  "BEFORE INSERT ON main.commands",
  "BEFORE INSERT ON main.streams"
]

describe("a commit that fails", () => {
  for (const fault of faults) {
    it.effect(`leaves nothing behind, and the next one works: ${fault}`, () =>
      Effect.gen(function* () {
        const file = yield* newFile
        yield* opening(file)
        yield* withClient(file, (store, sql) =>
          Effect.gen(function* () {
            yield* store.commit(events(1, 2))
            const before = yield* store.load
            yield* sql.unsafe(`CREATE TEMP TRIGGER fault ${fault} BEGIN SELECT RAISE(ABORT, 'planted'); END`)
            const exit = yield* Effect.exit(store.commit(mixed))
            expect(exit).toEqual(Exit.fail(expect.objectContaining({ _tag: "StoreFailed", operation: "commit" })))
            expect(yield* store.load).toEqual(before)
            yield* sql.unsafe("DROP TRIGGER temp.fault")
            yield* store.commit(mixed)
            expect(yield* store.load).toMatchObject({ lastSeq: 5, prunedThrough: 1, records: [{ value: 1 }] })
          })
        )
      }).pipe(Effect.scoped)
    )
  }

  it.effect("says that the disk is full, and loses nothing that was committed", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* opening(file)
      const committed = yield* withClient(file, (store, sql) =>
        Effect.gen(function* () {
          yield* sql.unsafe("PRAGMA max_page_count = 24")
          for (let seq = 1; seq < 1000; seq++) {
            const exit = yield* Effect.exit(store.commit([event(seq, { json: "x".repeat(10_000), bytes: 10_000 })]))
            if (Exit.isSuccess(exit)) continue
            expect(exit).toEqual(
              Exit.fail(expect.objectContaining({ _tag: "StoreFailed", reason: expect.any(String) }))
            )
            expect((yield* store.read({ after: 0, eventsMax: 1000, bytesMax: 1e9 })).length).toBe(seq - 1)
            return seq - 1
          }
          return 0
        })
      )
      expect(committed).toBeGreaterThan(5)
      const loaded = yield* holding(file, (store) => store.load)
      expect(loaded.lastSeq).toBe(committed)
    }).pipe(Effect.scoped)
  )
})
