import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../../../src/schema/limits.ts"
import type { QuestionAnswer, QuestionSet, TextValidation } from "../../../../src/schema/prp/contract/question.ts"
import { checkQuestionResponse } from "../../../../src/schema/prp/rules/questionResponse.ts"

const options = [
  { id: "x", label: "X" },
  { id: "y", label: "Y" }
]
const optional = { prompt: "p", required: false }

const set: QuestionSet = {
  schema: "paperclip.question_set.v1",
  questions: [
    { ...optional, id: "one", answerMode: "single_select", options },
    { ...optional, id: "own", answerMode: "single_select", options, customAnswer: { enabled: true } },
    { ...optional, id: "many", answerMode: "multi_select", options, customAnswer: { enabled: true } },
    { ...optional, id: "text", answerMode: "text" }
  ]
}

const checked = (asked: QuestionSet, answers: Readonly<Record<string, QuestionAnswer>>) =>
  checkQuestionResponse(asked, { schema: "paperclip.question_response.v1", answers })

const outcome = (answers: Readonly<Record<string, QuestionAnswer>>, asked: QuestionSet = set) => {
  const result = checked(asked, answers)
  return Result.isSuccess(result) ? result.success.answers : result.failure.issues.map(({ path }) => path)
}

const withValidation = (textValidation: TextValidation): QuestionSet => ({
  ...set,
  questions: [
    { ...optional, id: "text", answerMode: "text", textValidation },
    { ...optional, id: "own", answerMode: "multi_select", options, customAnswer: { enabled: true }, textValidation }
  ]
})

describe("checkQuestionResponse", () => {
  it("takes one option, several, words, and options with words where they are admitted", () => {
    const answers = {
      one: { selectedOptionIds: ["y"] },
      own: { customText: "mine" },
      many: { selectedOptionIds: ["y", "x"], customText: "and mine" },
      text: { text: "words", selectedOptionIds: [] }
    }
    expect(outcome(answers)).toEqual(answers)
  })

  it("drops empty answers, and puts the others in the order of the questions", () => {
    const answers = {
      text: { text: "w" },
      many: { selectedOptionIds: [] },
      own: { customText: " \n" },
      one: { selectedOptionIds: ["x"] }
    }
    expect(Object.entries(outcome(answers))).toEqual([
      ["one", { selectedOptionIds: ["x"] }],
      ["text", { text: "w" }]
    ])
  })

  it("refuses what was not asked", () => {
    expect(outcome({ text: {}, other: {} })).toEqual(["/answers/(property 2)"])
    expect(outcome({ one: { selectedOptionIds: ["x", "z"] } })).toContain("/answers/(property 1)/selectedOptionIds/1")
    expect(outcome({ many: { selectedOptionIds: ["x", "x"] } })).toEqual(["/answers/(property 1)/selectedOptionIds"])
  })

  it("refuses an answer of another form", () => {
    expect(outcome({ text: { selectedOptionIds: ["x"] } })).toEqual(["/answers/(property 1)/selectedOptionIds"])
    expect(outcome({ text: { customText: "" } })).toEqual(["/answers/(property 1)/customText"])
    expect(outcome({ many: { text: "" } })).toEqual(["/answers/(property 1)/text"])
    expect(outcome({ one: { customText: "mine" } })).toEqual(["/answers/(property 1)/customText"])
  })

  it("takes one choice of a single select: an option, or words", () => {
    expect(outcome({ one: { selectedOptionIds: ["x", "y"] } })).toEqual(["/answers/(property 1)"])
    expect(outcome({ own: { selectedOptionIds: ["x"], customText: "mine" } })).toEqual(["/answers/(property 1)"])
    expect(outcome({ own: { selectedOptionIds: ["x"], customText: " " } })).toEqual({
      own: { selectedOptionIds: ["x"], customText: " " }
    })
  })

  it("demands an answer to every required question", () => {
    const required: QuestionSet = {
      ...set,
      questions: set.questions.map((question) => ({ ...question, required: true }))
    }
    expect(outcome({}, required)).toEqual(Array(4).fill("/answers"))
    const answers = { one: { selectedOptionIds: ["x"] }, own: { customText: "\t" }, text: { text: "" } }
    expect(outcome(answers, required)).toEqual(["/answers", "/answers", "/answers"])
  })

  it("counts characters, not units, at a bound and one past it", () => {
    const asked = withValidation({ minLength: 2, maxLength: 3 })
    for (const [count, held] of [
      [1, false],
      [2, true],
      [3, true],
      [4, false]
    ] as const) {
      const words = "😀".repeat(count)
      expect(Array.isArray(outcome({ text: { text: words } }, asked)), words).toBe(!held)
      expect(Array.isArray(outcome({ own: { customText: words } }, asked)), words).toBe(!held)
    }
  })

  it("checks numbers where numbers are asked for", () => {
    const bounds = { minimum: -1, maximum: 2.5 }
    for (const [inputType, words, held] of [
      ["number", "2.5", true],
      ["number", "2.6", false],
      ["number", "-1", true],
      ["number", "-1.1", false],
      ["number", "two", false],
      ["number", "Infinity", false],
      ["integer", "2", true],
      ["integer", "1.5", false],
      ["text", "99", true]
    ] as const) {
      const result = outcome({ text: { text: words } }, withValidation({ ...bounds, inputType }))
      expect(Array.isArray(result), `${inputType} ${words}`).toBe(!held)
    }
    for (const words of ["Infinity", "-1e999", "NaN"]) {
      expect(outcome({ text: { text: words } }, withValidation({ inputType: "number" })), words).toHaveLength(1)
    }
  })

  it("checks patterns, and takes nothing that it cannot check within bounds", () => {
    expect(Array.isArray(outcome({ text: { text: "a-1" } }, withValidation({ pattern: "^\\w-\\d$" })))).toBe(false)
    expect(outcome({ text: { text: "a-b" } }, withValidation({ pattern: "^\\w-\\d$" }))).toEqual([
      "/answers/(property 1)/text"
    ])
    const long = "a".repeat(limits.answerCharactersMax)
    expect(outcome({ text: { text: long } }, withValidation({ pattern: "^(a?){400}$" }))).toHaveLength(1)
    expect(outcome({ text: { text: "aa" } }, withValidation({ pattern: "(a)\\1" }))).toHaveLength(1)
  })

  it("names at most prpIssuesMax places, and nothing of an answer", () => {
    const answers = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`secret-${index}`, {}]))
    const result = checked(set, answers)
    expect(JSON.stringify(result)).not.toContain("secret")
    expect(outcome(answers)).toHaveLength(limits.prpIssuesMax)
  })

  it("keeps apart an id that objects have anyway", () => {
    const proto: QuestionSet = {
      ...set,
      questions: [{ ...optional, required: true, id: "__proto__", answerMode: "text" }]
    }
    expect(outcome({}, proto)).toEqual(["/answers"])
    const answers = JSON.parse('{"__proto__":{"text":"a"}}')
    expect(JSON.stringify(outcome(answers, proto))).toBe('{"__proto__":{"text":"a"}}')
    expect(outcome({ constructor: {} })).toEqual(["/answers/(property 1)"])
  })

  const Answer = Schema.Struct({
    selectedOptionIds: Schema.optionalKey(Schema.Array(Schema.Literals(["x", "y", "z"]))),
    text: Schema.optionalKey(Schema.Literals(["", " ", "w"])),
    customText: Schema.optionalKey(Schema.Literals(["", " ", "w"]))
  })

  it.effect.prop(
    "accepts again what it accepted, unchanged: both edges agree",
    { answers: Schema.Record(Schema.Literals(["one", "own", "many", "text"]), Answer) },
    ({ answers }) =>
      Effect.sync(() => {
        const first = checked(set, answers)
        if (Result.isSuccess(first)) expect(checkQuestionResponse(set, first.success)).toEqual(first)
      }),
    { arbitrary: { runs: 500 } }
  )
})
