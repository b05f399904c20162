/**
 * Single keys of a terminal, while a question is shown.
 *
 * Guarantees: the terminal is in raw mode only while it is listened to, and as it was before once the scope has closed.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { limits } from "../schema/limits.ts"

export interface Keyboard {
  /** Starts or stops listening. */
  readonly listen: (isOn: boolean) => Effect.Effect<void>
  /** What was typed at once: one key, or several that came together. */
  readonly next: Effect.Effect<string>
}

export const ctrlC = "\u0003"

/** What it needs of a terminal. */
export interface TerminalInput {
  readonly setRawMode: (isOn: boolean) => unknown
  readonly on: (event: "data", listener: (bytes: Buffer) => void) => { readonly resume: () => unknown }
  readonly off: (event: "data", listener: (bytes: Buffer) => void) => { readonly pause: () => unknown }
}

/** Keys that nobody takes are dropped. */
export const makeKeyboard = (input: TerminalInput): Effect.Effect<Keyboard, never, Scope.Scope> =>
  Effect.gen(function* () {
    const typed = yield* Queue.dropping<string>(limits.waitingKeysMax)
    const onData = (bytes: Buffer) => Queue.offerUnsafe(typed, bytes.toString("utf8"))
    let isListening = false
    const listen = (isOn: boolean) =>
      Effect.sync(() => {
        if (isOn === isListening) return
        isListening = isOn
        input.setRawMode(isOn)
        if (isOn) input.on("data", onData).resume()
        else input.off("data", onData).pause()
      })
    yield* Effect.addFinalizer(() => listen(false))
    return { listen, next: Queue.take(typed) }
  })
