/**
 * Whether a response answers its question set. Asked at both edges: where the answers of a person are taken, and again where
 * they are handed to the agent.
 */
import * as Result from "effect/Result"
import { type PrpIssue, QuestionResponseRefused } from "../../errors.ts"
import { limits } from "../../limits.ts"
import type { Question, QuestionAnswer, QuestionResponse, QuestionSet } from "../contract/question.ts"
import { answerTextIssues } from "./answerText.ts"

/**
 * The response without its empty answers, in the order of the questions. `set` has passed `checkQuestionSet`. An answer without
 * an option and with nothing but blanks as its text is empty.
 */
export const checkQuestionResponse = (
  set: QuestionSet,
  response: QuestionResponse
): Result.Result<QuestionResponse, QuestionResponseRefused> => {
  const given = givenAnswers(response)
  const asked = new Set(set.questions.map(({ id }) => id))
  const issues = [
    ...[...given].flatMap(([id, { path }]) =>
      asked.has(id) ? [] : [{ path, expectation: "Expected the id of a question of the set" }]
    ),
    ...set.questions.flatMap((question, index) => answerIssues(question, index, given.get(question.id)))
  ]
  if (issues.length > 0) {
    return Result.fail(new QuestionResponseRefused({ issues: issues.slice(0, limits.prpIssuesMax) }))
  }
  const answers = set.questions.flatMap(({ id }) => {
    const answer = given.get(id)?.answer
    return answer === undefined || isEmpty(answer) ? [] : [[id, answer] as const]
  })
  return Result.succeed({ schema: response.schema, answers: Object.fromEntries(answers) })
}

interface GivenAnswer {
  readonly answer: QuestionAnswer
  readonly path: string
}

/** The id of a question is a word of the peer: an issue names its position instead. */
const givenAnswers = ({ answers }: QuestionResponse): ReadonlyMap<string, GivenAnswer> =>
  new Map(
    Object.entries(answers).map(([id, answer], index) => [id, { answer, path: `/answers/(property ${index + 1})` }])
  )

const isEmpty = ({ selectedOptionIds = [], text = "", customText = "" }: QuestionAnswer): boolean =>
  selectedOptionIds.length === 0 && text.trim() === "" && customText.trim() === ""

const answerIssues = (
  question: Question,
  questionIndex: number,
  given: GivenAnswer | undefined
): ReadonlyArray<PrpIssue> => {
  if (given === undefined) return question.required ? [unanswered(questionIndex)] : []
  const { answer, path } = given
  const misplaced = question.answerMode === "text" ? misplacedInText(answer) : misplacedInSelect(question, answer)
  if (misplaced.length > 0) return misplaced.map((issue) => ({ ...issue, path: `${path}${issue.path}` }))
  if (isEmpty(answer)) return question.required ? [unanswered(questionIndex)] : []
  const name = question.answerMode === "text" ? "text" : "customText"
  const words = answer[name] ?? ""
  return words.trim() === "" ? [] : answerTextIssues(question.textValidation, words, `${path}/${name}`)
}

const unanswered = (questionIndex: number): PrpIssue => ({
  path: "/answers",
  expectation: `Expected an answer to question ${questionIndex + 1}`
})

const misplacedInText = ({ selectedOptionIds = [], customText }: QuestionAnswer): ReadonlyArray<PrpIssue> => [
  ...expecting(selectedOptionIds.length === 0, "/selectedOptionIds", "Expected no options for a question in words"),
  ...expecting(customText === undefined, "/customText", "Expected the words in text")
]

const misplacedInSelect = (
  question: Exclude<Question, { readonly answerMode: "text" }>,
  { selectedOptionIds = [], text, customText }: QuestionAnswer
): ReadonlyArray<PrpIssue> => {
  const offered = new Set(question.options.map(({ id }) => id))
  const single = question.answerMode === "single_select"
  const own = (customText ?? "").trim() === "" ? 0 : 1
  return [
    ...expecting(text === undefined, "/text", "Expected no text for a question with options"),
    ...selectedOptionIds.flatMap((id, index) =>
      expecting(offered.has(id), `/selectedOptionIds/${index}`, "Expected an option of the question")
    ),
    ...expecting(
      new Set(selectedOptionIds).size === selectedOptionIds.length,
      "/selectedOptionIds",
      "Expected each option once"
    ),
    ...expecting(
      customText === undefined || question.customAnswer !== undefined,
      "/customText",
      "Expected no words of one's own"
    ),
    ...expecting(!single || selectedOptionIds.length + own <= 1, "", "Expected one option, or words of one's own")
  ]
}

const expecting = (holds: boolean, path: string, expectation: string): ReadonlyArray<PrpIssue> =>
  holds ? [] : [{ path, expectation }]
