/**
 * `npm run replay -- [DIR]`: replays every transcript below DIR, by default the corpus of the package, and prints what came of
 * it. The last line is `{"ok": ..., "figures": {...}}`; the exit code agrees.
 */
import { join } from "node:path"
import { replayCorpus, type Row } from "./corpus.ts"

const main = (root: string) => {
  const rows = replayCorpus(root)
  console.log(line("transcript", ["prompts", "updates", "lost", "requests", "late", "left out", "verdict"]))
  for (const row of rows) console.log(rowText(row))
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0)
  const figures = {
    transcripts: rows.length,
    prompts: sum(({ replayed }) => replayed.turns.length),
    updates: sum(({ checked }) => checked.updates),
    lost: sum(({ checked }) => checked.lost),
    values: sum(({ checked }) => checked.leaves.all),
    valuesCarried: sum(({ checked }) => checked.leaves.carried),
    valuesTold: sum(({ checked }) => checked.leaves.told),
    valuesLeftOut: sum(({ checked }) => checked.leaves.leftOut),
    valuesLost: sum(({ checked }) => checked.leaves.lost.length),
    terminals: sum(({ checked }) => checked.terminals),
    skipped: sum(({ replayed }) => replayed.skipped.length),
    disagreements: sum((row) => faultsOf(row).length)
  }
  const ok = rows.length > 0 && figures.disagreements === 0
  console.log(JSON.stringify({ ok, figures }))
  process.exitCode = ok ? 0 : 1
}

/** Against what must hold of all, and against the verdict. */
const faultsOf = ({ checked, disagreements }: Row): ReadonlyArray<string> => [
  ...checked.broken,
  ...(disagreements ?? [])
]

const line = (name: string, cells: ReadonlyArray<string | number>): string =>
  [name.padEnd(52), ...cells.map((cell) => String(cell).padEnd(9))].join(" ").trimEnd()

const rowText = (row: Row): string => {
  const { checked, replayed, transcript, verdict } = row
  const faults = faultsOf(row)
  const judgement = faults.length > 0 ? "FAILS" : row.disagreements === undefined ? "holds" : "agrees"
  const { open, prompts, requests } = verdict
  const cells = [prompts.length, checked.updates, checked.lost, requests.length, checked.late, replayed.skipped.length]
  return [
    line(transcript.name, [...cells, judgement]),
    ...(open === "opened" ? [] : [`    open: ${open}`]),
    ...prompts.map((text, index) => `    prompt ${index + 1}: ${text}`),
    ...requests.map((text, index) => `    request ${index + 1}: ${text}`),
    ...(verdict.noise === 0 ? [] : [`    ${verdict.noise} lines of noise`]),
    ...reasons(replayed.skipped).map((text) => `    left out: ${text}`),
    ...faults.map((fault) => `    ! ${fault}`)
  ].join("\n")
}

const reasons = (skipped: Row["replayed"]["skipped"]): ReadonlyArray<string> =>
  [...Map.groupBy(skipped, ({ reason }) => reason)].map(([reason, of]) => `${of.length} x ${reason}`)

main(process.argv[2] ?? join(import.meta.dirname, "../../fixtures/wire"))
