/**
 * `npm run harness -- [--scripts FOLDER]`: plays every script of a folder, ours by default, as real processes.
 *
 * Prints a table and, as the last line, `{"ok": ..., "figures": {...}}`. The exit code agrees. Wrong usage: 2.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { commandLine, misused } from "../commandLine.ts"
import { makeFolder } from "../process/startHost.ts"
import { problemsOf } from "./judge.ts"
import { eventsOf } from "./messages.ts"
import { type Played, playFile } from "./play.ts"

/** A script that is about a line beyond the bound has one beyond this bound. */
const smallLineBytesMax = 512

const ours = path.join(import.meta.dirname, "../../fixtures/agents/harness/scripts")

const values = commandLine("harness", { scripts: { type: "string", default: ours } })
const isFolder = fs.statSync(values.scripts, { throwIfNoEntry: false })?.isDirectory() === true
if (!isFolder) misused("harness", "--scripts names no folder")
const names = fs.readdirSync(values.scripts).filter((name) => name.endsWith(".json"))
const ledgerFolder = makeFolder()

const rowOf = (name: string, { messages, report, workersLeft, workersSeen }: Played, passed: boolean) => {
  const end = eventsOf(messages).at(-1)?.payload
  const exit = nativeAt(end, "reconciliation", "processExit")
  return [
    path.basename(name, ".json"),
    String(messages.length),
    String(nativeAt(exit, "exitCode") ?? nativeAt(exit, "signal")),
    `${String(nativeAt(end, "turnTerminalState"))}/${String(nativeAt(end, "runTerminalState"))}`,
    String(nativeAt(end, "reconciliation", "reason")),
    `${workersLeft + (report?.survivors.length ?? 0)} of ${workersSeen}`,
    passed ? "passed" : "FAILED"
  ]
}

/** A file that is no script is told in a line. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, " ").slice(0, reasonCharactersMax)

const reasonCharactersMax = 400

const widths = [20, 10, 9, 24, 32, 13, 8]
const print = (cells: ReadonlyArray<string>) =>
  console.log(
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(" ")
      .trimEnd()
  )

let passed = 0
let survivors = 0
print(["script", "messages", "exit", "turn/run", "reason", "workers left", "verdict"])
for (const name of names) {
  const small = name.startsWith("oversized") ? { lineBytesMax: smallLineBytesMax } : {}
  const played = await playFile({ file: path.join(values.scripts, name), ledgerFolder, ...small }).catch(reasonOf)
  if (typeof played === "string") {
    print([path.basename(name, ".json"), ...Array.from({ length: 5 }, () => "-"), "FAILED"])
    console.log(`  ${played}`)
    continue
  }
  const problems = problemsOf(played, small.lineBytesMax)
  print(rowOf(name, played, problems.length === 0))
  for (const problem of problems) console.log(`  ${problem}`)
  passed += problems.length === 0 ? 1 : 0
  survivors += played.workersLeft + (played.report?.survivors.length ?? 0)
}
fs.rmSync(ledgerFolder, { recursive: true, force: true })
const ok = names.length > 0 && passed === names.length && survivors === 0
console.log(JSON.stringify({ ok, figures: { scripts: names.length, passed, survivors } }))
process.exitCode = ok ? 0 : 1
