import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, describe } from "vitest"
import { makeLedger } from "../../../src/layers/process/ledger.ts"
import { parseLedger } from "../../../src/layers/process/ledgerFile.ts"
import type { ProcessTable } from "../../../src/layers/process/ProcessTable.ts"
import { LedgerUnwritable } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { LedgerEntry, ProcessIdentity } from "../../../src/services/Os.ts"
import { identityOf } from "../../services/fakeLaunch.ts"

const made: Array<string> = []
const freshFolder = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "greenroom-ledger-"))
  made.push(folder)
  return folder
}
afterAll(() => made.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true })))

const entry = (marker: string): LedgerEntry => ({ marker, backend: "marked", command: "agent", identity: undefined })

const nameless = "nameless"

/** A machine on which these processes are alive. */
const machine = (host: ProcessIdentity, alive: ReadonlyArray<ProcessIdentity>, name = "m"): ProcessTable => ({
  host,
  machine: name === nameless ? undefined : name,
  readIdentity: (pid) => Effect.sync(() => alive.find((one) => one.pid === pid)),
  identify: () => Effect.die("not used"),
  signal: () => Effect.die("not used"),
  census: () => Effect.die("not used")
})

const alone = machine(identityOf(1), [identityOf(1)])
const linesOf = (folder: string, unique = "one") =>
  fs
    .readFileSync(path.join(folder, unique, "launches.ndjson"), "utf8")
    .trimEnd()
    .split("\n")
const entriesOf = (folder: string) => parseLedger(linesOf(folder).join("\n"))?.entries.map(({ marker }) => marker)

describe("the ledger of a host", () => {
  it.live("holds a launch when `add` returns", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const ledger = yield* makeLedger(folder, "one", alone)
      yield* ledger.add(entry("a"))
      expect(entriesOf(folder)).toEqual(["a"])
      expect(fs.statSync(path.join(folder, "one")).mode & 0o777).toBe(0o700)
      expect(fs.statSync(path.join(folder, "one", "launches.ndjson")).mode & 0o777).toBe(0o600)
    }).pipe(Effect.scoped)
  )

  it.live("holds all of many that are added at once", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const ledger = yield* makeLedger(folder, "one", alone)
      const markers = Array.from({ length: 50 }, (_, index) => `m${index}`)
      yield* Effect.forEach(markers, (marker) => ledger.add(entry(marker)), { concurrency: "unbounded" })
      expect(entriesOf(folder)).toEqual(markers)
    }).pipe(Effect.scoped)
  )

  it.live("tells each of many that could not be written", () =>
    Effect.gen(function* () {
      const file = path.join(freshFolder(), "file")
      fs.writeFileSync(file, "")
      const ledger = yield* makeLedger(file, "one", alone)
      const failures = yield* Effect.forEach(["a", "b", "c"], (marker) => Effect.flip(ledger.add(entry(marker))), {
        concurrency: "unbounded"
      })
      expect(failures.every((failure) => failure instanceof LedgerUnwritable)).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.live("goes with its folder at a clean end, and stays when something is left", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const use = (unique: string, ended: boolean) =>
        Effect.scoped(
          Effect.gen(function* () {
            const ledger = yield* makeLedger(folder, unique, alone)
            yield* ledger.add(entry("a"))
            if (ended) yield* ledger.remove("a")
          })
        )
      yield* use("clean", true)
      yield* use("left", false)
      expect(fs.readdirSync(folder)).toEqual(["left"])
    })
  )

  it.live("is written anew when it is mostly ended launches, and not before", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const ledger = yield* makeLedger(folder, "one", alone)
      yield* ledger.add(entry("stays"))
      const launches = limits.ledgerDeadLinesMax / 2
      for (let index = 0; index < launches; index++) {
        yield* ledger.add(entry(`m${index}`))
        yield* ledger.remove(`m${index}`)
      }
      expect(linesOf(folder)).toHaveLength(2 + limits.ledgerDeadLinesMax)
      yield* ledger.add(entry("last"))
      yield* ledger.remove("last")
      expect(linesOf(folder)).toHaveLength(2)
      expect(entriesOf(folder)).toEqual(["stays"])
      yield* ledger.add(entry("after"))
      expect(entriesOf(folder)).toEqual(["stays", "after"])
      expect(fs.readdirSync(path.join(folder, "one"))).toEqual(["launches.ndjson"])
    }).pipe(Effect.scoped)
  )

  it("is read after a crash in the middle of a line", () => {
    const host = JSON.stringify({ ...identityOf(7), machine: null })
    const begun = JSON.stringify({ begun: "a", backend: "marked", command: "x" })
    expect(parseLedger(`${host}\n${begun}\n{"begun":"b","back`)?.entries.map(({ marker }) => marker)).toEqual(["a"])
    expect(parseLedger(`${host}\n{"beg\n${begun}\n{"ended":"zzz"}\nnull\n`)?.entries).toHaveLength(1)
    expect(parseLedger(host.slice(0, 20))).toBeUndefined()
    expect(parseLedger("")).toBeUndefined()
  })
})

describe("the ledgers of others", () => {
  const own = identityOf(1)
  const other = identityOf(50, "777")
  const seenFrom = (host: ProcessIdentity, alive: ReadonlyArray<ProcessIdentity>, names = { here: "m", there: "m" }) =>
    Effect.gen(function* () {
      const folder = freshFolder()
      yield* Effect.scoped(
        Effect.flatMap(makeLedger(folder, "other", machine(host, [], names.there)), (ledger) => ledger.add(entry("a")))
      )
      const ledger = yield* makeLedger(folder, "own", machine(own, alive, names.here))
      yield* ledger.add(entry("mine"))
      const found = yield* ledger.foreign
      return { found, folder, ledger }
    }).pipe(Effect.scoped)

  it.live("are found with what is not over, and one's own is not among them", () =>
    Effect.gen(function* () {
      const { found } = yield* seenFrom(other, [])
      expect(found).toHaveLength(1)
      expect(found[0]).toMatchObject({ host: other, hostGone: true, entries: [entry("a")] })
    })
  )

  it.live.each([
    ["alive", other, [other], false],
    ["a number of another process by now", other, [{ ...other, startTime: "778" }], true],
    ["of another boot of this machine", { ...other, bootId: "before" }, [], true],
    ["of another pid namespace", { ...other, pidNamespace: "2" }, [], false]
  ] as const)("are those of a host that is %s", ([, host, alive, gone]) =>
    Effect.gen(function* () {
      expect((yield* seenFrom(host, alive)).found[0]?.hostGone).toBe(gone)
    })
  )

  it.live.each([
    { here: "m", there: "n" },
    { here: nameless, there: nameless }
  ])("of another machine on a shared folder are never held to be over: %j", (names) =>
    Effect.gen(function* () {
      const { found } = yield* seenFrom({ ...other, bootId: "elsewhere" }, [], names)
      expect(found[0]?.hostGone ?? false).toBe(false)
    })
  )

  it.live("are forgotten with their folder", () =>
    Effect.gen(function* () {
      const { folder, found, ledger } = yield* seenFrom(other, [])
      for (const one of found) yield* ledger.forget(one)
      expect(fs.readdirSync(folder)).not.toContain("other")
    })
  )
})
