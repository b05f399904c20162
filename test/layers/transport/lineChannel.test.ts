import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { lineChannel } from "../../../src/layers/transport/lineChannel.ts"
import { limits } from "../../../src/schema/limits.ts"
import { channelCases } from "./channelCases.ts"
import { memoryDuplex } from "./memoryDuplex.ts"

const pair = () => {
  const [ours, theirs] = memoryDuplex()
  return {
    runner: lineChannel(ours, limits.transportFrameBytesMax),
    peer: lineChannel(theirs, limits.runnerFrameBytesMax),
    theirs
  }
}

describe("a channel of lines", () => {
  for (const { name, run } of channelCases) it.live(name, () => run(pair()))

  it.effect("takes lines whatever pieces they come in", () =>
    Effect.gen(function* () {
      const { runner, theirs } = pair()
      const bytes = new TextEncoder().encode('{"a":"ä"}\n{}\n\n"€"\n')
      for (const byte of bytes) yield* theirs.write(Uint8Array.of(byte))
      expect(yield* Effect.forEach([1, 2, 3, 4], () => runner.take)).toEqual(['{"a":"ä"}', "{}", "", '"€"'])
    })
  )

  it.effect("refuses what is no UTF-8", () =>
    Effect.gen(function* () {
      const { runner, theirs } = pair()
      yield* theirs.write(Uint8Array.of(0x22, 0xff, 0x22, 0x0a, 0x31, 0x0a))
      expect(yield* Effect.flip(runner.take)).toMatchObject({ code: "channel_not_text" })
      expect(yield* Effect.flip(runner.take)).toMatchObject({ code: "channel_not_text" })
    })
  )

  it.effect("does not take a line without an end for a frame", () =>
    Effect.gen(function* () {
      const { runner, theirs } = pair()
      yield* theirs.write(new TextEncoder().encode('{}\n{"a":'))
      yield* theirs.end
      expect(yield* runner.take).toBe("{}")
      expect(yield* runner.take).toBe(undefined)
      expect(yield* runner.take).toBe(undefined)
    })
  )

  it.effect("closes after its time when the other side takes nothing, and not before", () =>
    Effect.gen(function* () {
      const { runner } = pair()
      yield* Effect.forkScoped(Effect.ignore(runner.write(`"${"x".repeat(100_000)}"`)), { startImmediately: true })
      const closing = yield* Effect.forkScoped(runner.close, { startImmediately: true })
      const again = yield* Effect.forkScoped(runner.close, { startImmediately: true })
      yield* TestClock.adjust(limits.frameChannelCloseMs - 1)
      expect([closing.pollUnsafe(), again.pollUnsafe()]).toEqual([undefined, undefined])
      yield* TestClock.adjust(1)
      yield* Fiber.join(closing)
      yield* Fiber.join(again)
    })
  )
})
