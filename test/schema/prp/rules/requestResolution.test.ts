import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { limits } from "../../../../src/schema/limits.ts"
import type { QuestionSet } from "../../../../src/schema/prp/contract/question.ts"
import {
  judgeResolution,
  type OpenRequest,
  type RequestKind
} from "../../../../src/schema/prp/rules/requestResolution.ts"

const questionSet: QuestionSet = {
  schema: "paperclip.question_set.v1",
  questions: [
    { id: "a", prompt: "p", required: true, answerMode: "text" },
    { id: "b", prompt: "p", required: false, answerMode: "text" }
  ]
}

const request = (kind: RequestKind, more: Partial<OpenRequest> = {}): OpenRequest => ({
  kind,
  status: "pending",
  turnId: "turn-1",
  questionSet: undefined,
  ...more
})

const verdict = (asked: OpenRequest, resolution: unknown, activeTurnId: string | undefined = "turn-1") => {
  const judged = judgeResolution(asked, activeTurnId, resolution)
  return Result.isSuccess(judged) ? "taken" : judged.failure.code
}

const response = (answers: object) => ({ schema: "paperclip.question_response.v1", answers })
const answers = { action: "submit", answers: { a: { answers: ["x", "y"] } } }
const content = { action: "submit", content: { a: 1, b: [true] } }
const canonical = { action: "submit", response: response({ a: { text: "x" } }) }

const approvals = ["command_approval", "file_approval", "permission_approval"] as const
const forms = {
  accept: { action: "accept" },
  accept_for_session: { action: "accept_for_session" },
  decline: { action: "decline" },
  cancel: { action: "cancel" },
  answers,
  content,
  response: canonical
}

describe("judgeResolution", () => {
  it("takes of each kind of request its forms and no others", () => {
    const taken: Readonly<Record<string, ReadonlyArray<string>>> = {
      ...Object.fromEntries(approvals.map((kind) => [kind, ["accept", "accept_for_session", "decline", "cancel"]])),
      user_input: ["decline", "cancel", "answers", "response"],
      elicitation: ["accept", "decline", "cancel", "content", "response"]
    }
    for (const kind of [...approvals, "user_input", "elicitation"] as const) {
      const names = Object.entries(forms).filter(
        ([, form]) => verdict(request(kind, { questionSet }), form) === "taken"
      )
      expect(
        names.map(([name]) => name),
        kind
      ).toEqual(taken[kind])
    }
  })

  it("takes a canonical response only of a persisted question set, and delivers it without empty answers", () => {
    expect(verdict(request("user_input"), canonical)).toBe("invalid_resolution")
    const asked = request("elicitation", { questionSet })
    const given = { action: "submit", response: response({ b: { text: " " }, a: { text: "x" } }) }
    expect(judgeResolution(asked, "turn-1", given)).toEqual(Result.succeed(canonical))
    for (const wrong of [{}, { a: { text: "x" }, c: { text: "x" } }, { a: { customText: "x" } }]) {
      expect(verdict(asked, { action: "submit", response: response(wrong) })).toBe("invalid_resolution")
    }
  })

  it("refuses form data without submit, submit without it, and two kinds of it", () => {
    const asked = request("elicitation", { questionSet })
    for (const resolution of [
      { action: "submit" },
      { action: "accept", content: {} },
      { action: "decline", answers: {} },
      { action: "cancel", response: response({}) },
      { ...content, ...canonical },
      { ...answers, ...canonical },
      { ...answers, ...content },
      { action: "allow" },
      { ...content, later: 1 },
      { action: "submit", answers: { a: ["x"] } },
      { action: "submit", content: [] },
      {},
      [],
      null,
      "accept"
    ]) {
      expect(verdict(asked, resolution), JSON.stringify(resolution)).toBe("invalid_resolution")
    }
  })

  it("tells first that the request has ended, then that its turn is over, then what is wrong", () => {
    for (const status of ["resolved", "expired", "cancelled"] as const) {
      expect(verdict(request("user_input", { status }), {}, "turn-2")).toBe("already_terminal")
    }
    expect(verdict(request("user_input"), {}, "turn-2")).toBe("stale_turn")
    expect(Result.isFailure(judgeResolution(request("file_approval"), undefined, forms.accept))).toBe(true)
    expect(verdict(request("file_approval", { turnId: undefined }), forms.accept, "turn-9")).toBe("taken")
  })

  it("bounds the answers of a field, in number and length", () => {
    const of = (count: number, length: number) => ({
      action: "submit",
      answers: { a: { answers: Array(count).fill("x".repeat(length)) } }
    })
    const asked = request("user_input")
    expect(verdict(asked, of(limits.questionOptionsMax, 1))).toBe("taken")
    expect(verdict(asked, of(limits.questionOptionsMax + 1, 1))).toBe("invalid_resolution")
    expect(verdict(asked, of(1, limits.answerCharactersMax))).toBe("taken")
    expect(verdict(asked, of(1, limits.answerCharactersMax + 1))).toBe("invalid_resolution")
  })

  it("says nothing of the answer in its reason", () => {
    const asked = request("elicitation", { questionSet })
    const judged = judgeResolution(asked, "turn-1", {
      action: "submit",
      response: response({ secret: { text: "secret" } })
    })
    expect(Result.isFailure(judged) && judged.failure.reason).toBe(
      "/answers/(property 1): Expected the id of a question of the set"
    )
  })
})
