import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe, vi } from "vitest"
import { doctor, type DoctorReport, renderDoctor } from "../../../src/layers/process/doctor.ts"
import { limits } from "../../../src/schema/limits.ts"
import { type ForeignLedger, Os } from "../../../src/services/Os.ts"
import { identityOf } from "../../services/fakeLaunch.ts"

const report: DoctorReport = {
  node: { version: "v20.0.0", supported: false, needed: "22.19" },
  platform: "linux x64",
  backends: [
    { backend: "namespace", usable: false, reason: "unshare: Operation not permitted" },
    { backend: "marked", usable: true, reason: "a guardian ended a process by its marker" }
  ],
  folders: [{ name: "state", path: "/s", files: 2, bytes: 1_572_864, complete: true }],
  hosts: [
    {
      path: "/s/1",
      host: identityOf(7),
      gone: true,
      reason: "its host has ended",
      launches: 1,
      processes: [identityOf(8)],
      homes: []
    },
    {
      path: "/s/2",
      host: identityOf(9),
      gone: false,
      reason: "its host is alive",
      launches: 2,
      processes: [],
      homes: ["/homes/9"]
    },
    {
      path: "/s/3",
      host: identityOf(10),
      gone: true,
      reason: "its host has ended",
      launches: 0,
      processes: [],
      homes: ["/homes/a", "/homes/b"]
    }
  ]
}

/** A machine with these ledgers of others, and one process that is alive. */
const osWith = (foreign: ReadonlyArray<ForeignLedger>): Os["Service"] => ({
  backends: Effect.succeed(report.backends),
  backend: () => Effect.die("not used"),
  spawn: () => Effect.die("not used"),
  readIdentity: () => Effect.die("not used"),
  signal: () => Effect.die("not used"),
  census: (marker) => Effect.succeed(marker === "m" ? [identityOf(8)] : []),
  ledger: {
    add: () => Effect.die("not used"),
    remove: () => Effect.die("not used"),
    foreign: Effect.succeed(foreign),
    forget: () => Effect.die("not used")
  }
})

/** Folders that are larger than anybody wants to make: how many files each has. */
const imagined = vi.hoisted(() => new Map<string, number>())

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>()
  const entry = { name: "file", isDirectory: () => false }
  return {
    ...real,
    readdir: (folder: string, options: { readonly withFileTypes: true }) => {
      const files = imagined.get(folder)
      return files === undefined
        ? real.readdir(folder, options)
        : Promise.resolve(Array.from({ length: files }, () => entry))
    },
    lstat: (file: string) => (imagined.has(path.dirname(file)) ? Promise.resolve({ size: 1 }) : real.lstat(file))
  }
})

describe("the doctor", () => {
  it("says what works, why, and what is left", () => {
    expect(renderDoctor(report)).toBe(
      [
        "node       v20.0.0, too old: 22.19 or later is needed",
        "platform   linux x64",
        "backend    namespace: does not work (unshare: Operation not permitted)",
        "backend    marked: works (a guardian ended a process by its marker)",
        "default    marked",
        "state      /s: 2 files, 1.5 MiB",
        "host       7, gone (its host has ended): 1 launches, processes 8; can be reaped",
        "host       9, not proven gone (its host is alive): 2 launches, no process, 1 private home",
        "host       10, gone (its host has ended): 0 launches, no process, 2 private homes; can be reaped",
        "home       /homes/a: left by host 10",
        "home       /homes/b: left by host 10"
      ].join("\n")
    )
  })

  it("says that nothing works", () => {
    expect(renderDoctor({ ...report, backends: [] })).toContain("default    none: no agent can be started here")
  })

  it("says what was reaped and what is still there", () => {
    const ledger = { host: identityOf(7), hostGone: true, reason: "", path: "/s/1", entries: [], homes: [] }
    const homes = ["/homes/a", "/homes/b"]
    const lines = renderDoctor(report, [
      { ledger, survivors: [], keptHomes: [] },
      { ledger, survivors: [identityOf(8)], keptHomes: [] },
      { ledger: { ...ledger, homes }, survivors: [], keptHomes: [] },
      { ledger: { ...ledger, homes }, survivors: [], keptHomes: [{ path: "/homes/b", reason: "EACCES" }] }
    ]).split("\n")
    expect(lines.slice(-5)).toEqual([
      "reaped     host 7: nothing is left",
      "reaped     host 7: still there: 8",
      "reaped     host 7: nothing is left; 2 private homes deleted",
      "reaped     host 7: still there: 1 private home; 1 private home deleted",
      "home       /homes/b: not deleted (EACCES)"
    ])
  })

  it.live("measures folders and looks for what dead hosts left, and ends nothing", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "greenroom-doctor-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(folder, { recursive: true })))
      vi.stubEnv("XDG_STATE_HOME", folder)
      vi.stubEnv("XDG_CACHE_HOME", path.join(folder, "none"))
      fs.mkdirSync(path.join(folder, "greenroom", "hosts", "x"), { recursive: true })
      fs.writeFileSync(path.join(folder, "greenroom", "hosts", "x", "launches.ndjson"), "12345")
      const dead = {
        host: identityOf(7),
        hostGone: true,
        reason: "its host has ended",
        path: "/x",
        homes: ["/homes/x"]
      }
      const entries = [{ marker: "m", backend: "marked" as const, command: "c", identity: undefined }]
      const looked = yield* Effect.provideService(doctor, Os, osWith([{ ...dead, entries }]))
      vi.unstubAllEnvs()
      expect(looked.folders.map(({ bytes, files }) => ({ bytes, files }))).toEqual([
        { bytes: 5, files: 1 },
        { bytes: 0, files: 0 }
      ])
      expect(looked.hosts).toMatchObject([{ gone: true, launches: 1, processes: [identityOf(8)], homes: ["/homes/x"] }])
      expect(looked.node.supported).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.live("counts the entries of a folder up to a bound, and says that there are more", () =>
    Effect.gen(function* () {
      const max = limits.measuredEntriesMax
      imagined.set("/imagined/state/greenroom", max)
      imagined.set("/imagined/cache/greenroom", max + 1)
      vi.stubEnv("XDG_STATE_HOME", "/imagined/state")
      vi.stubEnv("XDG_CACHE_HOME", "/imagined/cache")
      const looked = yield* Effect.provideService(doctor, Os, osWith([]))
      vi.unstubAllEnvs()
      imagined.clear()
      expect(looked.folders).toMatchObject([
        { files: max, bytes: max, complete: true },
        { files: max, bytes: max, complete: false }
      ])
      expect(renderDoctor(looked)).toContain(`/imagined/state/greenroom: ${max} files`)
      expect(renderDoctor(looked)).toContain(`/imagined/cache/greenroom: at least ${max} files`)
    })
  )
})
