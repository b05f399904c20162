/**
 * Where the output of a run goes: data to stdout, talk to stderr, whatever they are connected to.
 *
 * Guarantees: outputs appear in order, also where both streams are one; the footer (what moves, or a question) is
 * below everything, gone before anything else is written and drawn again behind it; talk that nobody reads is dropped, data
 * that nobody reads is a failure.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { OutputClosed } from "../schema/errors.ts"
import type { OutputStream } from "./outputStream.ts"
import type { Output } from "./runView.ts"

export interface Footer {
  readonly lines: ReadonlyArray<string>
  /** Worth breaking a line of the answer for. */
  readonly isUrgent: boolean
}

export interface Screen {
  readonly print: (outputs: ReadonlyArray<Output>) => Effect.Effect<void, OutputClosed>
  /** Replaces the footer. Without a terminal on stderr there is none. */
  readonly show: (footer: Footer) => Effect.Effect<void>
}

export const noFooter: Footer = { lines: [], isUrgent: false }

/** `isShared`: both streams are one terminal, pipe or file, so that they share lines. */
export const makeScreen = (
  stdout: OutputStream,
  stderr: OutputStream,
  isShared = stdout.isTerminal && stderr.isTerminal
): Screen => {
  const turn = Semaphore.makeUnsafe(1)
  let footer = noFooter
  let drawnLines = 0
  /** Where both go, the last thing stands in the middle of a line of the answer. */
  let isMidLine = false
  /** That line was ended for talk: its own end, if it comes next, is there already. */
  let isBroken = false

  const talk = (text: string) => (text === "" ? Effect.void : Effect.ignore(stderr.write(text)))

  /** Moves to where the footer began and clears from there. */
  const erased = (): string => {
    const text = drawnLines === 0 ? "" : `\u001b[${drawnLines}A\r\u001b[J`
    drawnLines = 0
    return text
  }

  const drawn = (): string => {
    if (!stderr.isTerminal || footer.lines.length === 0 || (isMidLine && !footer.isUrgent)) return ""
    const start = lineStart()
    drawnLines = footer.lines.length
    return start + footer.lines.map((line) => `${line}\n`).join("")
  }

  const lineStart = (): string => {
    if (!isMidLine) return ""
    isMidLine = false
    isBroken = true
    return "\n"
  }

  const print = Effect.fnUntraced(function* (outputs: ReadonlyArray<Output>) {
    let said = erased()
    for (const { isData, text } of joined(outputs)) {
      if (!isData) {
        said += lineStart() + text
        continue
      }
      yield* talk(said)
      said = ""
      yield* stdout.write(isBroken && text.startsWith("\n") ? text.slice(1) : text)
      isMidLine = isShared && !text.endsWith("\n")
      isBroken = false
    }
    yield* talk(said + drawn())
  })

  const show = (next: Footer) =>
    Effect.suspend(() => {
      if (!stderr.isTerminal || isSame(footer, next)) return Effect.void
      footer = next
      return talk(erased() + drawn())
    })

  return {
    print: (outputs) => (outputs.length === 0 ? Effect.void : turn.withPermit(print(outputs))),
    show: (next) => turn.withPermit(show(next))
  }
}

interface Piece {
  readonly isData: boolean
  readonly text: string
}

/** Neighbours for the same stream become one write. */
const joined = (outputs: ReadonlyArray<Output>): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  for (const { channel, text } of outputs) {
    const isData = channel === "answer"
    const last = pieces.at(-1)
    if (last?.isData === isData) pieces[pieces.length - 1] = { isData, text: last.text + text }
    else pieces.push({ isData, text })
  }
  return pieces
}

const isSame = (a: Footer, b: Footer): boolean =>
  a.isUrgent === b.isUrgent &&
  a.lines.length === b.lines.length &&
  a.lines.every((line, index) => line === b.lines[index])
