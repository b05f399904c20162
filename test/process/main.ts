/**
 * The containment matrix: what each backend guarantees, and what happened just now.
 *
 * Prints a table per backend and, as the last line, `{"ok": ..., "figures": {...}}`. The exit code agrees.
 */
import * as fs from "node:fs"
import type { Backend } from "../../src/services/Os.ts"
import { runBytes } from "./bytes.ts"
import { endings } from "./cells.ts"
import { runLedgers } from "./ledgers.ts"
import { runWithLinks } from "./links.ts"
import { probedBackends, type Result, runChildren, runForkStorm } from "./matrix.ts"
import { isAllowed } from "./processes.ts"
import { makeFolder } from "./startHost.ts"

const nobody = 65534
const mebibytes = 512

const main = async () => {
  const all: Array<Result> = []
  let skipped = 0
  for (const user of process.getuid?.() === 0 ? [undefined, nobody] : [undefined]) {
    for (const { backend, reason, usable } of await probedBackends(user)) {
      console.log(`\n${backend}${user === undefined ? "" : " as an ordinary user"}: ${reason}`)
      if (!usable && !isAllowed(backend, user)) {
        console.log("the system does not allow it: skipped")
        skipped++
        continue
      }
      const results = usable
        ? await (user === undefined ? runAll(backend) : runSome(backend, user))
        : [unusable(backend)]
      all.push(...results)
      printTable(results)
    }
  }
  const failed = all.filter(({ passed }) => !passed)
  const survivors = failed.filter(({ outcome }) => outcome === "survived").length
  const figures = { cells: all.length, passed: all.length - failed.length, failed: failed.length, skipped, survivors }
  const ok = failed.length === 0 && all.length > 0
  console.log(JSON.stringify({ ok, figures }))
  process.exitCode = ok ? 0 : 1
}

const runAll = async (backend: Backend) => {
  const results: Array<Result> = []
  for (const ending of endings) results.push(...(await runChildren(backend, ending)))
  for (const ending of ["close", "SIGKILL"] as const) results.push(...(await runForkStorm(backend, ending)))
  return [...results, ...(await runPlain(backend))]
}

const runSome = async (backend: Backend, user: number) => [
  ...(await runChildren(backend, "close", user)),
  ...(await runChildren(backend, "SIGKILL", user))
]

/** What has no ending in its name. */
const runPlain = async (backend: Backend): Promise<ReadonlyArray<Result>> => {
  const folder = makeFolder()
  const bytes = await runWithLinks(folder, runBytes(backend, mebibytes))
  fs.rmSync(folder, { recursive: true, force: true })
  const { deadLedgerGone, deadReaped, liveUntouched, wasLeft } = await runLedgers(backend)
  const plain = (what: string, passed: boolean, detail = ""): Result => ({
    backend,
    what,
    ending: "close",
    guarantee: "ended",
    passed,
    detail,
    outcome: passed ? "ended" : "survived"
  })
  return [
    plain(`${mebibytes} MiB through cat, equal`, bytes.equal, `${bytes.mebibytesPerSecond} MiB/s`),
    plain("left by a killed host, reaped", wasLeft && deadReaped && deadLedgerGone),
    plain("of a live host, untouched", liveUntouched)
  ]
}

const unusable = (backend: Backend): Result => ({
  backend,
  what: "does not work although it could",
  ending: "close",
  guarantee: "ended",
  outcome: "survived",
  passed: false,
  detail: ""
})

/** Brackets: no guarantee. An exclamation mark: a guarantee was broken. */
const printTable = (results: ReadonlyArray<Result>) => {
  const shown = endings.filter((ending) => results.some((result) => result.ending === ending))
  console.log(["".padEnd(nameWidth), ...shown.map((ending) => ending.padEnd(cellWidth))].join(""))
  for (const what of new Set(results.map((result) => result.what))) {
    const cells = shown.map((ending) => {
      const result = results.find((one) => one.what === what && one.ending === ending)
      return (result === undefined ? "" : cellText(result)).padEnd(cellWidth)
    })
    const details = results.flatMap((one) => (one.what === what && one.detail !== "" ? [one.detail] : []))
    console.log([what.padEnd(nameWidth), ...cells, [...new Set(details)].join(" | ")].join(""))
  }
}

const cellText = ({ guarantee, outcome, passed }: Result) => {
  if (!passed) return `${outcome} !`
  return guarantee === "not covered" ? `(${outcome})` : outcome
}

const nameWidth = 32
const cellWidth = 16

await main()
