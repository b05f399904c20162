/**
 * The tables of a journal in SQLite, by version. A migration is what was added; the version that a file has stands in the file,
 * and so does that it is a file of ours.
 */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** "GRJ1". */
export const applicationId = 0x47524a31

/** Each is the step from its index to the next version. */
const migrations: ReadonlyArray<ReadonlyArray<string>> = [
  [
    `CREATE TABLE source (only INTEGER PRIMARY KEY CHECK (only = 1), source_instance_id TEXT,
      pruned_through INTEGER NOT NULL, last_seq INTEGER NOT NULL) STRICT`,
    `INSERT INTO source VALUES (1, NULL, 0, 0)`,
    `CREATE TABLE events (seq INTEGER PRIMARY KEY, priority INTEGER NOT NULL, run_id TEXT NOT NULL,
      session_id TEXT NOT NULL, bytes INTEGER NOT NULL, json TEXT NOT NULL) STRICT`,
    `CREATE TABLE peers (peer TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE commands (stream TEXT, controller_seq INTEGER, entry TEXT NOT NULL,
      PRIMARY KEY (stream, controller_seq)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE streams (stream TEXT PRIMARY KEY, compacted_through INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE requests (request_id TEXT PRIMARY KEY, created TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE records (kind TEXT, id TEXT, value TEXT NOT NULL, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID`
  ]
]

/** The one that this program writes, and the highest that it reads. */
export const schemaVersion = migrations.length

/** Brings the file from that version to ours, all of the way or not at all. */
export const migrate = (sql: SqlClient.SqlClient, from: number): Effect.Effect<void, SqlError> =>
  from === schemaVersion
    ? Effect.void
    : sql.withTransaction(
        Effect.forEach(
          [
            ...migrations.slice(from).flat(),
            `PRAGMA application_id = ${applicationId}`,
            `PRAGMA user_version = ${schemaVersion}`
          ],
          (statement) => sql.unsafe(statement).unprepared,
          { discard: true }
        )
      )
