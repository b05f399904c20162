import { PassThrough, Writable } from "node:stream"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { describe } from "vitest"
import { pullFrom, writeTo } from "../../../src/layers/process/pipes.ts"
import { StdinClosed } from "../../../src/schema/errors.ts"

/** Lets the event loop turn between any two operations of a fiber. */
const slowly = Effect.provideService(Scheduler.MaxOpsBeforeYield, 3)

describe("pulling from a pipe", () => {
  it.live("misses no event, however the operations of the consumer fall between them", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 200; round++) {
        const stream = new PassThrough()
        const pull = pullFrom(stream)
        const consumer = yield* Effect.forkChild(slowly(countBytes(pull)))
        for (let turn = 0; turn < round % 7; turn++) yield* Effect.yieldNow
        stream.write("abc")
        for (let turn = 0; turn < round % 5; turn++) yield* Effect.yieldNow
        stream.end("de")
        expect(yield* Fiber.join(consumer)).toBe(5)
      }
    })
  )

  it.live("reads no more than one high-water mark ahead", () =>
    Effect.gen(function* () {
      const stream = new PassThrough({ highWaterMark: 1000 })
      const pull = pullFrom(stream)
      stream.write(Buffer.alloc(1000))
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      expect(stream.write(Buffer.alloc(1000))).toBe(false)
      expect((yield* pull)?.length).toBeGreaterThan(0)
    })
  )

  it.live("ends when the pipe is destroyed under a waiting consumer", () =>
    Effect.gen(function* () {
      const stream = new PassThrough()
      const consumer = yield* Effect.forkChild(pullFrom(stream))
      yield* Effect.yieldNow
      stream.destroy(new Error("reset"))
      expect(yield* Fiber.join(consumer)).toBeUndefined()
    })
  )
})

describe("writing to a pipe", () => {
  it.live("completes when the bytes were taken, not before", () =>
    Effect.gen(function* () {
      let take: (() => void) | undefined
      const stream = new Writable({ write: (_bytes, _encoding, done) => (take = done) })
      const writing = yield* Effect.forkChild(writeTo(stream)(new Uint8Array(3)))
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      expect(writing.pollUnsafe()).toBeUndefined()
      take?.()
      expect(Exit.isSuccess(yield* Fiber.await(writing))).toBe(true)
    })
  )

  it.live("fails with the code of the system, and again ever after", () =>
    Effect.gen(function* () {
      const broken = Object.assign(new Error("write"), { code: "EPIPE" })
      const write = writeTo(new Writable({ write: (_bytes, _encoding, done) => done(broken) }))
      expect(yield* Effect.flip(write(new Uint8Array(1)))).toEqual(new StdinClosed({ reason: "EPIPE" }))
      yield* Effect.yieldNow
      expect(yield* Effect.flip(write(new Uint8Array(1)))).toBeInstanceOf(StdinClosed)
    })
  )
})

const countBytes = (pull: Effect.Effect<Uint8Array | undefined>) =>
  Effect.gen(function* () {
    let bytes = 0
    for (;;) {
      const piece = yield* pull
      if (piece === undefined) return bytes
      bytes += piece.length
    }
  })
