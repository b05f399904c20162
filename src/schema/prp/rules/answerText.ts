/** An answer in words against what its question demands of it. */
import * as Result from "effect/Result"
import { characterCount } from "../../characters.ts"
import type { PrpIssue } from "../../errors.ts"
import type { TextValidation } from "../contract/question.ts"
import { answerPattern, matchAnswer } from "./answerPattern.ts"

/** Lengths are characters. Bounds of a number count only where a number is asked for. */
export const answerTextIssues = (
  validation: TextValidation | undefined,
  words: string,
  path: string
): ReadonlyArray<PrpIssue> => {
  if (validation === undefined) return []
  const expectations = [
    ...lengthExpectations(validation, words),
    ...numberExpectations(validation, words),
    ...(validation.pattern === undefined ? [] : patternExpectations(validation.pattern, words))
  ]
  return expectations.map((expectation) => ({ path, expectation }))
}

const lengthExpectations = (
  { minLength = 0, maxLength = Infinity }: TextValidation,
  words: string
): ReadonlyArray<string> => {
  const count = characterCount(words)
  return [
    ...(count < minLength ? [`Expected at least ${minLength} characters`] : []),
    ...(count > maxLength ? [`Expected at most ${maxLength} characters`] : [])
  ]
}

const numberExpectations = (
  { inputType = "text", minimum = -Infinity, maximum = Infinity }: TextValidation,
  words: string
): ReadonlyArray<string> => {
  if (inputType === "text") return []
  const number = Number(words)
  if (!Number.isFinite(number)) return ["Expected a number"]
  return [
    ...(inputType === "integer" && !Number.isInteger(number) ? ["Expected a whole number"] : []),
    ...(number < minimum ? [`Expected at least ${minimum}`] : []),
    ...(number > maximum ? [`Expected at most ${maximum}`] : [])
  ]
}

/** A pattern that cannot be checked is matched by nothing. */
const patternExpectations = (source: string, words: string): ReadonlyArray<string> => {
  const pattern = answerPattern(source)
  const verdict = Result.isSuccess(pattern) ? matchAnswer(pattern.success, words) : "undecided"
  switch (verdict) {
    case "matches":
      return []
    case "differs":
      return ["Expected text that matches the pattern"]
    case "undecided":
      return ["Expected text that can be checked against the pattern within bounds"]
  }
}
