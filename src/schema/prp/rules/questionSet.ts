/** What a question set must be beyond its schema, so that every question can be asked and every answer be checked. */
import * as Result from "effect/Result"
import { type PrpIssue, QuestionSetRefused } from "../../errors.ts"
import { limits } from "../../limits.ts"
import type { Question, QuestionSet, TextValidation } from "../contract/question.ts"
import { answerPattern } from "./answerPattern.ts"

/** The same set, if its ids are unique, its bounds in order and its patterns of a kind that can be checked in bounded time. */
export const checkQuestionSet = (set: QuestionSet): Result.Result<QuestionSet, QuestionSetRefused> => {
  const issues = [
    ...repeatedIds(set.questions, "/questions"),
    ...set.questions.flatMap((question, index) => questionIssues(question, `/questions/${index}`))
  ]
  return issues.length === 0
    ? Result.succeed(set)
    : Result.fail(new QuestionSetRefused({ issues: issues.slice(0, limits.prpIssuesMax) }))
}

const repeatedIds = (items: ReadonlyArray<{ readonly id: string }>, path: string): ReadonlyArray<PrpIssue> => {
  const firstAt = new Map<string, number>()
  return items.flatMap(({ id }, index) => {
    const first = firstAt.get(id)
    if (first === undefined) firstAt.set(id, index)
    return first === undefined
      ? []
      : [{ path: `${path}/${index}/id`, expectation: `Expected another id than that of entry ${first}` }]
  })
}

const questionIssues = (question: Question, path: string): ReadonlyArray<PrpIssue> => [
  ...repeatedIds(question.options ?? [], `${path}/options`),
  ...(question.textValidation === undefined ? [] : validationIssues(question.textValidation, `${path}/textValidation`))
]

const validationIssues = (
  { minLength, maxLength, minimum, maximum, pattern }: TextValidation,
  path: string
): ReadonlyArray<PrpIssue> => [
  ...inOrder(minLength, maxLength, `${path}/minLength`, "maxLength"),
  ...inOrder(minimum, maximum, `${path}/minimum`, "maximum"),
  ...(pattern === undefined ? [] : patternIssues(pattern, `${path}/pattern`))
]

const inOrder = (
  least: number | undefined,
  most: number | undefined,
  path: string,
  upper: string
): ReadonlyArray<PrpIssue> =>
  least === undefined || most === undefined || least <= most
    ? []
    : [{ path, expectation: `Expected no more than ${upper}` }]

const patternIssues = (pattern: string, path: string): ReadonlyArray<PrpIssue> => {
  const compiled = answerPattern(pattern)
  return Result.isFailure(compiled) ? [{ path, expectation: compiled.failure }] : []
}
