/** Questions to a person in a form that every adapter can show, and the answers. Both are closed. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { Id, ShortText } from "./primitives.ts"
import { unique } from "./unique.ts"

const Title = textOf(0, limits.questionTitleCharactersMax)
const AnswerText = textOf(0, limits.answerCharactersMax)
const AnswerLength = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limits.answerCharactersMax }))

export const QuestionOption = Schema.Struct({
  id: Id,
  label: textOf(1, limits.questionTitleCharactersMax),
  description: Schema.optionalKey(ShortText),
  recommended: Schema.optionalKey(Schema.Boolean)
})
export type QuestionOption = typeof QuestionOption.Type

/** Where it stands, an answer in words is admitted beside the options. */
export const CustomAnswer = Schema.Struct({
  enabled: Schema.Literal(true),
  label: Schema.optionalKey(Title),
  placeholder: Schema.optionalKey(Title)
})
export type CustomAnswer = typeof CustomAnswer.Type

/** Of an answer in words. Lengths are characters. */
export const TextValidation = Schema.Struct({
  minLength: Schema.optionalKey(AnswerLength),
  maxLength: Schema.optionalKey(AnswerLength),
  pattern: Schema.optionalKey(textOf(0, limits.answerPatternCharactersMax)),
  inputType: Schema.optionalKey(Schema.Literals(["text", "number", "integer"])),
  minimum: Schema.optionalKey(Schema.Finite),
  maximum: Schema.optionalKey(Schema.Finite)
})
export type TextValidation = typeof TextValidation.Type

const asked = {
  id: Id,
  header: Schema.optionalKey(Title),
  prompt: textOf(1, limits.shortTextCharactersMax),
  helpText: Schema.optionalKey(ShortText),
  required: Schema.Boolean,
  textValidation: Schema.optionalKey(TextValidation)
}

const options = Schema.Array(QuestionOption)

export const TextQuestion = Schema.Struct({
  ...asked,
  answerMode: Schema.Literal("text"),
  options: Schema.optionalKey(options.check(Schema.isMaxLength(0)))
})

const choice = {
  ...asked,
  options: options.check(Schema.isMinLength(1), Schema.isMaxLength(limits.questionOptionsMax)),
  customAnswer: Schema.optionalKey(CustomAnswer)
}
export const SingleSelectQuestion = Schema.Struct({ ...choice, answerMode: Schema.Literal("single_select") })
export const MultiSelectQuestion = Schema.Struct({ ...choice, answerMode: Schema.Literal("multi_select") })

export const Question = Schema.Union([SingleSelectQuestion, MultiSelectQuestion, TextQuestion]).annotate({
  expected: "a question with answerMode single_select, multi_select or text"
})
export type Question = typeof Question.Type

export const QuestionSet = Schema.Struct({
  schema: Schema.Literal("paperclip.question_set.v1"),
  title: Schema.optionalKey(Title),
  description: Schema.optionalKey(ShortText),
  submitLabel: Schema.optionalKey(textOf(0, limits.submitLabelCharactersMax)),
  questions: Schema.Array(Question).check(Schema.isMinLength(1), Schema.isMaxLength(limits.questionsMax))
})
export type QuestionSet = typeof QuestionSet.Type

export const QuestionAnswer = Schema.Struct({
  selectedOptionIds: Schema.optionalKey(Schema.Array(Id).check(unique)),
  text: Schema.optionalKey(AnswerText),
  customText: Schema.optionalKey(AnswerText)
})
export type QuestionAnswer = typeof QuestionAnswer.Type

/** Answers by the id of their question. */
export const QuestionResponse = Schema.Struct({
  schema: Schema.Literal("paperclip.question_response.v1"),
  answers: Schema.Record(Id, QuestionAnswer)
})
export type QuestionResponse = typeof QuestionResponse.Type
