/**
 * One frame through everything that reads frames from outside. Nothing may throw; whatever is refused is refused by a typed
 * error with bounded issues; what is compiled judges as its schema does.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { makeFrameDecoder } from "../../src/schema/acp/frame.ts"
import { sessionUpdateOf } from "../../src/schema/acp/protocol.ts"
import {
  PrpRejected,
  QuestionFormRefused,
  QuestionResponseRefused,
  QuestionSetRefused,
  ResolutionRejected
} from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { acceptorOf } from "../../src/schema/prp/contract/acceptor.ts"
import { decodePrp, decodePrpText } from "../../src/schema/prp/contract/decode.ts"
import { prpFamilies, type PrpKind, prpSchemas } from "../../src/schema/prp/contract/kinds.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { questionForm } from "../../src/schema/prp/questions/questionForm.ts"
import { checkFixtureBindings, validateFixture } from "../../src/schema/prp/rules/fixtureBindings.ts"
import { judgeValue } from "../../src/schema/prp/rules/judgeValue.ts"
import { checkQuestionResponse } from "../../src/schema/prp/rules/questionResponse.ts"
import { checkQuestionSet } from "../../src/schema/prp/rules/questionSet.ts"
import { emptySession, reduceFixture, reduceSession } from "../../src/schema/prp/rules/reduceSession.ts"
import { judgeResolution } from "../../src/schema/prp/rules/requestResolution.ts"
import { goldenText, paritySummary } from "../../src/schema/prp/rules/sessionSnapshot.ts"
import { samples } from "../schema/prp/contract/samples.ts"
import type { Frame } from "./frames.ts"

/** Refused without a typed error, or with one that is not bounded. */
export class Untyped extends Error {}

/** Compiled and interpreted, a schema gives two verdicts. */
export class Drifted extends Error {}

const decoder = new TextDecoder()

/** The frame as it is read where it arrives, and no more. */
export const decodeFrame = ({ target, bytes }: Frame): void => {
  if (target === "acp") framesOf([bytes])
  else refusedWell(decodePrpText(target, decoder.decode(bytes)))
}

/** By everything that reads such frames. Throws what it did wrong. */
export const judgeFrame = ({ target, bytes }: Frame): void => {
  if (target === "acp") return judgeOutput(bytes)
  const text = decoder.decode(bytes)
  const decoded = refusedWell(decodePrpText(target, text))
  if (target === "paperclip.prp.fixture.v1") {
    refusedWell(validateFixture(text, (json) => decodePrpText("paperclip.prp.fixture.v1", json)))
  }
  if (Result.isFailure(decoded) && decoded.failure.code === "invalid_json") return
  judgeParsed(target, JSON.parse(text))
}

/** The value of a frame that could be parsed. */
const judgeParsed = (kind: PrpKind, value: unknown): void => {
  refusedWell(decodePrp(kind, value))
  refusedWell(judgeValue(value))
  for (const request of requests) refusedWell(judgeResolution(request, "turn", value))
  for (const method of ["elicitation/create", "item/tool/requestUserInput"]) refusedWell(questionForm(method, value))
  judgeByRules(value)
  checkDrift(kind, value)
}

const judgeByRules = (value: unknown): void => {
  const fixture = decodePrp("paperclip.prp.fixture.v1", value)
  if (Result.isSuccess(fixture)) {
    refusedWell(checkFixtureBindings(fixture.success))
    const snapshot = reduceFixture(fixture.success)
    goldenText(snapshot)
    goldenText(paritySummary(snapshot))
  }
  const event = decodePrp("event", value)
  if (Result.isSuccess(event))
    goldenText(reduceSession(emptySession("fuzz", null, null), [event.success, event.success]))
  const set = decodePrp("paperclip.question_set.v1", value)
  if (Result.isSuccess(set) && Result.isSuccess(refusedWell(checkQuestionSet(set.success)))) {
    refusedWell(checkQuestionResponse(set.success, response))
  }
  const answered = decodePrp("paperclip.question_response.v1", value)
  if (Result.isSuccess(answered)) refusedWell(checkQuestionResponse(questionSet, answered.success))
}

const questionSet = Result.getOrThrow(decodePrp("paperclip.question_set.v1", samples["paperclip.question_set.v1"]))
const response = Result.getOrThrow(
  decodePrp("paperclip.question_response.v1", samples["paperclip.question_response.v1"])
)

const requests = (["command_approval", "user_input", "elicitation"] as const).map((kind) => ({
  kind,
  status: "pending" as const,
  turnId: "turn",
  questionSet: kind === "user_input" ? questionSet : undefined
}))

const typed = [PrpRejected, QuestionSetRefused, QuestionResponseRefused, QuestionFormRefused, ResolutionRejected]

const refusedWell = <Value, Failure>(result: Result.Result<Value, Failure>): Result.Result<Value, Failure> => {
  if (Result.isSuccess(result)) return result
  const { failure } = result
  if (!typed.some((Refusal) => failure instanceof Refusal)) throw new Untyped("refused without a typed error")
  const issues: unknown = Reflect.get(Object(failure), "issues")
  if (issues !== undefined && !isBounded(issues)) throw new Untyped("issues that are not bounded")
  return result
}

const isBounded = (issues: unknown): boolean =>
  Array.isArray(issues) &&
  issues.length > 0 &&
  issues.length <= limits.prpIssuesMax &&
  issues.every(
    ({ path, expectation }: { readonly path: unknown; readonly expectation: unknown }) =>
      typeof path === "string" &&
      path.length <= limits.prpPathCharactersMax &&
      typeof expectation === "string" &&
      expectation.length <= limits.prpExpectationCharactersMax
  )

const strict = { onExcessProperty: "error" } as const

const checkDrift = (kind: PrpKind, value: unknown): void => {
  const id = kind in prpFamilies ? nativeAt(value, "schema") : kind
  const judges = typeof id === "string" ? bothJudges.get(id) : undefined
  if (judges === undefined) return
  if (judges.accepts(value) !== Result.isSuccess(judges.decode(value, strict))) {
    throw new Drifted(`two verdicts on a ${kind}`)
  }
}

const bothJudges = new Map(
  Object.entries<Schema.ConstraintDecoder<unknown>>(prpSchemas).map(([id, schema]) => [
    id,
    { accepts: acceptorOf(schema.ast), decode: Schema.decodeUnknownResult(schema) }
  ])
)

const frameTags: ReadonlySet<string> = new Set(["Request", "Notification", "Response", "Invalid", "Oversized"])

/** In one piece, and in two. Both must give as many frames. */
const judgeOutput = (bytes: Uint8Array): void => {
  const whole = framesOf([bytes])
  const middle = bytes.length >> 1
  const halves = framesOf([bytes.subarray(0, middle), bytes.subarray(middle)])
  if (whole !== halves) throw new Untyped(`${whole} frames in one piece, ${halves} in two`)
}

const framesOf = (pieces: ReadonlyArray<Uint8Array>): number => {
  const frames = makeFrameDecoder()
  const read = [...pieces.flatMap((piece) => frames.push(piece)), ...frames.end()]
  for (const frame of read) {
    if (!frameTags.has(frame._tag)) throw new Untyped("a frame of no kind")
    if (frame._tag === "Notification" || frame._tag === "Request") {
      sessionUpdateOf(frame.params)
      refusedWell(questionForm(frame.method, frame.params))
    }
  }
  return read.length
}
