/** Refused values of a file, for people and for programs: places and expectations, and nothing of the values. */
import type { PrpIssue } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Refused } from "../schema/prp/rules/judgeValue.ts"
import { inputName } from "./prpInput.ts"
import { shownLine } from "./shownText.ts"

export interface Refusal {
  readonly line: number | null
  readonly code: string
  /** What the value was judged as. */
  readonly kind: string
  readonly issues: ReadonlyArray<PrpIssue>
}

export const refusalOf = (line: number | undefined, refused: Refused): Refusal => ({
  line: line ?? null,
  code: refused.code,
  kind: refused._tag === "PrpRejected" ? refused.kind : kindOfRule[refused._tag],
  issues: refused.issues
})

const kindOfRule = { QuestionSetRefused: "question set", QuestionResponseRefused: "question response" } as const

/** Those that are told: the others are only counted. */
export const toldOf = (refusals: ReadonlyArray<Refusal>): ReadonlyArray<Refusal> =>
  refusals.slice(0, limits.prpRefusalsToldMax)

/** `FILE:LINE: CODE (KIND)`, and a line for each place. */
export const refusalLines = (file: string, refusals: ReadonlyArray<Refusal>): ReadonlyArray<string> => [
  ...toldOf(refusals).flatMap(({ line, code, kind, issues }) => [
    shownLine(`${inputName(file)}${line === null ? "" : `:${line}`}: ${code} (${kind})`),
    ...issues.map(({ path, expectation }) => `  ${shownLine(`${path === "" ? "the value" : path}: ${expectation}`)}`)
  ]),
  ...(refusals.length > limits.prpRefusalsToldMax
    ? [`and ${refusals.length - limits.prpRefusalsToldMax} more refused values`]
    : [])
]
