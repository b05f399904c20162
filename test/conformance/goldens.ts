/** The golden files of a replayed run: `golden/NAME.snapshot.json` and `golden/NAME.summary.json` beside `NAME.json`. */
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Result from "effect/Result"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { reduceFixture } from "../../src/schema/prp/rules/reduceSession.ts"
import { goldenText, paritySummary } from "../../src/schema/prp/rules/sessionSnapshot.ts"

export const goldenFolder = "golden"

export interface GoldenVerdict {
  /** Golden files that are there. */
  readonly expected: number
  readonly equal: number
  readonly problems: ReadonlyArray<string>
}

const ends = [".snapshot.json", ".summary.json"] as const

/** `value` is what the file holds, when it is accepted. */
export const judgeGoldens = (path: string, value: unknown): GoldenVerdict => {
  const files = ends.map((end) => goldenFile(path, end))
  const expected = files.filter((file) => existsSync(file)).length
  if (expected === 0) return { expected, equal: 0, problems: [] }
  const texts = reducedTexts(value)
  if (texts === undefined) return { expected, equal: 0, problems: ["has golden files and cannot be reduced"] }
  const problems = files.flatMap((file, index) => {
    if (!existsSync(file)) return [`has no ${basename(file)}`]
    return readFileSync(file).equals(Buffer.from(texts[index] ?? "")) ? [] : [`${basename(file)} differs`]
  })
  return { expected, equal: ends.length - problems.length, problems }
}

/** Whether a fixture beside the folder has this golden file. */
export const isGoldenOfOne = (path: string): boolean =>
  ends.some(
    (end) => path.endsWith(end) && existsSync(join(dirname(path), "..", `${basename(path).slice(0, -end.length)}.json`))
  )

const goldenFile = (path: string, end: string): string =>
  join(dirname(path), goldenFolder, basename(path).replace(/\.json$/, end))

const reducedTexts = (value: unknown): ReadonlyArray<string> | undefined => {
  const fixture = decodePrp("paperclip.prp.fixture.v1", value)
  if (Result.isFailure(fixture)) return undefined
  const snapshot = reduceFixture(fixture.success)
  return [goldenText(snapshot), goldenText(paritySummary(snapshot))]
}
