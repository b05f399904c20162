import * as Effect from "effect/Effect"
import { it } from "@effect/vitest"
import { describe, expect } from "vitest"
import type { OutputStream } from "../../src/cli/outputStream.ts"
import type { Output } from "../../src/cli/runView.ts"
import { makeScreen, noFooter } from "../../src/cli/screen.ts"
import { OutputClosed } from "../../src/schema/errors.ts"
import { screenOf } from "./terminal.ts"

/** Two streams that write into one log. */
const streams = (terminals: { readonly stdout: boolean; readonly stderr: boolean }, isShared?: boolean) => {
  const written: Array<readonly [stream: string, text: string]> = []
  const closed = new Set<string>()
  const stream = (name: "stdout" | "stderr"): OutputStream => ({
    isTerminal: terminals[name],
    columns: () => 80,
    rows: () => 24,
    write: (text) =>
      closed.has(name)
        ? Effect.fail(new OutputClosed({ stream: name }))
        : Effect.sync(() => void written.push([name, text]))
  })
  return {
    screen: makeScreen(stream("stdout"), stream("stderr"), isShared),
    closed,
    written,
    /** With the line ends that a terminal makes of them. */
    all: () => written.map(([, text]) => text.replaceAll("\n", "\r\n")).join(""),
    of: (name: string) =>
      written
        .filter(([stream]) => stream === name)
        .map(([, text]) => text)
        .join("")
  }
}

const answer = (text: string): Output => ({ channel: "answer", text })
const progress = (text: string): Output => ({ channel: "progress", text })
const footer = (...lines: ReadonlyArray<string>) => ({ lines, isUrgent: false })

describe("the screen without a terminal", () => {
  it.effect("has data on stdout and talk on stderr, as they are", () =>
    Effect.gen(function* () {
      const { of, screen } = streams({ stdout: false, stderr: false })
      yield* screen.print([answer("half"), progress("talk\n"), answer(" line\n")])
      yield* screen.show(footer("spinner"))
      expect(of("stdout")).toBe("half line\n")
      expect(of("stderr")).toBe("talk\n")
    })
  )

  it.effect("begins talk on a line of its own where both streams are one pipe", () =>
    Effect.gen(function* () {
      const { all, of, screen } = streams({ stdout: false, stderr: false }, true)
      yield* screen.print([answer("half"), progress("talk\n"), answer("\nnext\n"), progress("end\n")])
      yield* screen.show(footer("spinner"))
      expect(all()).toBe("half\r\ntalk\r\nnext\r\nend\r\n")
      expect(of("stderr")).toBe("\ntalk\nend\n")
    })
  )

  it.effect("writes neighbours at once, and keeps the order", () =>
    Effect.gen(function* () {
      const { screen, written } = streams({ stdout: false, stderr: false })
      yield* screen.print([answer("a"), answer("b"), progress("c\n"), progress("d\n"), answer("e")])
      expect(written).toEqual([
        ["stdout", "ab"],
        ["stderr", "c\nd\n"],
        ["stdout", "e"]
      ])
    })
  )

  it.effect("drops talk that nobody reads, and fails for data that nobody reads", () =>
    Effect.gen(function* () {
      const { closed, of, screen } = streams({ stdout: false, stderr: false })
      closed.add("stderr")
      yield* screen.print([progress("talk\n"), answer("data")])
      expect(of("stdout")).toBe("data")
      closed.add("stdout")
      expect(yield* Effect.flip(screen.print([answer("more")]))).toBeInstanceOf(OutputClosed)
    })
  )
})

describe("the screen of one terminal", () => {
  it.effect("begins talk on a line of its own, and goes on with the answer on the next", () =>
    Effect.gen(function* () {
      const { all, of, screen } = streams({ stdout: true, stderr: true })
      yield* screen.print([answer("half"), progress("talk\n"), answer(" line\n")])
      expect(screenOf(all())).toBe("half\ntalk\n line\n")
      expect(of("stdout")).toBe("half line\n")
    })
  )

  it.effect("does not end a line twice", () =>
    Effect.gen(function* () {
      const { all, screen } = streams({ stdout: true, stderr: true })
      yield* screen.print([answer("whole"), progress("talk\n")])
      yield* screen.print([answer("\n")])
      yield* screen.print([answer("next\n")])
      expect(screenOf(all())).toBe("whole\ntalk\nnext\n")
    })
  )

  it.effect("has the footer below everything, and once", () =>
    Effect.gen(function* () {
      const { all, screen } = streams({ stdout: true, stderr: true })
      yield* screen.show(footer("first", "second"))
      yield* screen.print([progress("talk\n"), answer("answer\n")])
      yield* screen.show(footer("third"))
      yield* screen.print([progress("more\n")])
      expect(screenOf(all())).toBe("talk\nanswer\nmore\nthird\n")
      yield* screen.show(noFooter)
      expect(screenOf(all())).toBe("talk\nanswer\nmore\n")
    })
  )

  it.effect("breaks a line of the answer for a question, and not for what only moves", () =>
    Effect.gen(function* () {
      const { all, screen } = streams({ stdout: true, stderr: true })
      yield* screen.print([answer("half")])
      yield* screen.show(footer("spinner"))
      expect(screenOf(all())).toBe("half")
      yield* screen.show({ lines: ["question"], isUrgent: true })
      expect(screenOf(all())).toBe("half\nquestion\n")
      yield* screen.print([answer(" line\n")])
      yield* screen.show(noFooter)
      expect(screenOf(all())).toBe("half\n line\n")
    })
  )

  it.effect("writes nothing for a footer that is the same", () =>
    Effect.gen(function* () {
      const { screen, written } = streams({ stdout: true, stderr: true })
      yield* screen.show(footer("same"))
      yield* screen.show(footer("same"))
      expect(written).toHaveLength(1)
    })
  )
})
