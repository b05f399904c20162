/** `greenroom prp reduce`: a recorded run reduced to what it tells of its session. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type OutputClosed, PrpRejected, type UsageInvalid } from "../schema/errors.ts"
import { decodePrp } from "../schema/prp/contract/decode.ts"
import type { PrpValue } from "../schema/prp/contract/kinds.ts"
import { checkFixtureBindings } from "../schema/prp/rules/fixtureBindings.ts"
import { kindOfValue, type Refused } from "../schema/prp/rules/judgeValue.ts"
import { emptySession, reduceFixture, reduceSession } from "../schema/prp/rules/reduceSession.ts"
import {
  goldenText,
  type ParitySummary,
  paritySummary,
  type SessionSnapshot
} from "../schema/prp/rules/sessionSnapshot.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { escapedText, jsonLine } from "./jsonLine.ts"
import { stderrStream, stdoutStream } from "./outputStream.ts"
import { inputName, prpEntries, type PrpEntry, prpText } from "./prpInput.ts"
import { type Refusal, refusalLines, refusalOf } from "./prpRefusals.ts"

export interface ReduceOptions {
  /** `-` is stdin. */
  readonly file: string
  readonly summary: boolean
  readonly json: boolean
}

/**
 * Writes what a golden file of the run holds, byte by byte; on a terminal without what could forge a line.
 *
 * Of events alone neither identity nor capabilities are known; they must be of one run.
 */
export const prpReduce = Effect.fn("greenroom.prp.reduce")(function* ({
  file,
  summary,
  json
}: ReduceOptions): Effect.fn.Return<ExitCode, OutputClosed | UsageInvalid> {
  const reduced = reducedFrom(inputName(file), prpEntries(yield* prpText(file)))
  if (Result.isFailure(reduced)) {
    yield* stderrStream().write(`${refusalLines(file, reduced.failure).join("\n")}\n`)
    return exitCodes.failed
  }
  const stdout = stdoutStream()
  const value = summary ? reduced.success.summary : reduced.success.snapshot
  const text = goldenText(value)
  yield* stdout.write(json ? jsonLine(value) : stdout.isTerminal ? escapedText(text) : text)
  return exitCodes.completed
})

interface Reduced {
  readonly snapshot: SessionSnapshot
  readonly summary: ParitySummary
}

/** Exported for tests. */
export const reducedFrom = (
  name: string,
  entries: ReadonlyArray<PrpEntry>
): Result.Result<Reduced, ReadonlyArray<Refusal>> => {
  const [only, ...more] = entries
  const document = more.length === 0 && only !== undefined && !isEvent(only) ? only : undefined
  return document === undefined ? reducedEvents(name, entries) : reducedFixture(document)
}

const isEvent = ({ parsed }: PrpEntry): boolean => {
  const kind = kindOfValue(Result.getOrUndefined(parsed)) ?? ""
  return kind === "event" || kind.startsWith("paperclip.prp.event.")
}

const reducedFixture = ({ line, parsed }: PrpEntry): Result.Result<Reduced, ReadonlyArray<Refusal>> => {
  const fixture = Result.flatMap(parsed, (value) =>
    Result.flatMap(decodePrp("paperclip.prp.fixture.v1", value), checkFixtureBindings)
  )
  if (Result.isFailure(fixture)) return Result.fail([refusalOf(line, fixture.failure)])
  const snapshot = reduceFixture(fixture.success)
  return Result.succeed({ snapshot, summary: paritySummary(snapshot) })
}

const reducedEvents = (
  name: string,
  entries: ReadonlyArray<PrpEntry>
): Result.Result<Reduced, ReadonlyArray<Refusal>> => {
  const events: Array<PrpValue<"event">> = []
  const refusals: Array<Refusal> = []
  for (const { line, parsed } of entries) {
    const event: Result.Result<PrpValue<"event">, Refused> = Result.flatMap(parsed, (value) =>
      Result.flatMap(decodePrp("event", value), (decoded) => sameRun(events[0], decoded))
    )
    if (Result.isFailure(event)) refusals.push(refusalOf(line, event.failure))
    else events.push(event.success)
  }
  if (refusals.length > 0) return Result.fail(refusals)
  const snapshot = reduceSession(emptySession(name, null, null), events)
  return Result.succeed({ snapshot, summary: { ...paritySummary(snapshot), runId: events[0]?.runId ?? null } })
}

const sameRun = (first: PrpValue<"event"> | undefined, event: PrpValue<"event">) =>
  first === undefined || first.runId === event.runId
    ? Result.succeed(event)
    : Result.fail(
        new PrpRejected({
          code: "binding_mismatch",
          kind: "event",
          issues: [{ path: "/runId", expectation: "Expected the run of the first event" }]
        })
      )
