/** Everything that a folder of schemas and fixtures shows, as lines to read and as figures. */
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Comparison, compareSchemas, type Disagreement } from "./compare.ts"
import { fixtureFolder, type FixtureRow, judgeFixtures } from "./fixtures.ts"
import { readReference } from "./reference.ts"

export interface Options {
  readonly directory: string
  /** Of each schema. */
  readonly instances: number
  readonly seed: number
}

export interface Figures {
  readonly schemas: number
  readonly instances: number
  /** On instances and on values of fixtures. */
  readonly disagreements: number
  readonly unexplained: number
  readonly fixtures: number
  /** Values in the fixtures that both judged. */
  readonly values: number
  readonly goldens: number
  /** What else is not as it must be. */
  readonly problems: number
}

export interface Report {
  /** Everything was there to be compared, and nothing is unexplained. */
  readonly ok: boolean
  readonly figures: Figures
}

/** `say` gets each line when it is known. Throws nothing on a folder that is missing, empty or broken: it says so. */
export const reportOn = ({ directory, instances, seed }: Options, say: (line: string) => void): Report => {
  const schemas = join(directory, "schemas")
  const missing = [directory, schemas].find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
  if (missing !== undefined) {
    say(`problem: ${missing} is no folder`)
    return reportOf([], [], 1)
  }
  const reference = readReference(schemas)
  say(schemaLine("schema", "instances", "accepted", "differ", "unexplained", ""))
  const comparisons = each(compareSchemas(reference, instances, seed), (row) => sayComparison(row, say))
  say("")
  say(fixtureLine("fixture", "values", "differ", "goldens", "verdict"))
  const rows = each(judgeFixtures(reference, fixtureFolder(directory)), (row) => sayFixture(row, say))
  const lacks = [
    ...(comparisons.some(({ instances }) => instances > 0) ? [] : ["no schema was compared"]),
    ...(rows.some(({ values }) => values > 0) ? [] : ["no fixture was judged"])
  ]
  for (const lack of lacks) say(`problem: ${lack}`)
  sayOthers(directory, say)
  sayReasons([...comparisons, ...rows], say)
  return reportOf(comparisons, rows, lacks.length)
}

const each = <Row>(rows: Iterable<Row>, told: (row: Row) => void): ReadonlyArray<Row> => {
  const all: Array<Row> = []
  for (const row of rows) {
    told(row)
    all.push(row)
  }
  return all
}

const reportOf = (comparisons: ReadonlyArray<Comparison>, rows: ReadonlyArray<FixtureRow>, lacks: number): Report => {
  const compared = comparisons.filter(({ instances }) => instances > 0)
  const disagreements = [...comparisons, ...rows].flatMap((row) => row.disagreements)
  const figures = {
    schemas: compared.length,
    instances: sum(compared.map((row) => row.instances)),
    disagreements: disagreements.length,
    unexplained: disagreements.filter(isUnexplained).length,
    fixtures: rows.length,
    values: sum(rows.map(({ values }) => values)),
    goldens: sum(rows.map(({ goldens }) => goldens)),
    problems:
      lacks +
      comparisons.filter(({ problem }) => problem !== undefined).length +
      sum(rows.map((row) => row.problems.length))
  }
  return { ok: figures.unexplained === 0 && figures.problems === 0, figures }
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const isUnexplained = ({ reasons }: Disagreement): boolean => reasons.length === 0

const sayComparison = (
  { schema, instances, accepted, disagreements, problem }: Comparison,
  say: (line: string) => void
) => {
  const unexplained = disagreements.filter(isUnexplained)
  say(
    schemaLine(
      schema,
      instances,
      accepted,
      disagreements.length,
      unexplained.length,
      problem === undefined ? "" : `! ${problem}`
    )
  )
  for (const disagreement of unexplained.slice(0, shownMax)) say(`  unexplained: ${disagreementText(disagreement)}`)
}

const sayFixture = (
  { file, values, disagreements, goldens, verdict, problems }: FixtureRow,
  say: (line: string) => void
) => {
  say(fixtureLine(file, values, disagreements.length, goldens, verdict))
  for (const problem of problems) say(`  ! ${problem}`)
  for (const disagreement of disagreements.filter(isUnexplained).slice(0, shownMax))
    say(`  unexplained: ${disagreementText(disagreement)}`)
}

/** What is in the folder and was not looked at. */
const sayOthers = (directory: string, say: (line: string) => void) => {
  if (existsSync(join(directory, "provider-schemas")))
    say("\nnot compared: provider-schemas, which are no part of the contract between a runner and its host")
}

const sayReasons = (
  rows: ReadonlyArray<{ readonly disagreements: ReadonlyArray<Disagreement> }>,
  say: (line: string) => void
) => {
  const reasons = rows.flatMap((row) => row.disagreements).flatMap((disagreement) => disagreement.reasons)
  for (const [reason, all] of Map.groupBy(reasons, (reason) => reason)) say(`explained: ${reason}: ${all.length}`)
}

const shownMax = 3
const shownCharactersMax = 400

const disagreementText = ({ instance, reference }: Disagreement): string =>
  `${reference ? "the reference accepts and we refuse" : "we accept and the reference refuses"} ${JSON.stringify(instance).slice(0, shownCharactersMax)}`

type Cell = string | number

const schemaLine = (schema: Cell, ...cells: ReadonlyArray<Cell>): string => line(40, schema, cells)

const fixtureLine = (file: Cell, ...cells: ReadonlyArray<Cell>): string => line(72, file, cells)

const line = (width: number, name: Cell, cells: ReadonlyArray<Cell>): string =>
  [String(name).padEnd(width), ...cells.map((cell) => (typeof cell === "number" ? String(cell) : cell).padStart(11))]
    .join(" ")
    .trimEnd()
