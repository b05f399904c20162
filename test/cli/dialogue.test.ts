import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { startDialogue } from "../../src/cli/dialogue.ts"
import { plain } from "../../src/cli/paint.ts"
import type { Question } from "../../src/cli/permissionCard.ts"
import { newView, type View } from "../../src/cli/runView.ts"
import type { Footer } from "../../src/cli/screen.ts"
import { limits } from "../../src/schema/limits.ts"

const question: Question = {
  requestId: "request_1",
  title: "Edit notes.txt",
  kind: "edit",
  target: "notes.txt",
  content: [],
  command: undefined,
  choices: [{ key: "y", optionId: "once", label: "Allow", kind: "allow_once" }]
}

/** A dialogue whose screen, keys and answers a test sees. */
const talk = Effect.gen(function* () {
  const footers: Array<{ readonly atMs: number; readonly footer: Footer }> = []
  const answers: Array<string> = []
  const keys = yield* Queue.unbounded<string>()
  let view: View = newView
  yield* startDialogue({
    follower: { view: () => view, show: () => Effect.void, follow: () => Effect.void },
    screen: {
      print: () => Effect.void,
      show: (footer) => Effect.map(Clock.currentTimeMillis, (atMs) => void footers.push({ atMs, footer }))
    },
    terminal: { isTerminal: true, columns: () => 80, rows: () => 24, write: () => Effect.void },
    keyboard: { listen: () => Effect.void, next: Queue.take(keys) },
    interrupts: { raise: () => Effect.void, cancelled: Effect.never, killed: Effect.never },
    paint: plain,
    answer: (requestId) => Effect.sync(() => void answers.push(requestId))
  })
  return {
    answers,
    footers,
    ask: Effect.sync(() => {
      view = { ...newView, questions: [question] }
    }),
    press: (key: string) => Effect.andThen(Queue.offer(keys, key), TestClock.adjust(0))
  }
})

const test = (name: string, body: () => Effect.Effect<void, never, Scope.Scope>) => it.effect(name, body)

describe("the dialogue", () => {
  test("draws what runs anew at its pace, and no sooner", () =>
    Effect.gen(function* () {
      const { footers } = yield* talk
      yield* TestClock.adjust(0)
      const drawn = footers.length
      yield* TestClock.adjust(limits.spinnerMs - 1)
      expect(footers).toHaveLength(drawn)
      yield* TestClock.adjust(1)
      expect(footers).toHaveLength(drawn + 1)
      const [before, after] = footers.slice(-2)
      expect(after?.footer.lines).not.toEqual(before?.footer.lines)
    }))

  test("takes no key for an answer that comes too soon after the question was shown", () =>
    Effect.gen(function* () {
      const { answers, ask, footers, press } = yield* talk
      yield* ask
      while (footers.at(-1)?.footer.isUrgent !== true) yield* TestClock.adjust(1)
      yield* TestClock.adjust(limits.questionQuietMs - 1)
      yield* press("y")
      expect(answers).toEqual([])
      yield* TestClock.adjust(1)
      yield* press("y")
      expect(answers).toEqual(["request_1"])
    }))
})
