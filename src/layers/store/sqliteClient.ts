/**
 * Effect's `SqlClient` over Node's own SQLite. One connection, which holds the file for itself alone: nobody else may open it.
 *
 * Statements are synchronous: while one runs, nothing else of this process does.
 */
import type { SQLInputValue } from "node:sqlite"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"

export interface SqliteOptions {
  readonly file: string
  /** When a commit is on the disk: `FULL` at once, `NORMAL` but for a crash of the machine. Default `NORMAL`. */
  readonly synchronous?: "NORMAL" | "FULL"
}

/** The file is locked from here until the layer is released. Errors: it cannot be opened, or somebody else holds it. */
export const layer = (options: SqliteOptions): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

/** Larger pages than usual: events are written in a row and deleted in a row. */
const pageBytes = 16_384

const make = Effect.fnUntraced(function* ({ file, synchronous = "NORMAL" }: SqliteOptions) {
  // Not at the start of the program: most programs keep no journal.
  const { DatabaseSync } = yield* Effect.promise(() => import("node:sqlite"))
  const database = yield* Effect.acquireRelease(
    attempt("open", () => new DatabaseSync(file, { timeout: 0 })),
    (opened) => Effect.sync(() => opened.close())
  )
  yield* attempt("lock", () => {
    database.exec(
      `PRAGMA page_size = ${pageBytes}; PRAGMA synchronous = ${synchronous}; PRAGMA locking_mode = EXCLUSIVE`
    )
    // What is locked once stays locked.
    database.exec("BEGIN IMMEDIATE; ROLLBACK")
  })
  const prepared = new Map<string, ReturnType<typeof database.prepare>>()

  const statement = (sql: string, isKept: boolean) => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const made = database.prepare(sql)
    if (isKept) prepared.set(sql, made)
    return made
  }

  const run = (sql: string, params: ReadonlyArray<unknown>, isKept = true, asValues = false) =>
    Effect.withFiber<ReadonlyArray<object>, SqlError>((fiber) =>
      attempt("execute", () => {
        const ready = statement(sql, isKept)
        ready.setReadBigInts(Context.get(fiber.context, SqlClient.SafeIntegers))
        ready.setReturnArrays(asValues)
        return ready.all(...(params.every(isInput) ? params : params.map(inputOf)))
      })
    )

  const values = (sql: string, params: ReadonlyArray<unknown>, isKept: boolean) =>
    Effect.map(run(sql, params, isKept, true), (rows) => rows.map((row) => Object.values(row)))

  const connection: Connection = {
    execute: (sql, params, transform) => Effect.map(run(sql, params), (rows) => transform?.(rows) ?? rows),
    executeRaw: (sql, params) => run(sql, params),
    executeStream: (sql, params, transform) =>
      Stream.unwrap(Effect.map(run(sql, params), (rows) => Stream.fromIterable(transform?.(rows) ?? rows))),
    executeValues: (sql, params) => values(sql, params, true),
    executeValuesUnprepared: (sql, params) => values(sql, params, false),
    executeUnprepared: (sql, params, transform) =>
      Effect.map(run(sql, params, false), (rows) => transform?.(rows) ?? rows)
  }

  return yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: Semaphore.makeUnsafe(1),
      isTransaction: () => database.isTransaction
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [],
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true
  })
})

const attempt = <A>(operation: string, act: () => A) =>
  Effect.try({ try: act, catch: (error) => new SqlError({ reason: classified(error, operation) }) })

/** Node names the number of the error in a property of its own. */
const classified = (error: unknown, operation: string) => {
  const message = error instanceof Error ? error.message : String(error)
  return classifySqliteError(Object.assign(new Error(message), { errno: errcodeOf(error) }), { message, operation })
}

const errcodeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "errcode" in error ? error.errcode : undefined

const isInput = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number"

const inputOf = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value
    case "boolean":
      return value ? 1 : 0
    default:
      return value instanceof Uint8Array ? value : null
  }
}
