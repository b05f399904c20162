/**
 * Forms of ACP's `elicitation/create` and of MCP servers, which describe flat objects in JSON Schema; to be answered with
 * `{action: "accept", content}`, every value of the type of its property.
 *
 * What a form expects beyond what a question set can say (a format, how many items) is left to the agent. A default is a draft,
 * not an answer: it is not sent unless somebody gives it.
 */
import type * as Result from "effect/Result"
import type { PrpIssue, QuestionFormRefused } from "../../errors.ts"
import { digestOf } from "../../identity.ts"
import { limits } from "../../limits.ts"
import type { QuestionAnswer } from "../contract/question.ts"
import { isNativeObject, nativeAt, type NativeObject } from "../native.ts"
import { formRefused, given, type NativeForm, nativeForm, optionId, selectedOf, submitLabel } from "./nativeForm.ts"

/** Only mode `form` can be asked: an address that a person is to visit has no answer of ours. */
export const elicitationForm = (params: unknown): Result.Result<NativeForm, QuestionFormRefused> => {
  const properties = nativeAt(params, "requestedSchema", "properties")
  if (nativeAt(params, "mode") !== "form")
    return formRefused([{ path: "/mode", expectation: "Expected the mode form" }])
  if (!isNativeObject(properties))
    return formRefused([{ path: "/requestedSchema", expectation: "Expected properties" }])
  const fields = Object.entries(properties).map(fieldOf)
  const unknown = fields.flatMap(({ kind }, index) => (kind === undefined ? [unknownKind(index)] : []))
  if (unknown.length > 0) return formRefused(unknown)
  const required = nativeAt(params, "requestedSchema", "required")
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return nativeForm(
    {
      schema: "paperclip.question_set.v1",
      ...introduction(params),
      submitLabel,
      questions: fields.map(({ asked, kind, name }) => ({ ...asked, required: isRequired(name), ...kind?.question }))
    },
    (answers) => ({
      action: "accept",
      content: Object.fromEntries(
        fields.flatMap(({ asked, kind, name }) => {
          const answer = answers.get(asked.id)
          return answer === undefined || kind === undefined ? [] : [[name, kind.value(answer)]]
        })
      )
    })
  )
}

const introduction = (params: unknown): NativeObject => {
  const title = nativeAt(params, "requestedSchema", "title")
  const words = [nativeAt(params, "message"), nativeAt(params, "requestedSchema", "description")]
  const others = words.filter((text) => typeof text === "string" && text !== "" && text !== title)
  return { ...given("title", title), ...given("description", [...new Set(others)].join("\n\n")) }
}

/** How a property is asked for, and what its value is by the answer. */
interface Kind {
  readonly question: NativeObject
  readonly value: (answer: QuestionAnswer) => unknown
}

const fieldOf = ([name, property]: readonly [string, unknown], index: number) => {
  const title = nativeAt(property, "title")
  const header = typeof title === "string" && title !== "" ? title : name
  const asked = {
    id: fieldId(name, index),
    header,
    prompt: header,
    ...given("prompt", nativeAt(property, "description"))
  }
  return { name, asked, kind: kindOf(property) }
}

/** Readable, and another one for every position and every name. */
const fieldId = (name: string, index: number): string => {
  const words = name.trim().replace(/[^A-Za-z0-9._:-]+/g, "-")
  const readable = words.replace(/^-+|-+$/g, "").slice(0, readableCharactersMax)
  const digest = digestOf(name).slice("sha256:".length, "sha256:".length + digestCharacters)
  return `field-${index + 1}-${readable === "" ? "value" : readable}-${digest}`
}

const readableCharactersMax = 96
const digestCharacters = 12

/** The name of a property is a word of the peer: its position stands for it. */
const unknownKind = (index: number): PrpIssue => ({
  path: `/requestedSchema/properties/(property ${index + 1})`,
  expectation: "Expected a string, number, integer or boolean, or an array of given values"
})

const kindOf = (property: unknown): Kind | undefined => {
  const type = nativeAt(property, "type")
  switch (type) {
    case "string": {
      const options = optionsOf(property)
      return options.length === 0
        ? wordsKind(property)
        : { question: select("single_select", options), value: one(options) }
    }
    case "number":
    case "integer":
      return numberKind(property, type)
    case "boolean":
      return { question: select("single_select", truth), value: one(truth) }
    case "array": {
      const options = optionsOf(nativeAt(property, "items"))
      return options.length === 0 ? undefined : { question: select("multi_select", options), value: all(options) }
    }
    default:
      return undefined
  }
}

const wordsKind = (property: unknown): Kind => ({
  question: {
    answerMode: "text",
    textValidation: {
      inputType: "text",
      ...bound("minLength", nativeAt(property, "minLength")),
      ...bound("maxLength", nativeAt(property, "maxLength"), limits.answerCharactersMax),
      ...given("pattern", nativeAt(property, "pattern"))
    }
  },
  value: ({ text }) => text
})

const numberKind = (property: unknown, inputType: "number" | "integer"): Kind => ({
  question: {
    answerMode: "text",
    textValidation: {
      inputType,
      ...bound("minimum", nativeAt(property, "minimum")),
      ...bound("maximum", nativeAt(property, "maximum"))
    }
  },
  value: ({ text }) => Number(text)
})

/** An answer is never longer than `most`, so that a wider bound says nothing. */
const bound = (name: string, value: unknown, most = Infinity): NativeObject =>
  typeof value === "number" ? { [name]: Math.min(value, most) } : {}

interface Option {
  readonly value: unknown
  readonly label: unknown
  readonly description?: unknown
}

const truth: ReadonlyArray<Option> = [
  { value: true, label: "Yes" },
  { value: false, label: "No" }
]

const optionsOf = (schema: unknown): ReadonlyArray<Option> => {
  const titled = nativeAt(schema, "oneOf") ?? nativeAt(schema, "anyOf")
  if (Array.isArray(titled)) return titled.map(titledOption)
  const values = nativeAt(schema, "enum")
  return Array.isArray(values) ? values.map((value: unknown) => ({ value, label: value })) : []
}

const titledOption = (option: unknown): Option => {
  const value = nativeAt(option, "const")
  const title = nativeAt(option, "title")
  return {
    value,
    label: typeof title === "string" && title !== "" ? title : value,
    description: nativeAt(option, "description")
  }
}

const select = (answerMode: "single_select" | "multi_select", options: ReadonlyArray<Option>): NativeObject => ({
  answerMode,
  options: options.map(({ description, label }, index) => ({
    id: optionId(index),
    label,
    ...given("description", description)
  }))
})

const all = (options: ReadonlyArray<Option>) => (answer: QuestionAnswer) =>
  selectedOf(options, answer).map(({ value }) => value)

const one = (options: ReadonlyArray<Option>) => (answer: QuestionAnswer) => selectedOf(options, answer)[0]?.value
