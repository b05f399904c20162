/**
 * What moves on the terminal of a run: the line that shows what runs, or the question that the agent asks; and the keys that
 * answer it.
 *
 * Guarantees: a question is answered once, by a key that came after it could be read; it goes away when it is settled in any
 * other way; Ctrl-C works as ever.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { limits } from "../schema/limits.ts"
import type { RequestAnswer } from "../schema/request.ts"
import type { Follower } from "./follower.ts"
import { ctrlC, type Keyboard } from "./keyboard.ts"
import type { OutputStream } from "./outputStream.ts"
import type { Paint } from "./paint.ts"
import { cardLines, choiceOf, type Question, questionLines, showAllKey } from "./permissionCard.ts"
import { activityOf } from "./runView.ts"
import { type Footer, noFooter, type Screen } from "./screen.ts"
import { cutLine } from "./shownText.ts"
import type { Interrupts } from "./signals.ts"

export interface DialogueOptions {
  readonly follower: Follower
  readonly screen: Screen
  readonly terminal: OutputStream
  /** `undefined`: there is nobody to ask. */
  readonly keyboard: Keyboard | undefined
  readonly interrupts: Interrupts
  readonly paint: Paint
  readonly answer: (requestId: string, answer: RequestAnswer) => Effect.Effect<void>
}

/** Runs until the scope closes; then nothing of it is on the screen any more. */
export const startDialogue = Effect.fnUntraced(function* (
  options: DialogueOptions
): Effect.fn.Return<void, never, Scope.Scope> {
  const { follower, interrupts, keyboard, paint, screen, terminal } = options
  const startMs = yield* Clock.currentTimeMillis
  const answered = new Set<string>()
  /** Shown at the next look if it is still there: what a policy decides is settled by then. */
  let candidate: string | undefined
  let shown: { readonly question: Question; readonly sinceMs: number } | undefined

  const look = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const view = follower.view()
    const open = view.questions.filter(({ requestId }) => !answered.has(requestId))
    const [first] = open
    if (keyboard !== undefined && first?.requestId !== shown?.question.requestId) {
      shown = first !== undefined && first.requestId === candidate ? { question: first, sinceMs: nowMs } : undefined
      yield* keyboard.listen(shown !== undefined)
    }
    candidate = first?.requestId
    yield* screen.show(
      shown === undefined
        ? spinner(activityOf(view), nowMs - startMs)
        : { lines: cardLines(shown.question, open.length - 1, terminal, paint), isUrgent: true }
    )
  })

  const spinner = (activity: string, elapsedMs: number): Footer => {
    const frame = frames.charAt(Math.floor(elapsedMs / limits.spinnerMs) % frames.length)
    const line = cutLine(`${frame} ${activity} ${Math.floor(elapsedMs / 1000)} s`, terminal.columns() - 1)
    return { lines: [paint.cyan(line)], isUrgent: false }
  }

  const pressed = Effect.fnUntraced(function* (typed: string) {
    if (typed.includes(ctrlC)) return yield* interrupts.raise("SIGINT")
    const nowMs = yield* Clock.currentTimeMillis
    if (shown === undefined || nowMs - shown.sinceMs < limits.questionQuietMs) return
    const { question } = shown
    if (typed.trim() === showAllKey) return yield* showAll(question)
    const choice = choiceOf(question, typed)
    if (choice === undefined) return
    answered.add(question.requestId)
    yield* look
    yield* options.answer(question.requestId, { _tag: "Selected", optionId: choice.optionId })
  })

  const showAll = (question: Question) => {
    const text = questionLines(question, terminal.columns() - 2, paint)
      .map((line) => `  ${line}\n`)
      .join("")
    return Effect.ignore(screen.print([{ channel: "notice", text }]))
  }

  yield* Effect.addFinalizer(() => screen.show(noFooter))
  if (terminal.isTerminal)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(look, Effect.sleep(limits.spinnerMs))))
  if (keyboard !== undefined) yield* Effect.forkScoped(Effect.forever(Effect.flatMap(keyboard.next, pressed)))
})

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
