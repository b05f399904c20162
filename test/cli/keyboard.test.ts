import { EventEmitter } from "node:events"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { makeKeyboard, type TerminalInput } from "../../src/cli/keyboard.ts"
import { limits } from "../../src/schema/limits.ts"

/** A terminal on which a test types. */
const terminal = () => {
  const events = new EventEmitter()
  const modes: Array<boolean> = []
  const input: TerminalInput = {
    setRawMode: (isOn) => modes.push(isOn),
    on: (event, listener) => (events.on(event, listener), { resume: () => undefined }),
    off: (event, listener) => (events.off(event, listener), { pause: () => undefined })
  }
  return { input, modes, type: (key: string) => events.emit("data", Buffer.from(key)) }
}

describe("the keyboard", () => {
  it.effect("is in raw mode only while somebody listens", () =>
    Effect.gen(function* () {
      const { input, modes, type } = terminal()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const keyboard = yield* makeKeyboard(input)
          type("a")
          yield* keyboard.listen(true)
          yield* keyboard.listen(true)
          type("b")
          expect(yield* keyboard.next).toBe("b")
          expect(modes).toEqual([true])
        })
      )
      expect(modes).toEqual([true, false])
    })
  )

  it.effect("keeps keys that wait up to a bound, and drops those after them", () =>
    Effect.gen(function* () {
      const { input, type } = terminal()
      const keyboard = yield* makeKeyboard(input)
      yield* keyboard.listen(true)
      const keys = Array.from({ length: limits.waitingKeysMax }, (_, index) => String(index))
      for (const key of [...keys, "dropped"]) type(key)
      expect(yield* Effect.forEach(keys, () => keyboard.next)).toEqual(keys)
      const waiting = yield* Effect.forkChild(keyboard.next)
      yield* Effect.yieldNow
      expect(waiting.pollUnsafe()).toBeUndefined()
      type("later")
      expect(yield* Fiber.join(waiting)).toBe("later")
    }).pipe(Effect.scoped)
  )
})
