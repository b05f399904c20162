/**
 * Real agents through the library: `npm run test:real [-- AGENT...]`. Agents that are missing are fetched by npm into the
 * user's cache; one that cannot be had is skipped, and it says why.
 *
 * Prints a table and, as the last line, `{"ok": ..., "figures": {...}}`. The exit code agrees.
 */
import { type CaseName, cases } from "./cases.ts"
import { playScene, type Result } from "./play.ts"
import { scenes } from "./scenes.ts"
import { subjects } from "./subjects.ts"

const main = async (asked: ReadonlyArray<string>) => {
  const unknown = asked.filter((id) => !subjects.some((subject) => subject.id === id))
  if (unknown.length > 0) throw new Error(`no such agent: ${unknown.join(", ")}`)
  const results: Array<Result> = []
  let survivors = 0
  for (const subject of subjects.filter(({ id }) => asked.length === 0 || asked.includes(id))) {
    for (const backend of subject.backends) {
      for (const scene of scenes) {
        const played = await playScene(subject, backend, scene)
        results.push(...played.results)
        survivors += played.survivors
        const bad = played.results.filter(({ verdict }) => verdict === "failed")
        console.log(`${columnOf(played.results[0])}: ${scene.name}${bad.length === 0 ? "" : `, ${bad.length} FAILED`}`)
      }
    }
  }
  printTable(results)
  const count = (verdict: Result["verdict"]) => results.filter((result) => result.verdict === verdict).length
  const agents = new Set(results.flatMap(({ agent, verdict }) => (verdict === "skipped" ? [] : [agent]))).size
  const figures = {
    agents,
    cases: results.length,
    passed: count("passed"),
    agentCannot: count("agent cannot"),
    failed: count("failed"),
    skipped: count("skipped"),
    survivors
  }
  const ok = figures.failed === 0 && survivors === 0
  console.log(JSON.stringify({ ok, figures }))
  process.exitCode = ok ? 0 : 1
}

const columnOf = (result: Pick<Result, "agent" | "backend"> | undefined): string =>
  result === undefined ? "" : result.agent + (result.backend === undefined ? "" : ` ${result.backend}`)

/** One cell is all results of a case in all scenes of an agent: the worst of them. */
const printTable = (results: ReadonlyArray<Result>) => {
  const columns = [...new Set(results.map(columnOf))]
  console.log(["\n".padEnd(nameWidth + 1), ...columns.map((column) => column.padEnd(cellWidth))].join(""))
  for (const name of cases) {
    const cells = columns.map((column) => cellText(resultsOf(results, name, column)).padEnd(cellWidth))
    console.log([name.padEnd(nameWidth), ...cells].join(""))
  }
  console.log("")
  for (const line of new Set(results.filter(({ verdict }) => verdict !== "passed").map(explanation))) console.log(line)
}

const resultsOf = (results: ReadonlyArray<Result>, name: CaseName, column: string) =>
  results.filter((result) => result.name === name && columnOf(result) === column)

const worstFirst = ["failed", "skipped", "agent cannot", "passed"] as const

const cellText = (results: ReadonlyArray<Result>): string => {
  const worst = worstFirst.find((verdict) => results.some((result) => result.verdict === verdict)) ?? ""
  return results.length > 1 && worst === "passed" ? `passed ${results.length}x` : worst
}

const explanation = (result: Result): string =>
  result.verdict === "skipped"
    ? `skipped: ${result.agent}: ${result.detail}`
    : result.verdict === "agent cannot"
      ? `agent cannot: ${result.agent}: ${result.name}: ${result.detail}`
      : `FAILED: ${columnOf(result)}: ${result.scene}: ${result.name}: ${result.detail}`

const nameWidth = 62
const cellWidth = 18

await main(process.argv.slice(2))
