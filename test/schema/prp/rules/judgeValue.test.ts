import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { prpSchemas } from "../../../../src/schema/prp/contract/kinds.ts"
import { judgeAs, judgeValue, kindOfValue } from "../../../../src/schema/prp/rules/judgeValue.ts"
import { samples } from "../contract/samples.ts"
import { fixture, fixtureNames } from "./fixtures.ts"

const refusal = (value: unknown) => {
  const judged = judgeValue(value)
  return Result.isFailure(judged) ? judged.failure : undefined
}

const firstIssue = (value: unknown) => {
  const refused = refusal(value)
  return refused && { code: refused.code, ...refused.issues[0] }
}

const question = { id: "q1", prompt: "p", required: true, answerMode: "text" }
const questions = (...asked: ReadonlyArray<object>) => ({ schema: "paperclip.question_set.v1", questions: asked })

describe("a value that names its kind", () => {
  it("is judged as that kind", () => {
    for (const id of Object.keys(prpSchemas).filter((id) => id.endsWith(".v1") && id in samples)) {
      const sample = Object.entries(samples).find(([kind]) => kind === id)?.[1]
      if (id === "paperclip.prp.fixture.v1" || id.startsWith("paperclip.question_")) continue
      expect(refusal(sample), id).toBeUndefined()
      expect(kindOfValue(sample), id).toBe(id)
    }
  })

  it("is refused for its version when it is of a kind that is known in others", () => {
    expect(firstIssue({ ...samples["paperclip.prp.event.v1"], schema: "paperclip.prp.event.v3" })).toEqual({
      code: "unsupported_required_version",
      path: "/schema",
      expectation: 'Expected "paperclip.prp.event.v1" or "paperclip.prp.event.v2"'
    })
    expect(firstIssue({ schema: "paperclip.prp.terminal.v9" })?.code).toBe("unsupported_required_version")
  })

  it("is refused when nobody knows the kind, and when it names none", () => {
    const unknown = { code: "schema_validation", path: "/schema", expectation: expect.stringContaining("a kind") }
    for (const value of [{ schema: "other.v1" }, { schema: 1 }, { schema: "usage" }, {}, [], null, "text", 1]) {
      expect(firstIssue(value), JSON.stringify(value)).toEqual(unknown)
    }
  })
})

describe("what a schema does not say", () => {
  it("holds for a fixture: its parts are of one run", () => {
    const name = fixtureNames.find((name) => name !== "version-3") ?? ""
    const whole = fixture(name)
    expect(refusal(whole)).toBeUndefined()
    expect(firstIssue({ ...whole, identity: { ...whole.identity, runId: "another" } })).toMatchObject({
      code: "binding_mismatch",
      path: "/events/0/runId"
    })
  })

  it("holds for a question set, on its own and in a request", () => {
    const repeated = questions(question, question)
    expect(firstIssue(repeated)).toMatchObject({ code: "question_set_refused", path: "/questions/1/id" })
    const request = { ...samples["paperclip.runtime_request.v2"], input: repeated }
    expect(firstIssue(request)).toMatchObject({ code: "question_set_refused", path: "/input/questions/1/id" })
  })

  it("holds for an adapter fixture: the response answers the questions", () => {
    const adapter = {
      ...samples["paperclip.question_adapter_fixture.v1"],
      canonicalQuestionSet: questions(question),
      canonicalResponse: { schema: "paperclip.question_response.v1", answers: { q1: { text: "yes" } } }
    }
    expect(refusal(adapter)).toBeUndefined()
    expect(firstIssue({ ...adapter, canonicalQuestionSet: questions(question, question) })).toMatchObject({
      code: "question_set_refused",
      path: "/canonicalQuestionSet/questions/1/id"
    })
    const unanswered = { ...adapter, canonicalResponse: { ...adapter.canonicalResponse, answers: {} } }
    expect(firstIssue(unanswered)).toMatchObject({
      code: "question_response_refused",
      path: "/canonicalResponse/answers"
    })
  })
})

describe("a value without a name for itself", () => {
  it("is judged as the kind that it is said to be", () => {
    expect(Result.isSuccess(judgeAs("usage", samples.usage))).toBe(true)
    expect(Result.isFailure(judgeAs("goal_snapshot", samples.usage))).toBe(true)
  })
})
