/** Answers to what an agent asks at run time: which are taken, and why another is not. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { ResolutionRejected } from "../../errors.ts"
import { limits } from "../../limits.ts"
import { anyProperty, Id } from "../contract/primitives.ts"
import { QuestionResponse, type QuestionSet } from "../contract/question.ts"
import { isNativeObject } from "../native.ts"
import { checkQuestionResponse } from "./questionResponse.ts"

export type RequestKind = "command_approval" | "file_approval" | "permission_approval" | "user_input" | "elicitation"

/** A request as the runner keeps it. `questionSet` is the persisted one, if the request came with one. */
export interface OpenRequest {
  readonly kind: RequestKind
  readonly status: "pending" | "resolved" | "expired" | "cancelled"
  readonly turnId: string | undefined
  readonly questionSet: QuestionSet | undefined
}

const FieldAnswers = Schema.Record(
  Id,
  Schema.Struct({
    answers: Schema.Array(textOf(0, limits.answerCharactersMax)).check(Schema.isMaxLength(limits.questionOptionsMax))
  })
)

const Plain = Schema.Struct({ action: Schema.Literals(["accept", "accept_for_session", "decline", "cancel"]) })
const Submit = Schema.Union([
  Schema.Struct({ action: Schema.Literal("submit"), response: QuestionResponse }),
  Schema.Struct({ action: Schema.Literal("submit"), answers: FieldAnswers }),
  Schema.Struct({ action: Schema.Literal("submit"), content: anyProperty })
])

/** The forms that an answer may have. */
export const Resolution = Schema.Union([Plain, Submit])
export type Resolution = typeof Resolution.Type

/**
 * The answer as it is to be delivered: of a question set without empty answers. `activeTurnId` is the turn that runs now.
 *
 * A request that has ended stays ended, so that is told first; then that its turn is over; then what is wrong with the answer.
 */
export const judgeResolution = (
  request: OpenRequest,
  activeTurnId: string | undefined,
  resolution: unknown
): Result.Result<Resolution, ResolutionRejected> => {
  if (request.status !== "pending") return rejected("already_terminal", `the request is ${request.status}`)
  if (request.turnId !== undefined && request.turnId !== activeTurnId) {
    return rejected("stale_turn", "the turn of the request is over")
  }
  const form = formOf(resolution)
  if (form === undefined) return invalid("not one of the forms of an answer")
  return form.action === "submit" ? judgeSubmit(request, form) : judgePlain(request, form)
}

const rejected = (code: ResolutionRejected["code"], reason: string) =>
  Result.fail(new ResolutionRejected({ code, reason }))

const invalid = (reason: string) => rejected("invalid_resolution", reason)

type Form = (typeof Plain)["Type"] | (typeof Submit)["Type"]

/** At most one kind of form data may be there, and none without `submit`. */
const formOf = (resolution: unknown): Form | undefined => {
  if (!isNativeObject(resolution)) return undefined
  const data = formData.filter((name) => Object.hasOwn(resolution, name))
  const submits = resolution["action"] === "submit"
  if (data.length !== (submits ? 1 : 0)) return undefined
  return Result.getOrUndefined(decode(resolution, closed))
}

const formData = ["response", "answers", "content"]
const decode = Schema.decodeUnknownResult(Resolution)
const closed = { onExcessProperty: "error" } as const

const isApproval = (kind: RequestKind): boolean => kind !== "user_input" && kind !== "elicitation"

const judgePlain = (
  { kind }: OpenRequest,
  form: (typeof Plain)["Type"]
): Result.Result<Resolution, ResolutionRejected> => {
  if (kind === "user_input" && (form.action === "accept" || form.action === "accept_for_session")) {
    return invalid("input is submitted, not accepted")
  }
  if (kind === "elicitation" && form.action === "accept_for_session") {
    return invalid("a form is accepted once, not for the session")
  }
  return Result.succeed(form)
}

const judgeSubmit = (
  request: OpenRequest,
  form: (typeof Submit)["Type"]
): Result.Result<Resolution, ResolutionRejected> => {
  if (isApproval(request.kind)) return invalid("an approval takes a decision, not a form")
  if ("content" in form) {
    return request.kind === "user_input" ? invalid("input takes answers, not content") : Result.succeed(form)
  }
  if ("answers" in form) {
    return request.kind === "elicitation" ? invalid("a form takes content, not answers") : Result.succeed(form)
  }
  if (request.questionSet === undefined) return invalid("the request has no question set to respond to")
  return Result.mapBoth(checkQuestionResponse(request.questionSet, form.response), {
    onSuccess: (response) => ({ ...form, response }),
    onFailure: ({ issues: [issue] }) =>
      new ResolutionRejected({
        code: "invalid_resolution",
        reason: issue === undefined ? "not a response to the questions" : `${issue.path}: ${issue.expectation}`
      })
  })
}
