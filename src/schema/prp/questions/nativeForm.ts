/**
 * A form of an agent as a question set, and the way back of its answers: what every adapter of questions makes.
 *
 * Guarantees: a form that cannot be asked whole is refused, never cut; an answer goes back only if it answers the set that was
 * asked, whoever judged it before; nothing is answered that nobody answered.
 */
import * as Result from "effect/Result"
import { shortText, utf8Bytes } from "../../characters.ts"
import { type PrpIssue, QuestionFormRefused, type QuestionResponseRefused } from "../../errors.ts"
import { limits } from "../../limits.ts"
import { decodePrp } from "../contract/decode.ts"
import type { QuestionAnswer, QuestionResponse, QuestionSet } from "../contract/question.ts"
import type { RuntimeRequestV2 } from "../contract/request.ts"
import type { NativeObject } from "../native.ts"
import { checkQuestionResponse } from "../rules/questionResponse.ts"
import { checkQuestionSet } from "../rules/questionSet.ts"

export interface NativeForm {
  readonly questionSet: QuestionSet
  /** What the agent gets for the response. */
  readonly answer: (response: QuestionResponse) => Result.Result<NativeObject, QuestionResponseRefused>
}

/** The answers of a response that was judged, in the order of their questions. */
export type GivenAnswers = ReadonlyMap<string, QuestionAnswer>

/** The form, if `candidate` is a question set that can be asked. `answer` makes the agent's own of the answers. */
export const nativeForm = (
  candidate: NativeObject,
  answer: (given: GivenAnswers) => NativeObject
): Result.Result<NativeForm, QuestionFormRefused> => {
  if (utf8Bytes(JSON.stringify(candidate)) > limits.questionSetBytesMax) {
    return formRefused([{ path: "", expectation: `Expected at most ${limits.questionSetBytesMax} bytes` }])
  }
  const set = Result.flatMap(decodePrp("paperclip.question_set.v1", candidate), checkQuestionSet)
  if (Result.isFailure(set)) return formRefused(set.failure.issues)
  return Result.succeed({
    questionSet: set.success,
    answer: (response) =>
      Result.map(checkQuestionResponse(set.success, response), ({ answers }) =>
        answer(new Map(Object.entries(answers)))
      )
  })
}

export const formRefused = (issues: ReadonlyArray<PrpIssue>) =>
  Result.fail(new QuestionFormRefused({ issues: issues.slice(0, limits.prpIssuesMax) }))

/** Nothing where the agent gave no text. */
export const given = (name: string, text: unknown): NativeObject =>
  typeof text === "string" && text !== "" ? { [name]: text } : {}

/** Of a button, which no agent names. */
export const submitLabel = "Submit answers"

/** Options have no ids of their own: their positions are their ids. */
export const optionId = (index: number): string => `option-${index + 1}`

/** What the options stand for, by their ids, for the options that were selected. */
export const selectedOf = <A>(values: ReadonlyArray<A>, { selectedOptionIds = [] }: QuestionAnswer): Array<A> =>
  selectedOptionIds.flatMap((id) => values.filter((_, index) => optionId(index) === id))

/** Who asked, and about what. */
export interface AskedBy {
  readonly requestId: string
  readonly origin: NonNullable<RuntimeRequestV2["origin"]>
  readonly turnId?: string
  readonly itemId?: string
}

/** The request that carries the form to whoever answers it. */
export const questionRequest = (by: AskedBy, { questionSet }: NativeForm): RuntimeRequestV2 => ({
  schema: "paperclip.runtime_request.v2",
  requestKind: "runtime",
  type: "input",
  status: "pending",
  prompt: shortText(
    questionSet.title ?? questionSet.questions[0]?.prompt ?? submitLabel,
    limits.shortTextCharactersMax
  ),
  input: questionSet,
  ...by
})
