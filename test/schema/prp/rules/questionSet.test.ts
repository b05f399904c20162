import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { limits } from "../../../../src/schema/limits.ts"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import { checkQuestionSet } from "../../../../src/schema/prp/rules/questionSet.ts"

const text = (id: string, textValidation: object = {}) => ({
  id,
  prompt: "p",
  required: true,
  answerMode: "text",
  textValidation
})

const select = (id: string, ...options: ReadonlyArray<string>) => ({
  id,
  prompt: "p",
  required: true,
  answerMode: "multi_select",
  options: options.map((option) => ({ id: option, label: "the same" }))
})

const placesOf = (...questions: ReadonlyArray<object>) => {
  const set = Result.getOrThrow(
    decodePrp("paperclip.question_set.v1", { schema: "paperclip.question_set.v1", questions })
  )
  const checked = checkQuestionSet(set)
  return Result.isFailure(checked) ? checked.failure.issues.map(({ path }) => path) : "taken"
}

describe("checkQuestionSet", () => {
  it("takes a set whose ids are unique, bounds in order and patterns checkable", () => {
    const bounds = { minLength: 3, maxLength: 3, minimum: -1.5, maximum: -1.5, pattern: "^[\\w.-]+@[\\w.-]+$" }
    expect(placesOf(text("a", bounds), text("b"), select("c", "x", "y"), select("d", "x", "y"))).toBe("taken")
  })

  it("names every place that does not hold", () => {
    expect(placesOf(text("a"), select("a", "x", "y", "x"), text("a"))).toEqual([
      "/questions/1/id",
      "/questions/2/id",
      "/questions/1/options/2/id"
    ])
    expect(placesOf(text("a", { minLength: 2, maxLength: 1, minimum: 1, maximum: 0.5, pattern: "(" }))).toEqual([
      "/questions/0/textValidation/minLength",
      "/questions/0/textValidation/minimum",
      "/questions/0/textValidation/pattern"
    ])
    expect(placesOf(text("a", { pattern: "(a)\\1" }))).toEqual(["/questions/0/textValidation/pattern"])
  })

  it("names at most prpIssuesMax places, and no value", () => {
    const places = placesOf(...Array.from({ length: limits.questionsMax }, () => text("secret")))
    expect(places).toHaveLength(limits.prpIssuesMax)
    expect(String(places)).not.toContain("secret")
  })
})
