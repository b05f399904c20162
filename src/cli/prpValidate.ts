/** `greenroom prp validate`: every value of a file judged by its own schema and rules. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type OutputClosed, UsageInvalid } from "../schema/errors.ts"
import type { PrpKind } from "../schema/prp/contract/kinds.ts"
import { isPrpKind, judgeAs, judgeValue, kindOfValue } from "../schema/prp/rules/judgeValue.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"
import { inputName, prpEntries, type PrpEntry, prpText } from "./prpInput.ts"
import { type Refusal, refusalLines, refusalOf, toldOf } from "./prpRefusals.ts"
import { shownLine } from "./shownText.ts"

export interface ValidateOptions {
  /** `-` is stdin. */
  readonly file: string
  /** What every value is; else each says so itself. */
  readonly kind: string | undefined
  readonly json: boolean
}

/** 1 when a value is refused, whether or not somebody reads why. */
export const prpValidate = Effect.fn("greenroom.prp.validate")(function* (
  options: ValidateOptions
): Effect.fn.Return<ExitCode, OutputClosed | UsageInvalid> {
  const { file, kind } = options
  if (kind !== undefined && !isPrpKind(kind)) {
    return yield* new UsageInvalid({ option: "--kind", reason: "no kind; `greenroom prp schema` lists them" })
  }
  const entries = prpEntries(yield* prpText(file))
  const refusals = entries.flatMap((entry) => refusalIn(entry, kind))
  const report = options.json ? jsonReport(entries, refusals) : textReport(file, kind, entries, refusals)
  yield* Effect.catchTag(stdoutStream().write(report), "OutputClosed", (closed) =>
    closed.systemCode === undefined ? Effect.void : Effect.fail(closed)
  )
  return refusals.length === 0 ? exitCodes.completed : exitCodes.failed
})

const refusalIn = ({ line, parsed }: PrpEntry, kind: PrpKind | undefined): ReadonlyArray<Refusal> => {
  const judged = Result.flatMap(parsed, (value) => (kind === undefined ? judgeValue(value) : judgeAs(kind, value)))
  return Result.isFailure(judged) ? [refusalOf(line, judged.failure)] : []
}

const jsonReport = (entries: ReadonlyArray<PrpEntry>, refusals: ReadonlyArray<Refusal>): string =>
  jsonLine({
    ok: refusals.length === 0,
    values: entries.length,
    refused: refusals.length,
    refusals: toldOf(refusals)
  })

const textReport = (
  file: string,
  kind: PrpKind | undefined,
  entries: ReadonlyArray<PrpEntry>,
  refusals: ReadonlyArray<Refusal>
): string => {
  const [only, ...more] = entries
  const name = shownLine(inputName(file))
  const value = only === undefined ? undefined : Result.getOrUndefined(only.parsed)
  const total =
    more.length > 0
      ? `${name}: ${entries.length} values, ${refusals.length} refused`
      : `${name}: ${refusals.length === 0 ? `valid, ${kind ?? kindOfValue(value)}` : "refused"}`
  return `${[...refusalLines(file, refusals), total].join("\n")}\n`
}
