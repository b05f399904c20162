/**
 * A question of the agent on a terminal: what it wants to do, to what, and one key for each answer that it offers.
 *
 * Guarantees: everything is safe to show; a long line is wrapped, never cut; what does not fit is counted, so that nobody
 * approves what they believe to be all of it. An answer is always one of the offered options.
 */
import { type NativeObject, isNativeObject, nativeAt } from "../schema/prp/native.ts"
import { lineDiff } from "../schema/prp/lineDiff.ts"
import type { RuntimeRequest } from "../schema/prp/runtimeRequest.ts"
import { limits } from "../schema/limits.ts"
import { diffLines, type DiffLine } from "./diffLines.ts"
import type { OutputStream } from "./outputStream.ts"
import type { Paint } from "./paint.ts"
import { cutLine, headLines, shownLine, shownLines, wrapped } from "./shownText.ts"

export interface Choice {
  /** To be pressed. */
  readonly key: string
  readonly optionId: string
  readonly label: string
  readonly kind: string
}

export interface Question {
  readonly requestId: string
  readonly title: string
  readonly kind: string
  /** `undefined`: no single target can be told. */
  readonly target: string | undefined
  readonly content: RuntimeRequest["content"]
  readonly command: string | undefined
  readonly choices: ReadonlyArray<Choice>
}

/** `native`: the params of the agent's request, from which only the command is taken; without them what the event shows. */
export const questionOf = (request: RuntimeRequest, native: unknown): Question => ({
  requestId: request.requestId,
  title: request.prompt,
  kind: textAt(request, "toolKind") ?? "unknown",
  target: textAt(request, "target", "path"),
  content: request["content"],
  command: commandOf(nativeAt(native, "toolCall", "rawInput") ?? shownInput(request)),
  choices: choicesOf(request.choices ?? [])
})

/** The answer that the key stands for. Return and blanks around the key do not matter. */
export const choiceOf = (question: Question, pressed: string): Choice | undefined => {
  const key = pressed.trim().toLowerCase()
  const asked = question.choices.find((choice) => choice.key === key)
  if (asked !== undefined) return asked
  const kind = key === "y" ? "allow_once" : key === "n" ? "reject_once" : undefined
  const [only, second] = question.choices.filter((choice) => choice.kind === kind)
  return second === undefined ? only : undefined
}

/** The key that shows all of a question that does not fit. */
export const showAllKey = "v"

/** A card that fits the terminal. `waiting`: further questions behind this one. */
export const cardLines = (
  question: Question,
  waiting: number,
  terminal: Pick<OutputStream, "columns" | "rows">,
  paint: Paint
): ReadonlyArray<string> => {
  const columns = terminal.columns()
  const width = Math.max(20, columns - 4)
  const body = questionLines(question, width, paint)
  const shown = headLines(body, Math.max(3, Math.min(limits.shownQuestionLinesMax, terminal.rows() - 8)))
  const choices = [
    ...question.choices.map(({ key, label }) => `[${key}] ${label}`),
    ...(shown.length < body.length ? [`[${showAllKey}] Show all lines`] : [])
  ]
  const hint = `Press a key; Ctrl-C cancels the turn.${waiting === 0 ? "" : ` ${waiting} more waiting.`}`
  return [
    paint.yellow(cutLine("┌ The agent asks for permission", columns)),
    ...shown.map((line) => `${paint.yellow("│")} ${line}`),
    ...wrapped(choices.join("   "), width).map((line) => `${paint.yellow("│")} ${paint.cyan(line)}`),
    `${paint.yellow("└")} ${paint.dim(cutLine(hint, width))}`
  ]
}

/** All that the question says. */
export const questionLines = (question: Question, columns: number, paint: Paint): ReadonlyArray<string> => {
  const fits = (text: string) => wrapped(text, columns)
  return [
    ...shownLines(question.title, limits.requestTitleCharactersMax).flatMap(fits).map(paint.bold),
    ...fits(`${shownLine(question.kind)} · ${shownLine(question.target ?? "no single target can be told")}`).map(
      paint.dim
    ),
    ...detailLines(question).flatMap((line) => fits(line.text).map((part) => line.style(paint)(part)))
  ]
}

const plainly: DiffLine["style"] = () => (text) => text

const detailLines = (question: Question): ReadonlyArray<DiffLine> => [
  ...(question.command === undefined || question.command === question.title
    ? []
    : shownLines(question.command, limits.requestContentCharactersMax).map((text) => ({
        text: `$ ${text}`,
        style: plainly
      }))),
  ...(Array.isArray(question.content) ? question.content.filter(isNativeObject).flatMap(contentLines) : [])
]

const contentLines = (content: NativeObject): ReadonlyArray<DiffLine> => {
  const cut = content["truncated"] === true ? [{ text: "… and more, cut", style: plainly }] : []
  switch (content["_tag"]) {
    case "Text":
      return [...textLines(textAt(content, "text") ?? ""), ...cut]
    case "Diff": {
      const { text } = lineDiff(
        textAt(content, "path") ?? "",
        textAt(content, "oldText") ?? null,
        textAt(content, "newText") ?? ""
      )
      return [...diffLines(text), ...cut]
    }
    default:
      return [{ text: `(${shownLine(textAt(content, "type") ?? "unknown content")})`, style: plainly }]
  }
}

const textLines = (text: string): ReadonlyArray<DiffLine> =>
  shownLines(text, limits.requestContentCharactersMax).map((line) => ({ text: line, style: plainly }))

const textAt = (value: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const found = nativeAt(value, ...path)
  return typeof found === "string" && found !== "" ? found : undefined
}

/** Agents give a command as text or as a list of words. */
/** What is cut is no command. */
const shownInput = ({ toolInput, toolInputWhole }: RuntimeRequest): unknown => {
  if (typeof toolInput !== "string" || toolInputWhole !== true) return undefined
  try {
    return JSON.parse(toolInput)
  } catch {
    return undefined
  }
}

const commandOf = (rawInput: unknown): string | undefined => {
  const command = nativeAt(rawInput, "command")
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.join(" ")
  return typeof command === "string" && command !== "" ? command : undefined
}

/** `y` and `n` are left for the plain yes and the plain no; `v` shows. */
const keys = "123456789abcdefghijklmopqrstuwxz"

const choicesOf = (offered: NonNullable<RuntimeRequest["choices"]>): ReadonlyArray<Choice> =>
  offered.slice(0, keys.length).map((choice, index) => ({
    key: keys.charAt(index),
    optionId: choice.key,
    label: shownLine(choice.label),
    kind: textAt(choice, "kind") ?? "unknown"
  }))
