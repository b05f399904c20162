import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { utf8Bytes } from "../../../../src/schema/characters.ts"
import { decodePrp, decodePrpText } from "../../../../src/schema/prp/contract/decode.ts"
import { questionRequest } from "../../../../src/schema/prp/questions/nativeForm.ts"
import { asksPerson, questionForm } from "../../../../src/schema/prp/questions/questionForm.ts"
import { nativeAt } from "../../../../src/schema/prp/native.ts"
import { limits } from "../../../../src/schema/limits.ts"
import { QuestionFormRefused, QuestionResponseRefused } from "../../../../src/schema/errors.ts"

const folder = join(import.meta.dirname, "../../../../fixtures/prp/questions")

const fixtures = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), "utf8")
  return Result.getOrThrow(decodePrpText("paperclip.question_adapter_fixture.v1", text))
})

const formOf = (request: unknown) => questionForm(String(nativeAt(request, "method")), nativeAt(request, "params"))

const userInput = (questions: ReadonlyArray<unknown>) => questionForm("item/tool/requestUserInput", { questions })

const elicitation = (properties: object, more: object = {}) =>
  questionForm("elicitation/create", {
    mode: "form",
    message: "m",
    requestedSchema: { type: "object", properties },
    ...more
  })

const response = (answers: object) =>
  Result.getOrThrow(decodePrp("paperclip.question_response.v1", { schema: "paperclip.question_response.v1", answers }))

const issuesOf = (form: ReturnType<typeof formOf>) => {
  const failure = Result.getOrThrow(Result.flip(form))
  expect(failure).toBeInstanceOf(QuestionFormRefused)
  return failure.issues
}

describe("the adapters of questions", () => {
  it("have a fixture each", () => {
    expect(fixtures.map(({ adapter }) => adapter)).toEqual(["acp", "codex"])
  })

  describe.each(fixtures)("$adapter", (fixture) => {
    const form = Result.getOrThrow(formOf(fixture.nativeRequest))

    it("makes the question set of the native form", () => {
      expect(form.questionSet).toEqual(fixture.canonicalQuestionSet)
    })

    it("gives the agent the answers as it wants them", () => {
      expect(Result.getOrThrow(form.answer(fixture.canonicalResponse))).toEqual(fixture.nativeResponse)
    })

    it("does not answer what a response leaves open or does not answer rightly", () => {
      const failure = Result.getOrThrow(Result.flip(form.answer(response({}))))
      expect(failure).toBeInstanceOf(QuestionResponseRefused)
      expect(Result.isFailure(form.answer(response({ other: { text: "x" } })))).toBe(true)
    })

    it("asks by a request that is one of the contract", () => {
      const origin = { adapter: fixture.adapter, method: String(nativeAt(fixture.nativeRequest, "method")) }
      const request = questionRequest({ requestId: "request-1", origin, turnId: "turn-1" }, form)
      expect(Result.isSuccess(decodePrp("request", request))).toBe(true)
      expect(request).toMatchObject({ status: "pending", input: form.questionSet, origin, turnId: "turn-1" })
      expect(request.prompt).toBe(form.questionSet.title ?? form.questionSet.questions[0]?.prompt)
    })
  })

  it("are those of the methods that ask a person", () => {
    const methods = ["item/tool/requestUserInput", "mcpServer/elicitation/request", "elicitation/create"]
    expect(methods.map(asksPerson)).toEqual([true, true, true])
    expect(asksPerson("session/request_permission")).toBe(false)
    expect(issuesOf(questionForm("session/request_permission", {}))).toEqual([
      { path: "/method", expectation: expect.any(String) }
    ])
  })

  it("refuse a form larger than questionSetBytesMax and take one that is as large", () => {
    const bytesOf = (form: ReturnType<typeof formOf>) => utf8Bytes(JSON.stringify(Result.getOrThrow(form).questionSet))
    const questions = (characters: number) =>
      Array.from({ length: 60 }, (_, index) => ({
        id: `q${index}`,
        question: "é" + "x".repeat(1 + Math.floor(characters / 60) + (index < characters % 60 ? 1 : 0))
      }))
    const spare = limits.questionSetBytesMax - bytesOf(userInput(questions(0)))
    expect(bytesOf(userInput(questions(spare)))).toBe(limits.questionSetBytesMax)
    expect(issuesOf(userInput(questions(spare + 1)))).toEqual([
      { path: "", expectation: expect.stringContaining("bytes") }
    ])
  })
})

describe("a form that cannot be asked", () => {
  it("is told of at prpIssuesMax places, and at no more", () => {
    const objects = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: "object" }]))
    const counts = [limits.prpIssuesMax, limits.prpIssuesMax + 1].map(
      (count) => issuesOf(elicitation(objects(count))).length
    )
    expect(counts).toEqual([limits.prpIssuesMax, limits.prpIssuesMax])
  })
})

describe("a question of Codex", () => {
  it("is refused when its answer is a secret", () => {
    const issues = issuesOf(
      userInput([
        { id: "a", question: "?" },
        { id: "b", question: "?", isSecret: true }
      ])
    )
    expect(issues).toEqual([{ path: "/questions/1/isSecret", expectation: expect.any(String) }])
  })

  it.each([
    ["no questions", []],
    ["no id", [{ question: "?" }]],
    ["no words", [{ id: "a" }]],
    [
      "one id twice",
      [
        { id: "a", question: "?" },
        { id: "a", question: "?" }
      ]
    ],
    ["an option without a label", [{ id: "a", question: "?", options: [{ description: "d" }] }]],
    ["too long a label", [{ id: "a", question: "?", options: [{ label: "x".repeat(1001) }] }]]
  ])("is refused with %s", (_, questions) => {
    expect(issuesOf(userInput(questions)).length).toBeGreaterThan(0)
  })

  it("tells what was selected and, behind it, what was written", () => {
    const question = {
      id: "a",
      question: "?",
      multiSelect: true,
      isOther: true,
      options: [{ label: "x" }, { label: "y" }]
    }
    const form = Result.getOrThrow(userInput([question]))
    const answer = form.answer(response({ a: { selectedOptionIds: ["option-2"], customText: "z" } }))
    expect(Result.getOrThrow(answer)).toEqual({ answers: { a: { answers: ["y", "z"] } } })
    const blank = form.answer(response({ a: { selectedOptionIds: ["option-2"], customText: " \n" } }))
    expect(Result.getOrThrow(blank)).toEqual({ answers: { a: { answers: ["y"] } } })
  })
})

describe("a form of an elicitation", () => {
  it.each([
    ["no mode form", elicitation({ a: { type: "string" } }, { mode: "url" }), "/mode"],
    ["no properties", questionForm("elicitation/create", { mode: "form" }), "/requestedSchema"],
    ["a property of an unknown type", elicitation({ a: { type: "string" }, b: { type: "object" } }), "(property 2)"],
    ["a list of anything", elicitation({ a: { type: "array", items: { type: "string" } } }), "(property 1)"],
    ["nothing to ask", elicitation({}), "/questions"],
    [
      "a pattern that cannot be checked in bounded time",
      elicitation({ a: { type: "string", pattern: "(a)\\1" } }),
      "/pattern"
    ],
    ["a value that is no text", elicitation({ a: { type: "string", enum: [1] } }), "/label"]
  ])("is refused with %s", (_, form, path) => {
    expect(issuesOf(form)).toEqual(
      expect.arrayContaining([{ path: expect.stringContaining(path), expectation: expect.any(String) }])
    )
  })

  it("is introduced by its words, each said once, and none that is its title", () => {
    const introduced = (message: string, title: string, description: string) =>
      Result.getOrThrow(
        questionForm("elicitation/create", {
          mode: "form",
          message,
          requestedSchema: { type: "object", title, description, properties: { a: { type: "string" } } }
        })
      ).questionSet.description
    expect(introduced("m", "t", "d")).toBe("m\n\nd")
    expect(introduced("m", "t", "m")).toBe("m")
    expect(introduced("t", "t", "d")).toBe("d")
    expect(introduced("t", "t", "t")).toBeUndefined()
  })

  it("gives every property an id of its own, within the bound of ids", () => {
    const names = ["é", "è", "__proto__", `${"n".repeat(300)}1`, `${"n".repeat(300)}2`]
    const properties: unknown = JSON.parse(
      `{${names.map((name) => `${JSON.stringify(name)}:{"type":"string"}`).join(",")}}`
    )
    const form = Result.getOrThrow(elicitation(Object(properties)))
    const ids = form.questionSet.questions.map(({ id }) => id)
    expect(new Set(ids).size).toBe(names.length)
    expect(ids.every((id) => id.length <= limits.idCharactersMax && /^field-\d+-[\w.:-]+-[0-9a-f]{12}$/.test(id))).toBe(
      true
    )
    const answers = Object.fromEntries(ids.map((id, index) => [id, { text: `answer ${index}` }]))
    const content = nativeAt(Result.getOrThrow(form.answer(response(answers))), "content")
    expect(Object.entries(Object(content))).toEqual(names.map((name, index) => [name, `answer ${index}`]))
  })

  it("has the numbers of its schema as numbers, and refuses others", () => {
    const form = Result.getOrThrow(elicitation({ n: { type: "integer", minimum: 1 } }))
    const id = form.questionSet.questions[0]?.id ?? ""
    expect(Result.getOrThrow(form.answer(response({ [id]: { text: " 7 " } })))).toEqual({
      action: "accept",
      content: { n: 7 }
    })
    for (const text of ["0", "1.5", "seven"])
      expect(Result.isFailure(form.answer(response({ [id]: { text } })))).toBe(true)
  })
})
