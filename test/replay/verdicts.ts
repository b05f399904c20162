/**
 * What is expected of each transcript of a corpus, as data beside it: `verdicts.json`, by folder and file. A transcript
 * without a verdict is checked for what must hold of all.
 */
import * as Schema from "effect/Schema"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Checked } from "./check.ts"
import type { Replayed } from "./replay.ts"
import { exitText, outcomeText, requestTexts } from "./words.ts"

export const Verdict = Schema.Struct({
  /** `opened`, the name of the failure, or `left out`: nothing of it can be played. */
  open: Schema.String,
  /** The outcome of each prompt. */
  prompts: Schema.Array(Schema.String),
  /** How each request of the agent ended. */
  requests: Schema.Array(Schema.String),
  /** Updates that came after the turn or the tool call that they belong to. */
  late: Schema.Int,
  /** Lines of the agent that are no frames. */
  noise: Schema.Int,
  /** How the agent ended, if the session was opened. */
  exit: Schema.NullOr(Schema.String)
})
export type Verdict = typeof Verdict.Type

const Verdicts = Schema.Record(Schema.String, Verdict)

export const readVerdicts = (root: string): Readonly<Record<string, Verdict>> => {
  const file = join(root, "verdicts.json")
  return existsSync(file) ? Schema.decodeUnknownSync(Verdicts)(JSON.parse(readFileSync(file, "utf8"))) : {}
}

export const verdictOf = (replayed: Replayed, checked: Checked): Verdict => ({
  open: replayed.openError?._tag ?? (replayed.isPlayed ? "opened" : "left out"),
  prompts: replayed.turns.map(({ outcome }) => outcomeText(outcome)),
  requests: requestTexts(replayed),
  late: checked.late,
  noise: replayed.noiseLines,
  exit: replayed.report === undefined ? null : exitText(replayed.report.exit)
})

/** Sentences, empty when they agree. */
export const disagreements = (expected: Verdict, actual: Verdict): ReadonlyArray<string> => {
  const said = (value: unknown) => JSON.stringify(value)
  return (Object.keys(Verdict.fields) as ReadonlyArray<keyof Verdict>)
    .filter((key) => said(expected[key]) !== said(actual[key]))
    .map((key) => `${key}: expected ${said(expected[key])}, got ${said(actual[key])}`)
}
