import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { describe } from "vitest"
import { type AgentOutput, makeAgentOutput } from "../../../src/layers/process/agentOutput.ts"
import { limits } from "../../../src/schema/limits.ts"

const half = limits.drainedBytesMax / 2

/** A pipe that holds what the agent wrote until it is read. */
const makePipe = Effect.gen(function* () {
  const queue = yield* Queue.unbounded<Uint8Array | undefined>()
  const taken: Array<number> = []
  const pipe = Effect.tap(Queue.take(queue), (piece) => Effect.sync(() => taken.push(piece?.length ?? 0)))
  const output = makeAgentOutput(pipe)
  const reader = yield* Effect.forkChild(output.reader)
  const write = (...sizes: ReadonlyArray<number>) =>
    Effect.andThen(
      Effect.forEach(sizes, (size) => Queue.offer(queue, new Uint8Array(size))),
      settle
    )
  return { output, taken, write, end: Effect.andThen(Queue.offer(queue, undefined), settle), reader }
})

const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

const pullAll = (output: AgentOutput) =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    for (;;) {
      const piece = yield* output.pull
      if (piece === undefined) return sizes
      sizes.push(piece.length)
    }
  })

describe("the output of an agent", () => {
  it.effect("is read only when it is asked for", () =>
    Effect.gen(function* () {
      const { output, taken, write } = yield* makePipe
      yield* write(1, 2, 3)
      expect(taken).toEqual([])
      expect((yield* output.pull)?.length).toBe(1)
      yield* settle
      expect(taken).toEqual([1])
    })
  )

  it.effect("is read ahead after the exit, up to the bound and not past it", () =>
    Effect.gen(function* () {
      const { output, taken, write } = yield* makePipe
      yield* write(half, half, 7, 8)
      output.drain("hold")
      yield* settle
      expect(taken).toEqual([half, half])
      yield* output.pull
      yield* settle
      expect(taken).toEqual([half, half, 7, 8])
    })
  )

  it.effect("is handed out in order after the pipe has ended, and then it is over", () =>
    Effect.gen(function* () {
      const { end, output, write } = yield* makePipe
      output.drain("hold")
      yield* write(1, 2)
      yield* end
      expect(yield* pullAll(output)).toEqual([1, 2])
      expect(yield* output.pull).toBeUndefined()
    })
  )

  it.effect("never stops the agent while the link is being closed, and shows no gap", () =>
    Effect.gen(function* () {
      const { end, output, reader, taken, write } = yield* makePipe
      output.drain("discard")
      yield* write(half, half, 7, half)
      expect(taken).toEqual([half, half, 7, half])
      expect((yield* output.pull)?.length).toBe(half)
      yield* write(9)
      yield* end
      expect(yield* pullAll(output)).toEqual([half])
      yield* Fiber.join(reader)
    })
  )

  it.effect("wakes a consumer that waits when the pipe ends", () =>
    Effect.gen(function* () {
      const { end, output } = yield* makePipe
      const waiting = yield* Effect.forkChild(output.pull)
      yield* settle
      yield* end
      expect(yield* Fiber.join(waiting)).toBeUndefined()
    })
  )

  it.effect("keeps the piece that an interrupted pull had asked for", () =>
    Effect.gen(function* () {
      const { output, write } = yield* makePipe
      const waiting = yield* Effect.forkChild(output.pull)
      yield* settle
      yield* Fiber.interrupt(waiting)
      yield* write(5)
      expect((yield* output.pull)?.length).toBe(5)
    })
  )
})
