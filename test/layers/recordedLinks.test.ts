import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import { it } from "@effect/vitest"
import { describe, expect } from "vitest"
import * as recordedLinks from "../../src/layers/recordedLinks.ts"
import { StdinClosed } from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../../src/services/AgentLink.ts"

const launch = { command: "agent", args: [], env: {}, cwd: "/" }
const encode = (text: string) => new TextEncoder().encode(text)

const report: CleanupReport = {
  exit: { _tag: "Code", code: 7 },
  steps: [],
  proof: "in-process",
  processesSeen: 1,
  survivors: []
}

/** Says these pieces, then ends; takes everything until `closed`. */
const linkOf = (
  pieces: Queue.Queue<Uint8Array | undefined>,
  written: Array<string>,
  isClosed: () => boolean
): AgentLink => ({
  pull: Queue.take(pieces),
  write: (bytes) =>
    isClosed()
      ? Effect.fail(new StdinClosed({ reason: "test" }))
      : Effect.sync(() => void written.push(new TextDecoder().decode(bytes))),
  end: Effect.void,
  exit: Effect.never,
  identity: undefined,
  backend: "in-process",
  stderrTail: () => [],
  close: Effect.succeed(report),
  kill: Effect.succeed(report)
})

const recorded = <A, E>(
  use: (
    link: AgentLink,
    world: { readonly says: (...pieces: ReadonlyArray<Uint8Array>) => Effect.Effect<void>; readonly close: () => void }
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const pieces = yield* Queue.bounded<Uint8Array | undefined>(16)
    const written: Array<string> = []
    const lines: Array<string> = []
    let closed = false
    const inner = Layer.succeed(
      AgentLinks,
      AgentLinks.of({ open: () => Effect.succeed(linkOf(pieces, written, () => closed)) })
    )
    const layer = Layer.provide(
      recordedLinks.layer((text) => Effect.sync(() => void lines.push(text))),
      inner
    )
    const says = (...all: ReadonlyArray<Uint8Array>) =>
      Effect.forEach(all, (piece) => Queue.offer(pieces, piece), { discard: true })
    yield* AgentLinks.pipe(
      Effect.flatMap((links) => links.open(launch)),
      Effect.flatMap((link) => use(link, { says, close: () => (closed = true) })),
      Effect.scoped,
      Effect.provide(layer)
    )
    return {
      lines: lines
        .join("")
        .trimEnd()
        .split("\n")
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line)),
      written
    }
  })

describe("a recorded link", () => {
  it.effect("records each line in both directions, with its time, and passes all bytes on", () =>
    Effect.gen(function* () {
      const { lines, written } = yield* recorded((link, { says }) =>
        Effect.gen(function* () {
          yield* link.write(encode('{"id":0}\n'))
          yield* TestClock.adjust(7)
          yield* says(encode('{"id":0,"result":1}\n'))
          expect(new TextDecoder().decode(yield* link.pull)).toBe('{"id":0,"result":1}\n')
        })
      )
      expect(written).toEqual(['{"id":0}\n'])
      expect(lines).toEqual([
        { dir: "c2a", t: 0, msg: { id: 0 } },
        { dir: "a2c", t: 7, msg: { id: 0, result: 1 } }
      ])
    })
  )

  it.effect("joins a line that comes in pieces, cut within a character", () =>
    Effect.gen(function* () {
      const bytes = encode('{"text":"é"}\n{"next":true}\n')
      const { lines } = yield* recorded((link, { says }) =>
        Effect.andThen(says(bytes.subarray(0, 10), bytes.subarray(10)), Effect.andThen(link.pull, link.pull))
      )
      expect(lines).toEqual([
        { dir: "a2c", t: 0, msg: { text: "é" } },
        { dir: "a2c", t: 0, msg: { next: true } }
      ])
    })
  )

  it.effect("keeps what is no JSON as it is, and a line without an end", () =>
    Effect.gen(function* () {
      const { lines } = yield* recorded((link, { says }) =>
        Effect.andThen(says(encode("Welcome!\n\n[1]\nhalf a li")), link.pull)
      )
      expect(lines).toEqual([
        { dir: "a2c", t: 0, raw: "Welcome!" },
        { dir: "a2c", t: 0, raw: "[1]" },
        { dir: "a2c", t: 0, raw: "half a li" }
      ])
    })
  )

  it.effect("marks the end of the input and the exit, once", () =>
    Effect.gen(function* () {
      const { lines } = yield* recorded((link) =>
        Effect.all([link.end, link.end, link.close, link.kill], { discard: true })
      )
      expect(lines).toEqual([
        { dir: "mark", t: 0, note: "stdin EOF" },
        { dir: "mark", t: 0, note: "exit code=7 signal=null" }
      ])
    })
  )

  it.effect("records no write that the agent did not get, and no pull that was interrupted", () =>
    Effect.gen(function* () {
      const { lines } = yield* recorded((link, { close, says }) =>
        Effect.gen(function* () {
          close()
          yield* Effect.flip(link.write(encode('{"lost":1}\n')))
          const pulling = yield* Effect.forkChild(link.pull, { startImmediately: true })
          yield* Fiber.interrupt(pulling)
          yield* says(encode('{"kept":1}\n'))
          yield* link.pull
        })
      )
      expect(lines).toEqual([{ dir: "a2c", t: 0, msg: { kept: 1 } }])
    })
  )

  it.effect("holds no more of one line than a frame may have", () =>
    Effect.gen(function* () {
      const piece = new Uint8Array(limits.frameBytesMax / 2).fill(0x61)
      const pieces = (...all: ReadonlyArray<Uint8Array>) =>
        recorded((link, { says }) =>
          Effect.andThen(
            says(...all),
            Effect.forEach(all, () => link.pull)
          )
        )
      const whole = yield* pieces(piece, piece, encode("\n"))
      expect(whole.lines).toHaveLength(1)
      const long = yield* pieces(piece, piece, encode("a"), encode("b\n"))
      expect(long.lines).toHaveLength(2)
    })
  )
})
