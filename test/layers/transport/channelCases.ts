/** What every channel of frames does, whatever it goes over. */
import { expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { limits } from "../../../src/schema/limits.ts"
import type { FrameChannel } from "../../../src/services/FrameChannel.ts"

export interface ChannelPair {
  /** Takes frames of at most `transportFrameBytesMax`. */
  readonly runner: FrameChannel
  /** Takes frames of at most `runnerFrameBytesMax`. */
  readonly peer: FrameChannel
}

export interface ChannelCase {
  readonly name: string
  readonly run: (pair: ChannelPair) => Effect.Effect<void, unknown, Scope.Scope>
}

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

/** A JSON text of so many bytes. */
export const sizedFrame = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`

const takeAll = (channel: FrameChannel): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.gen(function* () {
    const frames: Array<string> = []
    for (let frame = yield* channel.take; frame !== undefined; frame = yield* channel.take) frames.push(frame)
    return frames
  })

/** Writes until the transport has no room, or gives up. */
const writtenUntilStuck = (channel: FrameChannel, counted: { written: number }) =>
  Effect.gen(function* () {
    for (;;) {
      yield* channel.write(sizedFrame(64 * 1024))
      counted.written++
    }
  })

/** Whether the number stays the same for a while: a condition that is polled, with a bound. */
const stands = (look: () => number): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    let [before, still] = [look(), 0]
    for (let turn = 0; turn < 2000 && still < 20; turn++) {
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
      still = look() === before ? still + 1 : 0
      before = look()
    }
    return still >= 20
  })

export const channelCases: ReadonlyArray<ChannelCase> = [
  {
    name: "frames arrive whole and in order, both ways",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const texts = Array.from({ length: 500 }, (_, n) => JSON.stringify({ n, text: "ä €😀\\n".repeat(n) }))
        const writing = yield* fork(Effect.forEach(texts, (text) => peer.write(text)))
        const answering = yield* fork(Effect.forEach(texts, (text) => runner.write(text)))
        expect(yield* Effect.forEach(texts, () => runner.take)).toEqual(texts)
        expect(yield* Effect.forEach(texts, () => peer.take)).toEqual(texts)
        yield* Fiber.join(writing)
        yield* Fiber.join(answering)
      })
  },
  {
    name: "a frame at the bound is taken",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const frame = sizedFrame(limits.transportFrameBytesMax)
        yield* fork(peer.write(frame))
        expect((yield* runner.take) === frame).toBe(true)
      })
  },
  {
    name: "a frame one byte past the bound is refused, and the answer still arrives",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        yield* fork(Effect.ignore(peer.write(sizedFrame(limits.transportFrameBytesMax + 1))))
        const failure = yield* Effect.flip(runner.take)
        expect(failure).toMatchObject({ _tag: "FrameChannelClosed", code: "channel_frame_too_large" })
        expect(yield* Effect.flip(runner.take)).toMatchObject({ code: "channel_frame_too_large" })
        yield* fork(Effect.andThen(Effect.ignore(runner.write(`"too large"`)), runner.close))
        expect(yield* peer.take).toBe(`"too large"`)
      })
  },
  {
    name: "what was written arrives before the end",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const taking = yield* fork(takeAll(peer))
        yield* runner.write("1")
        yield* runner.write("2")
        yield* runner.close
        yield* runner.close
        expect(yield* Fiber.join(taking)).toEqual(["1", "2"])
        expect(yield* Effect.flip(runner.write("3"))).toMatchObject({ _tag: "FrameChannelClosed" })
      })
  },
  {
    name: "the end of the other side is the end of the input",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const taking = yield* fork(takeAll(runner))
        yield* peer.write("1")
        yield* peer.close
        expect(yield* Fiber.join(taking)).toEqual(["1"])
      })
  },
  {
    name: "a take that is interrupted loses nothing",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const taking = yield* fork(runner.take)
        yield* Fiber.interrupt(taking)
        yield* peer.write("1")
        expect(yield* runner.take).toBe("1")
      })
  },
  {
    name: "a slow reader is waited for, and gets everything",
    run: ({ peer, runner }) =>
      Effect.gen(function* () {
        const counted = { written: 0 }
        const writing = yield* fork(writtenUntilStuck(runner, counted))
        expect(yield* stands(() => counted.written)).toBe(true)
        const stuck = counted.written
        expect(stuck).toBeLessThan(256)
        yield* Effect.forEach(Array.from({ length: stuck + 8 }), () => peer.take)
        expect(counted.written).toBeGreaterThan(stuck)
        yield* Fiber.interrupt(writing)
      })
  },
  {
    name: "a peer that reads nothing does not hold up the close",
    run: ({ runner }) =>
      Effect.gen(function* () {
        const counted = { written: 0 }
        yield* fork(Effect.ignore(writtenUntilStuck(runner, counted)))
        expect(yield* stands(() => counted.written)).toBe(true)
        yield* runner.close
      })
  }
]
