/**
 * Frames over a two-way stream of bytes: one line of UTF-8 each.
 *
 * Guarantees: nobody takes, nothing is read; a write completes when the operating system took the frame; a line that is too
 * long is not kept. Bounds: a line, its end not counted.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { FrameChannelClosed, type StdinClosed } from "../../schema/errors.ts"
import { makeLineBuffer } from "../../schema/acp/lineBuffer.ts"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"

export interface ByteDuplex {
  /** The next piece; `undefined` at the end. One consumer. */
  readonly pull: Effect.Effect<Uint8Array | undefined>
  /** In the order of the calls. Completes when the operating system took the bytes. If interrupted they are written. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StdinClosed>
  /** Completes when what was written is out and the other side was told the end. */
  readonly end: Effect.Effect<void>
  /** Lets go of it at once. */
  readonly destroy: Effect.Effect<void>
}

/** The first failure to read ends the reading. Writing goes on until the channel is closed. */
export const lineChannel = (duplex: ByteDuplex, frameBytesMax: number): FrameChannel => {
  const line = makeLineBuffer(frameBytesMax)
  let rest: Uint8Array = nothing
  let failure: FrameChannelClosed | undefined
  let closed: Deferred.Deferred<void> | undefined

  const failed = (code: FrameChannelClosed["code"], reason: string) => {
    rest = nothing
    failure = new FrameChannelClosed({ code, reason })
    return Effect.fail(failure)
  }

  const append = (piece: Uint8Array): boolean => line.append(piece) === piece.length

  const next: FrameChannel["take"] = Effect.suspend(() => {
    if (failure !== undefined) return Effect.fail(failure)
    const at = rest.indexOf(newline)
    const piece = at < 0 ? rest : rest.subarray(0, at)
    rest = at < 0 ? nothing : rest.subarray(at + 1)
    if (!append(piece)) return failed("channel_frame_too_large", `more than ${frameBytesMax} bytes`)
    return at < 0 ? more : whole()
  })

  const whole = () => {
    try {
      return Effect.succeed(decoder.decode(line.view()))
    } catch {
      return failed("channel_not_text", "no UTF-8")
    } finally {
      line.clear()
    }
  }

  /** What has no end of its own is no frame. */
  const more: FrameChannel["take"] = Effect.flatMap(duplex.pull, (piece) => {
    if (piece === undefined) return Effect.undefined
    rest = piece
    return next
  })

  const closing = Effect.uninterruptible(
    Effect.andThen(Effect.timeoutOption(Effect.interruptible(duplex.end), limits.frameChannelCloseMs), duplex.destroy)
  )

  return {
    take: next,
    write: (frame) =>
      Effect.suspend(() =>
        closed === undefined
          ? Effect.catchTag(duplex.write(encoder.encode(`${frame}\n`)), "StdinClosed", ({ reason }) => gone(reason))
          : gone("closed by this side")
      ),
    close: Effect.suspend(() => {
      if (closed !== undefined) return Deferred.await(closed)
      closed = Deferred.makeUnsafe()
      return Effect.ensuring(closing, Deferred.succeed(closed, undefined))
    })
  }
}

const gone = (reason: string) => Effect.fail(new FrameChannelClosed({ code: "channel_closed", reason }))

const nothing = new Uint8Array(0)
const newline = 0x0a
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
