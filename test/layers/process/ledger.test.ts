import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, describe } from "vitest"
import { makeLedger } from "../../../src/layers/process/ledger.ts"
import { refusalOf } from "../../../src/layers/process/homes.ts"
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

const makeHome = (folder: string, name: string): string => {
  const home = path.join(folder, "homes", name)
  fs.mkdirSync(path.join(home, ".config"), { recursive: true })
  fs.writeFileSync(path.join(home, ".config", "login"), "secret")
  return home
}

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

  it.live("remembers a home until it is gone, also when the launch has ended and the ledger is written anew", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const [stays, goes, live] = [makeHome(folder, "stays"), makeHome(folder, "goes"), makeHome(folder, "live")]
      const ledger = yield* makeLedger(folder, "one", alone)
      const homes = () => parseLedger(linesOf(folder).join("\n"))?.homes
      yield* ledger.add({ ...entry("a"), home: stays })
      yield* ledger.add({ ...entry("b"), home: goes })
      yield* ledger.add({ ...entry("c"), home: live })
      yield* ledger.remove("a")
      yield* ledger.remove("b")
      expect(homes()).toEqual([stays, goes, live])
      fs.rmSync(goes, { recursive: true })
      for (let index = 0; index <= limits.ledgerDeadLinesMax / 2 - 2; index++) {
        yield* ledger.add(entry(`m${index}`))
        yield* ledger.remove(`m${index}`)
      }
      expect(linesOf(folder)).toHaveLength(3)
      expect(homes()).toEqual([stays, live])
      expect(parseLedger(linesOf(folder).join("\n"))?.entries).toEqual([{ ...entry("c"), home: live }])
    }).pipe(Effect.scoped)
  )

  it.live("stays at a clean end while a home is there", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const use = (unique: string, home: string) =>
        Effect.scoped(
          Effect.gen(function* () {
            const ledger = yield* makeLedger(path.join(folder, "hosts"), unique, alone)
            yield* ledger.add({ ...entry("a"), home })
            yield* ledger.remove("a")
          })
        )
      yield* use("kept", makeHome(folder, "there"))
      yield* use("clean", path.join(folder, "homes", "deleted"))
      expect(fs.readdirSync(path.join(folder, "hosts"))).toEqual(["kept"])
    })
  )

  it("is read when no line of it knows of homes", () => {
    const host = JSON.stringify({ ...identityOf(7), machine: null })
    const begun = JSON.stringify({ begun: "a", backend: "marked", command: "agent" })
    expect(parseLedger(`${host}\n${begun}\n`)).toMatchObject({ entries: [entry("a")], homes: [] })
  })

  it.live("keeps a command up to its bound", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const ledger = yield* makeLedger(folder, "one", alone)
      const longest = "x".repeat(limits.ledgerCommandCharactersMax)
      yield* ledger.add({ ...entry("a"), command: longest })
      yield* ledger.add({ ...entry("b"), command: `${longest}y` })
      const commands = parseLedger(linesOf(folder).join("\n"))?.entries.map(({ command }) => command)
      expect(commands).toEqual([longest, longest])
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

  const homesSeen = (folder: string, homes: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const hosts = path.join(folder, "hosts")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const dead = yield* makeLedger(hosts, "other", machine(other, []))
          yield* Effect.forEach(homes, (home, index) => dead.add({ ...entry(`m${index}`), home }))
        })
      )
      const ledger = yield* makeLedger(hosts, "own", machine(own, []))
      const [found] = yield* ledger.foreign
      const kept = found === undefined ? [] : yield* ledger.forget(found)
      return { homes: found?.homes, kept, isKept: fs.existsSync(path.join(hosts, "other")) }
    }).pipe(Effect.scoped)

  it.live("are forgotten with their homes, and no other home is touched", () =>
    Effect.gen(function* () {
      const folder = freshFolder()
      const neighbour = makeHome(folder, "neighbour")
      const outside = path.join(folder, "outside")
      fs.mkdirSync(outside)
      fs.writeFileSync(path.join(outside, "file"), "")
      const homes = [makeHome(folder, "one"), makeHome(folder, "two")]
      fs.symlinkSync(outside, path.join(folder, "homes", "one", "link"))
      const seen = yield* homesSeen(folder, [...homes, path.join(folder, "homes", "gone")])
      expect(seen).toEqual({ homes, kept: [], isKept: false })
      expect(fs.readdirSync(path.join(folder, "homes"))).toEqual([path.basename(neighbour)])
      expect(fs.readdirSync(outside)).toEqual(["file"])
    })
  )

  it.live.each([
    [
      "a link",
      (folder: string) => {
        fs.mkdirSync(path.join(folder, "homes"))
        fs.symlinkSync(path.join(folder, "precious"), path.join(folder, "homes", "link"))
        return path.join(folder, "homes", "link")
      }
    ],
    [
      "behind a link",
      (folder: string) => {
        fs.symlinkSync(folder, path.join(folder, "homes"))
        return path.join(folder, "homes", "precious")
      }
    ],
    [
      "a file",
      (folder: string) => {
        fs.mkdirSync(path.join(folder, "homes"))
        fs.writeFileSync(path.join(folder, "homes", "file"), "")
        return path.join(folder, "homes", "file")
      }
    ],
    ["not in a folder of homes", (folder: string) => path.join(folder, "precious")],
    ["not named straight", (folder: string) => `${path.dirname(makeHome(folder, "x"))}/..`]
  ] as const)("keep a home that is %s, and are kept", ([, make]) =>
    Effect.gen(function* () {
      const folder = freshFolder()
      fs.mkdirSync(path.join(folder, "precious"))
      fs.writeFileSync(path.join(folder, "precious", "file"), "")
      const home = make(folder)
      const { isKept, kept } = yield* homesSeen(folder, [home])
      expect([isKept, kept.map((one) => one.path)]).toEqual([true, [home]])
      expect(fs.readdirSync(path.join(folder, "precious"))).toEqual(["file"])
      expect(fs.existsSync(home)).toBe(true)
    })
  )

  it("never take another user's folder for a home of ours", () => {
    const folder = { isDirectory: () => true, uid: 1000 }
    expect(refusalOf("/cache/homes/a", folder, folder, 1000)).toBeUndefined()
    expect(refusalOf("/cache/homes/a", folder, { ...folder, uid: 1001 }, 1000)).toBe("it is another user's")
  })
})
