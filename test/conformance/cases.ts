/** A file of cases of one kind: each judged by both, and to be accepted, or refused with the rejection that it tells. */
import * as Result from "effect/Result"
import { type Case, readCaseFile, valueOf } from "../../scripts/prp/caseFile.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import type { PrpKind } from "../../src/schema/prp/contract/kinds.ts"
import type { Disagreement } from "./compare.ts"
import type { Judges } from "./judges.ts"

export interface JudgedCases {
  readonly values: number
  readonly disagreements: ReadonlyArray<Disagreement>
  readonly problems: ReadonlyArray<string>
}

/** Throws when the text is no such file. */
export const judgeCases = ({ judge }: Judges, text: string): JudgedCases => {
  const { kind, base, cases } = readCaseFile(text)
  const judged = cases.map((one) => {
    const value = valueOf(base, one)
    return { judgement: judge(kind, value), problem: problemOf(kind, value, one) }
  })
  return {
    values: judged.filter(({ judgement }) => judgement !== undefined).length,
    disagreements: judged.flatMap(({ judgement }) => judgement?.disagreement ?? []),
    problems: judged.flatMap(({ problem }) => problem ?? [])
  }
}

const problemOf = (kind: PrpKind, value: unknown, { name, rejection }: Case): string | undefined => {
  const decoded = decodePrp(kind, value)
  const code = Result.isFailure(decoded) ? decoded.failure.code : "accepted"
  const expected = rejection?.code ?? "accepted"
  return code === expected ? undefined : `${name}: ${code}, not ${expected}`
}
