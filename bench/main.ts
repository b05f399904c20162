/**
 * `npm run bench -- [bench ...]`: runs the named benches (default: all in the table), tells a person on stderr, and ends with
 * one line of JSON on stdout, `{"ok":boolean,"figures":{...}}`. Exit code 0 when every figure is within its goal, else 1.
 */
import * as Effect from "effect/Effect"
import { type Definition, definitions } from "./definitions.ts"

type Figures = Record<string, number>

/** What `bench/<bench>.ts` exports. */
interface Bench {
  readonly run: (() => Promise<Figures>) | Effect.Effect<Figures, unknown>
}

const measure = async (bench: string): Promise<Figures> => {
  const { run }: Bench = await import(`./${bench}.ts`)
  return Effect.isEffect(run) ? Effect.runPromise(run) : run()
}

const isReached = ({ direction, goal }: Definition, value: number | undefined): boolean =>
  value !== undefined && (direction === "at most" ? value <= goal : value >= goal)

const report = (definition: Definition, value: number | undefined): boolean => {
  const reached = isReached(definition, value)
  const { direction, figure, goal, measures, n, rival } = definition
  const shown = value === undefined ? "not measured" : value.toPrecision(4)
  const beside = rival === undefined ? "" : `; beside ${rival}`
  console.error(`${reached ? "ok  " : "MISS"} ${figure} ${shown}, ${direction} ${goal}: ${measures}, n ${n}${beside}`)
  return reached
}

const all = [...new Set(definitions.map(({ bench }) => bench))]
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all
const unknown = wanted.filter((bench) => !all.includes(bench))
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(", ")}; there are ${all.join(", ")}`)
  process.exit(2)
}

let ok = true
const figures: Figures = {}
for (const bench of wanted) {
  console.error(`bench ${bench}`)
  const measured = await measure(bench)
  Object.assign(figures, measured)
  for (const definition of definitions) {
    if (definition.bench === bench && !report(definition, measured[definition.figure])) ok = false
  }
}
console.log(JSON.stringify({ ok, figures }))
process.exitCode = ok ? 0 : 1
