/**
 * Questions of Codex's tool `request_user_input`: `{questions: [{id, header, question, isOther, isSecret, options}]}`, to be
 * answered with `{answers: {ID: {answers: [TEXT]}}}`, where an option is told by its label.
 */
import type * as Result from "effect/Result"
import type { QuestionFormRefused } from "../../errors.ts"
import type { QuestionAnswer } from "../contract/question.ts"
import { nativeAt, type NativeObject } from "../native.ts"
import { formRefused, given, type NativeForm, nativeForm, optionId, selectedOf, submitLabel } from "./nativeForm.ts"

/** A question whose answer is to be kept secret is refused: answers are recorded. One that does not say so is optional. */
export const userInputForm = (params: unknown): Result.Result<NativeForm, QuestionFormRefused> => {
  const questions = listAt(params, "questions")
  const secret = questions.findIndex((question) => nativeAt(question, "isSecret") === true)
  if (secret !== -1) {
    return formRefused([
      { path: `/questions/${secret}/isSecret`, expectation: "Expected a question that is not secret" }
    ])
  }
  const labels = new Map(questions.map((question) => [nativeAt(question, "id"), labelsOf(question)]))
  return nativeForm(
    {
      schema: "paperclip.question_set.v1",
      ...given("title", nativeAt(params, "title")),
      ...given("description", nativeAt(params, "description")),
      submitLabel,
      questions: questions.map(questionOf)
    },
    (answers) => ({
      answers: Object.fromEntries(
        [...answers].map(([id, answer]) => [id, { answers: wordsOf(labels.get(id) ?? [], answer) }])
      )
    })
  )
}

const listAt = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const list = nativeAt(value, name)
  return Array.isArray(list) ? list : []
}

const labelsOf = (question: unknown): ReadonlyArray<unknown> =>
  listAt(question, "options").map((option) => nativeAt(option, "label"))

const questionOf = (question: unknown): NativeObject => {
  const options = listAt(question, "options")
  const asked = {
    id: nativeAt(question, "id"),
    ...given("header", nativeAt(question, "header")),
    prompt: nativeAt(question, "question"),
    required: nativeAt(question, "required") === true
  }
  if (options.length === 0) return { ...asked, answerMode: "text" }
  return {
    ...asked,
    answerMode: nativeAt(question, "multiSelect") === true ? "multi_select" : "single_select",
    options: options.map((option, index) => ({
      id: optionId(index),
      label: nativeAt(option, "label"),
      ...given("description", nativeAt(option, "description"))
    })),
    ...(nativeAt(question, "isOther") === true ? { customAnswer: { enabled: true } } : {})
  }
}

const wordsOf = (labels: ReadonlyArray<unknown>, answer: QuestionAnswer): ReadonlyArray<unknown> => [
  ...selectedOf(labels, answer),
  ...[answer.text, answer.customText].filter((words) => words !== undefined && words.trim() !== "")
]
