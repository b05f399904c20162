/**
 * What this host has started, written before it is used, so that a later host can find what a dead one left.
 *
 * One folder per host, `<folder>/<unique>/launches.ndjson`: the host's identity, then one line per launch begun or ended.
 * Only its own host writes a ledger; others read it, and delete it once its host is proven gone and nothing is left. The file
 * is made at the first launch or shortly before, written anew when it is mostly ended launches, and deleted with its folder at a clean end.
 *
 * The private home of a launch is remembered from its begin until it is seen to be gone: its scope may delete it long after
 * the launch has ended.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { LedgerUnwritable } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { ForeignLedger, KeptHome, LedgerEntry, ProcessIdentity } from "../../services/Os.ts"
import { deleteHome, existingHomes } from "./homes.ts"
import { type LedgerHost, ledgerFile, parseLedger } from "./ledgerFile.ts"
import { errorCode } from "./pipes.ts"
import { isSame, type ProcessTable } from "./ProcessTable.ts"

export interface Ledger {
  /** Makes the file ahead of the first launch, if that is possible. */
  readonly prepare: Effect.Effect<void>
  readonly add: (entry: LedgerEntry) => Effect.Effect<void, LedgerUnwritable>
  readonly remove: (marker: string) => Effect.Effect<void>
  readonly foreign: Effect.Effect<ReadonlyArray<ForeignLedger>>
  readonly forget: (ledger: ForeignLedger) => Effect.Effect<ReadonlyArray<KeptHome>>
}

/** The ledger of this host in `folder`; `unique` names it among all hosts that ever were. */
export const makeLedger = Effect.fnUntraced(function* (
  folder: string,
  unique: string,
  table: ProcessTable
): Effect.fn.Return<Ledger, never, Scope.Scope> {
  const host: LedgerHost = { ...table.host, machine: table.machine ?? null }
  const own = path.join(folder, unique)
  const file = ledgerFile(own, host)
  const one = yield* Semaphore.make(1)
  const live = new Map<string, LedgerEntry>()
  /** Of ended launches, when they were last looked at. */
  let homes = new Set<string>()
  let waiting: Array<{ readonly line: string; readonly done: Deferred.Deferred<void, LedgerUnwritable> }> = []
  let deadLines = 0

  /** Whoever comes first writes the lines of all who wait, at once. */
  const flush = Effect.suspend(() => {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return Effect.void
    const written = attempt(own, () => file.append(batch.map(({ line }) => line)))
    return Effect.flatMap(Effect.exit(written), (exit) =>
      Effect.sync(() => batch.forEach(({ done }) => Deferred.doneUnsafe(done, exit)))
    )
  }).pipe(one.withPermit)

  const add = (entry: LedgerEntry) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void, LedgerUnwritable>()
      live.set(entry.marker, entry)
      waiting.push({ line: beginLine(entry), done })
      return Effect.andThen(flush, Deferred.await(done))
    }).pipe(
      Effect.tapError(() => Effect.sync(() => live.delete(entry.marker))),
      Effect.uninterruptible
    )

  // A line that gets lost costs a later host one look for a marker that nobody carries.
  const remove = (marker: string) =>
    Effect.suspend(() => {
      const home = live.get(marker)?.home
      if (!live.delete(marker)) return Effect.void
      if (home !== undefined) homes.add(home)
      deadLines += 2
      if (deadLines <= limits.ledgerDeadLinesMax) return attempt(own, () => file.appendLazily(endLine(marker)))
      deadLines = 0
      return attempt(own, async () => {
        homes = new Set(await existingHomes(homes))
        await file.rewrite([...[...homes].map(homeLine), ...[...live.values()].map(beginLine)])
      })
    }).pipe(one.withPermit, Effect.ignore, Effect.uninterruptible)

  const close = async () => file.close(live.size === 0 && (await existingHomes(homes)).length === 0)
  yield* Effect.addFinalizer(() => Effect.ignore(attempt(own, close)))
  const prepare = attempt(own, file.prepare).pipe(one.withPermit, Effect.ignore, Effect.uninterruptible)
  return { prepare, add, remove, foreign: readForeign(folder, unique, table), forget }
})

const beginLine = ({ backend, command, home, marker }: LedgerEntry) =>
  JSON.stringify({ begun: marker, backend, command: command.slice(0, limits.ledgerCommandCharactersMax), home })
const homeLine = (home: string) => JSON.stringify({ home })
const endLine = (marker: string) => JSON.stringify({ ended: marker })

const attempt = (file: string, run: () => Promise<void>) =>
  Effect.tryPromise({ try: run, catch: (error) => new LedgerUnwritable({ path: file, reason: errorCode(error) }) })

const readForeign = (folder: string, unique: string, table: ProcessTable) =>
  Effect.gen(function* () {
    const names = yield* orElse(() => fs.readdir(folder), [])
    const ledgers = yield* Effect.forEach(
      names.filter((name) => name !== unique),
      (name) => readOne(path.join(folder, name), table)
    )
    return ledgers.filter((ledger) => ledger !== undefined)
  })

const readOne = Effect.fnUntraced(function* (
  folder: string,
  table: ProcessTable
): Effect.fn.Return<ForeignLedger | undefined> {
  const text = yield* orElse(() => fs.readFile(path.join(folder, "launches.ndjson"), "utf8"), "")
  const parsed = parseLedger(text)
  // Without a whole first line nothing was ever started by it: that line is written before the first launch.
  if (parsed === undefined) return undefined
  const { machine, ...host } = parsed.host
  const now = yield* table.readIdentity(host.pid)
  const homes = yield* Effect.promise(() => existingHomes(parsed.homes))
  return { host, path: folder, entries: parsed.entries, homes, ...verdict(host, machine, table, now) }
})

/** Whether the host is proven gone. Numbers of another pid namespace or machine say nothing here. */
const verdict = (
  host: ProcessIdentity,
  machine: string | null,
  table: ProcessTable,
  now: ProcessIdentity | undefined
): Pick<ForeignLedger, "hostGone" | "reason"> => {
  if (host.bootId !== table.host.bootId)
    return machine !== null && machine === table.machine
      ? { hostGone: true, reason: "the machine was started again" }
      : { hostGone: false, reason: "it is of another machine, or of one without a name" }
  if (host.pidNamespace !== table.host.pidNamespace)
    return { hostGone: false, reason: "it is of another pid namespace" }
  if (now !== undefined && isSame(now, host)) return { hostGone: false, reason: "its host is alive" }
  return { hostGone: true, reason: now === undefined ? "its host has ended" : "its host's number is another's by now" }
}

const forget = Effect.fnUntraced(function* (ledger: ForeignLedger): Effect.fn.Return<ReadonlyArray<KeptHome>> {
  const kept: Array<KeptHome> = []
  for (const home of ledger.homes) {
    const reason = yield* Effect.promise(() => deleteHome(home))
    if (reason !== undefined) kept.push({ path: home, reason })
  }
  if (kept.length === 0) yield* orElse(() => fs.rm(ledger.path, { recursive: true, force: true }), undefined)
  return kept
})

const orElse = <A>(run: () => Promise<A>, otherwise: A): Effect.Effect<A> =>
  Effect.catch(Effect.tryPromise({ try: run, catch: errorCode }), () => Effect.succeed(otherwise))
