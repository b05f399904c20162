/**
 * A store in one SQLite file: what is committed survives a crash of the process, and with `synchronous: "FULL"` one of the
 * machine.
 *
 * Guarantees: one holder at a time, a second one is refused at once; a file that is damaged, newer, of another program or open
 * to others is refused, and what it holds is left as it was; a commit is one transaction. The file is 0600 in a folder that is 0700.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { CursorExpired, StoreFailed, StoreRefused } from "../../schema/errors.ts"
import type { CommandEntry, CommandJournal } from "../../schema/prp/rules/commandJournal.ts"
import {
  type Change,
  JournalStore,
  type Loaded,
  type ReadOptions,
  type StoredEvent,
  type StoredRecord
} from "../../services/JournalStore.ts"
import { countWithin } from "./countWithin.ts"
import { preparePrivateFile } from "./privateFile.ts"
import * as sqliteClient from "./sqliteClient.ts"
import { applicationId, migrate, schemaVersion } from "./sqliteSchema.ts"

/**
 * Opens the file, which is made if it is missing, and holds it until the layer is released. Errors: `StoreRefused`, with the reason.
 * If interrupted: the file is closed.
 */
export const layer = (options: sqliteClient.SqliteOptions): Layer.Layer<JournalStore, StoreRefused> => {
  const client = Layer.catchTag(sqliteClient.layer(options), "SqlError", (error) =>
    Layer.effect(SqlClient.SqlClient, Effect.fail(refusalOf(options.file, error)))
  )
  return overSql(options.file).pipe(
    Layer.provide(client),
    Layer.provide(Layer.effectDiscard(preparePrivateFile(options.file)))
  )
}

/** Over a client that holds the file alone. `file` is named in what is refused. */
export const overSql = (file: string): Layer.Layer<JournalStore, StoreRefused, SqlClient.SqlClient> =>
  Layer.effect(
    JournalStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* admit(sql, file).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(refusalOf(file, error))))
      return JournalStore.of({
        load: Effect.mapError(load(sql), failed("load")),
        commit: (changes) => Effect.mapError(sql.withTransaction(write(sql, changes)), failed("commit")),
        read: (options) =>
          read(sql, options).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(failed("read")(error))))
      })
    })
  )

/** Looks whether the file is ours and whole, and brings it up to date. */
const admit = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, file: string) {
  const refused = (reason: StoreRefused["reason"], detail: string) => new StoreRefused({ path: file, reason, detail })
  const application = yield* pragma(sql, "application_id")
  const version = yield* pragma(sql, "user_version")
  const tables = yield* sql<{ readonly n: number }>`SELECT count(*) AS n FROM sqlite_schema`
  const isFresh = application === 0 && version === 0 && tables[0]?.n === 0
  if (!isFresh && application !== applicationId) return yield* refused("foreign", `application ${application}`)
  if (version > schemaVersion) return yield* refused("newer", `version ${version}, known are ${schemaVersion}`)
  const found = yield* sql.unsafe<{ readonly quick_check: string }>("PRAGMA quick_check(1)")
  const verdict = found[0]?.quick_check
  if (verdict !== "ok") return yield* refused("corrupt", verdict ?? "no answer")
  yield* sql.unsafe("PRAGMA journal_mode = WAL")
  yield* migrate(sql, version)
})

const pragma = (sql: SqlClient.SqlClient, name: "application_id" | "user_version") =>
  Effect.map(sql.unsafe<Record<string, number>>(`PRAGMA ${name}`), (rows) => rows[0]?.[name] ?? 0)

/** Rows of one statement. More of them save no time. */
const rowsMax = 64
/** By the number of its rows. */
const insertions = Array.from(
  { length: rowsMax + 1 },
  (_, rows) =>
    `INSERT INTO events (seq, priority, run_id, session_id, bytes, json) VALUES ${Array(rows).fill("(?,?,?,?,?,?)").join(",")}`
)

const write = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, changes: ReadonlyArray<Change>) {
  let rows = 0
  let params: Array<unknown> = []
  let lastSeq = 0
  const flush = Effect.suspend(() => {
    const statement = sql.unsafe(insertions[rows] ?? "", params)
    rows = 0
    params = []
    return statement
  })
  for (const change of changes) {
    if (change._tag !== "Event") {
      yield* writeOther(sql, change)
      continue
    }
    params.push(change.seq, change.priority, change.runId, change.sessionId, change.bytes, change.json)
    lastSeq = change.seq
    if (++rows === rowsMax) yield* flush
  }
  if (rows > 0) yield* flush
  if (lastSeq > 0) yield* sql`UPDATE source SET last_seq = ${lastSeq}`
})

const writeOther = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, change: Exclude<Change, { _tag: "Event" }>) {
  switch (change._tag) {
    case "Source":
      return yield* sql`UPDATE source SET source_instance_id = ${change.sourceInstanceId}`
    case "Pruned":
      yield* sql`DELETE FROM events WHERE seq <= ${change.through}`
      return yield* sql`UPDATE source SET pruned_through = max(pruned_through, ${change.through})`
    case "Peer":
      return change.acknowledged === undefined
        ? yield* sql`DELETE FROM peers WHERE peer = ${change.peer}`
        : yield* sql`INSERT OR REPLACE INTO peers VALUES (${change.peer}, ${change.acknowledged})`
    case "Command": {
      const { compactedThrough, entry, stream } = change
      yield* sql`INSERT OR REPLACE INTO commands VALUES (${stream}, ${entry.controllerSeq}, ${JSON.stringify(entry)})`
      yield* sql`DELETE FROM commands WHERE stream = ${stream} AND controller_seq <= ${compactedThrough}`
      return yield* sql`INSERT OR REPLACE INTO streams VALUES (${stream}, ${compactedThrough})`
    }
    case "CommandsForgotten":
      yield* sql`DELETE FROM commands WHERE stream = ${change.stream}`
      return yield* sql`DELETE FROM streams WHERE stream = ${change.stream}`
    case "Request":
      return change.created === undefined
        ? yield* sql`DELETE FROM requests WHERE request_id = ${change.requestId}`
        : yield* sql`INSERT OR REPLACE INTO requests VALUES (${change.requestId}, ${JSON.stringify(change.created)})`
    case "Record":
      return change.value === undefined
        ? yield* sql`DELETE FROM records WHERE kind = ${change.kind} AND id = ${change.id}`
        : yield* sql`INSERT OR REPLACE INTO records VALUES (${change.kind}, ${change.id}, ${JSON.stringify(change.value)})`
  }
})

interface SourceRow {
  readonly source_instance_id: string | null
  readonly pruned_through: number
  readonly last_seq: number
}

const load = Effect.fnUntraced(function* (sql: SqlClient.SqlClient): Effect.fn.Return<Loaded, SqlError> {
  const [source] = yield* sql<SourceRow>`SELECT * FROM source`
  const events = yield* sql<{ readonly bytes: number }>`SELECT bytes FROM events ORDER BY seq`
  const peers = yield* sql<{ readonly peer: string; readonly acknowledged: number }>`SELECT * FROM peers`
  const streams = yield* sql<{ readonly stream: string; readonly compacted_through: number }>`SELECT * FROM streams`
  const commands = yield* sql<{ readonly stream: string; readonly entry: string }>`
    SELECT stream, entry FROM commands ORDER BY stream, controller_seq`
  const requests = yield* sql<{ readonly request_id: string; readonly created: string }>`SELECT * FROM requests`
  const records = yield* sql<{ readonly kind: StoredRecord["kind"]; readonly id: string; readonly value: string }>`
    SELECT * FROM records`
  const entriesOf = Map.groupBy(commands, (row) => row.stream)
  return {
    sourceInstanceId: source?.source_instance_id ?? undefined,
    lastSeq: source?.last_seq ?? 0,
    prunedThrough: source?.pruned_through ?? 0,
    bytes: events.map((row) => row.bytes),
    peers: new Map(peers.map((row) => [row.peer, row.acknowledged])),
    commands: new Map(
      streams.map((row) => [row.stream, journalOf(row.compacted_through, entriesOf.get(row.stream) ?? [])])
    ),
    requests: requests.map((row) => ({ requestId: row.request_id, created: JSON.parse(row.created) })),
    records: records.map((row) => ({ kind: row.kind, id: row.id, value: JSON.parse(row.value) }))
  }
})

const journalOf = (compactedThrough: number, rows: ReadonlyArray<{ readonly entry: string }>): CommandJournal => {
  const entries = rows.map((row): CommandEntry => JSON.parse(row.entry))
  return { lastSeq: entries.at(-1)?.controllerSeq ?? compactedThrough, compactedThrough, entries }
}

interface EventRow {
  readonly seq: number
  readonly priority: number
  readonly run_id: string
  readonly session_id: string
  readonly bytes: number
  readonly json: string
}

/** First how much fits, then only that: one event can be large. */
const read = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { after, bytesMax, eventsMax }: ReadOptions) {
  const sizes = yield* sql<{ readonly bytes: number }>`
    SELECT bytes FROM events WHERE seq > ${after} ORDER BY seq LIMIT ${eventsMax}`
  const [source] = yield* sql<SourceRow>`SELECT * FROM source`
  const oldest = (source?.pruned_through ?? 0) + 1
  if (after + 1 < oldest) return yield* new CursorExpired({ after, oldest })
  const rows = yield* sql<EventRow>`
    SELECT * FROM events WHERE seq > ${after} ORDER BY seq LIMIT ${countWithin(sizes, bytesMax)}`
  return rows.map((row): StoredEvent => ({
    seq: row.seq,
    priority: row.priority,
    runId: row.run_id,
    sessionId: row.session_id,
    bytes: row.bytes,
    json: row.json
  }))
})

const failed =
  (operation: StoreFailed["operation"]) =>
  (error: SqlError): StoreFailed =>
    new StoreFailed({ operation, reason: error.message })

/** By the number of the error: SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB. */
const reasons: Readonly<Record<number, StoreRefused["reason"]>> = { 5: "locked", 11: "corrupt", 26: "corrupt" }

const refusalOf = (file: string, error: SqlError): StoreRefused => {
  const { cause } = error.reason
  const number = typeof cause === "object" && cause !== null && "errno" in cause ? Number(cause.errno) & 0xff : 0
  return new StoreRefused({ path: file, reason: reasons[number] ?? "unusable", detail: error.message })
}
