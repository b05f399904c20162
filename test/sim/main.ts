/**
 * `npm run sim -- [--runs N] [--seed S] [--program P] [--threads T]`: a campaign of simulated schedules over all programs, or
 * those whose name has P in it. `--replay FILE` runs one schedule again. Talks on stderr; the last line of stdout is
 * `{"ok": ..., "figures": {...}}`, and the exit code agrees.
 */
import { createHash } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import * as os from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import * as Result from "effect/Result"
import { check, describeViolation, shrink, type Violation } from "../../src/testing/index.ts"
import type { ChunkOrder, ChunkResult } from "./chunk.ts"
import { addTo, extraOf, extraRounds, newRow, planOf, type Row } from "./plan.ts"
import { programs, programsNamed, type SimProgram } from "./programs.ts"
import { readReplay, type Replay } from "./replayFile.ts"

const say = (line: string) => void process.stderr.write(`${line}\n`)

const usage = (problem: string): never => {
  say(`sim: ${problem}`)
  process.exit(2)
}

const options = {
  runs: { type: "string", default: "10000" },
  seed: { type: "string", default: "1" },
  program: { type: "string", default: "" },
  threads: { type: "string", default: String(os.availableParallelism()) },
  replay: { type: "string" }
} as const

const { values } = Result.getOrElse(
  Result.try({ try: () => parseArgs({ options }), catch: (cause) => String(cause) }),
  usage
)

/** Ends the campaign with what there is. A second one ends the process. */
const stop = new AbortController()
process.once("SIGINT", () => {
  stop.abort()
  say("sim: stopping; what runs is finished first")
})

const number = (name: "runs" | "seed" | "threads"): number => {
  const value = Number(values[name])
  return Number.isSafeInteger(value) && value > 0 ? value : usage(`--${name} is not a positive whole number`)
}

/** Runs the orders on so many threads; `done` is told of each, in any order. */
const runOrders = async (orders: ReadonlyArray<ChunkOrder>, threads: number, done: (result: ChunkResult) => void) => {
  const waiting = [...orders]
  const runOne = (worker: Worker, order: ChunkOrder) =>
    new Promise<ChunkResult>((resolve, reject) => {
      worker.removeAllListeners().once("message", resolve).once("error", reject)
      worker.postMessage(order, [])
    })
  const work = async () => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url))
    try {
      for (let order = waiting.shift(); order !== undefined && !stop.signal.aborted; order = waiting.shift()) {
        done(await runOne(worker, order))
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(threads, orders.length) }, work))
}

const runCampaign = async (chosen: ReadonlyArray<SimProgram>) => {
  const seed = number("seed")
  const threads = number("threads")
  const rows = new Map(chosen.map((program) => [program.name, newRow(program)]))
  const found: Array<{ readonly program: SimProgram; readonly violation: Violation }> = []
  const plan = planOf(chosen, number("runs"), seed)
  const planned = plan.reduce((sum, { runs }) => sum + runs, 0)
  const begin = performance.now()
  let runs = 0

  const perSecond = () => runs / ((performance.now() - begin) / 1000)
  const done = (result: ChunkResult) => {
    const row = rows.get(result.order.program)
    if (row === undefined) return
    addTo(row, result)
    runs += result.runs
    for (const violation of result.violations.slice(0, 3)) found.push({ program: row.program, violation })
  }
  const progress = setInterval(
    () => say(`sim: ${runs} of ${planned} runs, ${perSecond().toFixed(0)} a second, ${found.length} violations`),
    2000
  )
  await runOrders(plan, threads, done)
  for (let round = 0; round < extraRounds && !stop.signal.aborted; round++) {
    const extra = [...rows.values()].flatMap((row) => extraOf(row, seed))
    if (extra.length > 0) say(`sim: ${extra.length} programs go on for a state that they have not reached`)
    await runOrders(extra, threads, done)
  }
  clearInterval(progress)
  const table = [...rows.values()]
  say(tableText(table))
  for (const row of table) for (const state of row.missed) say(`missed: ${row.program.name}: ${state}`)
  for (const { program, violation } of found.slice(0, 5)) say(failureText(program, violation))
  say(`digest ${digestOf(table)}`)
  return {
    runs,
    violations: table.reduce((sum, row) => sum + row.violations, 0),
    schedulesPerSecond: Math.round(perSecond()),
    statesMissed: table.reduce((sum, row) => sum + row.missed.size, 0)
  }
}

const tableText = (rows: ReadonlyArray<Row>): string => {
  const states = ({ missed, program }: Row) => `${program.reaches.length - missed.size}/${program.reaches.length}`
  const head = ["program", "runs", "distinct", "steps", "states", "runs/s", "violations"]
  const cells = rows.map((row) => [
    row.program.name,
    row.runs,
    row.schedules.size,
    row.steps,
    states(row),
    ((row.runs / row.millis) * 1000).toFixed(0),
    row.violations
  ])
  return [head, ...cells]
    .map(([name, ...others]) =>
      [String(name).padEnd(72), ...others.map((cell) => String(cell).padStart(11))].join("").trimEnd()
    )
    .join("\n")
}

/** Shrinks it, and leaves a file that shows it again. */
const failureText = (program: SimProgram, violation: Violation): string => {
  const small = shrink(program.make, violation)
  const file = join(mkdtempSync(join(os.tmpdir(), "greenroom-sim-")), "replay.json")
  writeFileSync(
    file,
    JSON.stringify({ program: program.name, what: small.what, options: small.options } satisfies Replay)
  )
  const told = describeViolation(program.make, small, { maxRuns: 0, command: () => `npm run sim -- --replay ${file}` })
  return `\n${program.name}: ${told}`
}

const digestOf = (rows: ReadonlyArray<Row>): string => {
  const whole = createHash("sha256")
  for (const { digests, program } of rows)
    for (const [seed, digest] of digests.toSorted(([a], [b]) => a - b))
      whole.update(`${program.name} ${seed} ${digest}`)
  return whole.digest("hex")
}

const replay = (file: string) => {
  const recorded = Result.getOrElse(readReplay(file), usage)
  const program = programs.find(({ name }) => name === recorded.program)
  if (program === undefined) return usage(`no program ${recorded.program}`)
  const options = { ...recorded.options, story: true }
  const { result, violations } = check(program.make(options), options)
  for (const line of result.story) say(`  ${line}`)
  say(`${program.name}: ${result.steps} steps, ${typeof result.exit === "string" ? result.exit : result.exit._tag}`)
  for (const { what } of violations) say(`violation: ${what}`)
  if (violations.length === 0 && recorded.what !== undefined) say(`does not show any more: ${recorded.what}`)
  return { runs: 1, violations: violations.length, schedulesPerSecond: 0, statesMissed: 0 }
}

const chosen = programsNamed(values.program)
if (chosen.length === 0) usage(`no program has "${values.program}" in its name`)
const figures = values.replay === undefined ? await runCampaign(chosen) : replay(values.replay)
const ok = !stop.signal.aborted && figures.violations === 0 && figures.statesMissed === 0
console.log(JSON.stringify({ ok, figures }))
process.exitCode = ok ? 0 : 1
