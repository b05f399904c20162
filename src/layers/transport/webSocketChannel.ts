/**
 * Frames over a WebSocket: one text message each.
 *
 * Guarantees: nobody takes, nothing is read beyond one piece of the socket; a write completes when the operating system took
 * the frame; a message that is too long is not kept. Bounds: a message; the end of a connection.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { WebSocket } from "ws"
import { FrameChannelClosed } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import { errorCode } from "../process/pipes.ts"

/** Of both sides. `closeTimeout` is for a peer that asks for the end and then does not let go. */
export const socketOptions = (frameBytesMax: number) => ({
  maxPayload: frameBytesMax,
  perMessageDeflate: false,
  closeTimeout: limits.frameChannelCloseMs
})

/** What a close says of its cause. */
const closeCodes = { normal: 1000, notText: 1007, tooLarge: 1009 }

/** Does not close of itself over a message that it cannot take: its owner still has something to say about it. */
export class PatientWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer) {
    if ((code === closeCodes.tooLarge || code === closeCodes.notText) && reason === undefined) return
    super.close(code, reason)
  }
}

/** To be called in the step in which the socket has opened, so that nothing is read before. */
export const webSocketChannel = (socket: PatientWebSocket, frameBytesMax: number): FrameChannel => {
  const frames: Array<string> = []
  let failure: FrameChannelClosed | undefined
  let isOver = false
  let wake: (() => void) | undefined
  let closed: Deferred.Deferred<void> | undefined

  const failed = (code: FrameChannelClosed["code"], reason: string) => {
    failure ??= new FrameChannelClosed({ code, reason })
  }

  const arrived = () => {
    if (closed === undefined) socket.pause()
    wake?.()
  }

  socket.pause()
  socket.on("message", (data, isBinary) => {
    if (failure !== undefined || closed !== undefined) return
    if (isBinary || !Buffer.isBuffer(data)) failed("channel_not_text", "a binary message")
    else frames.push(data.toString("utf8"))
    arrived()
  })
  socket.on("error", (error) => {
    const code = errorCode(error)
    if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
      failed("channel_frame_too_large", `more than ${frameBytesMax} bytes`)
    } else if (code === "WS_ERR_INVALID_UTF8") failed("channel_not_text", "no UTF-8")
    else failed("channel_failed", code)
    arrived()
  })
  socket.on("close", () => {
    isOver = true
    wake?.()
  })

  const isChanged = () => frames.length > 0 || failure !== undefined || isOver

  const arrival = Effect.callback<void>((resume) => {
    if (isChanged()) return resume(Effect.void)
    const stop = () => {
      wake = undefined
      if (closed === undefined) socket.pause()
    }
    wake = () => {
      stop()
      resume(Effect.void)
    }
    socket.resume()
    return Effect.sync(stop)
  })

  const take: FrameChannel["take"] = Effect.suspend(() => {
    const frame = frames.shift()
    if (frame !== undefined) return Effect.succeed(frame)
    if (failure !== undefined) return Effect.fail(failure)
    return isOver ? Effect.undefined : Effect.andThen(arrival, take)
  })

  const over = Effect.callback<void>((resume) => {
    if (isOver) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
  })

  /** What the peer still sends is read and dropped: its answer to the close stands behind it. */
  const closing = Effect.uninterruptible(
    Effect.suspend(() => {
      socket.close(closeCodeOf(failure), "")
      socket.resume()
      return Effect.andThen(
        Effect.timeoutOption(Effect.interruptible(over), limits.frameChannelCloseMs),
        Effect.sync(() => socket.terminate())
      )
    })
  )

  return {
    take,
    write: (frame) => (closed === undefined ? sent(socket, frame) : gone("closed by this side")),
    close: Effect.suspend(() => {
      if (closed !== undefined) return Deferred.await(closed)
      closed = Deferred.makeUnsafe()
      return Effect.ensuring(closing, Deferred.succeed(closed, undefined))
    })
  }
}

const closeCodeOf = (failure: FrameChannelClosed | undefined): number => {
  if (failure?.code === "channel_frame_too_large") return closeCodes.tooLarge
  return failure?.code === "channel_not_text" ? closeCodes.notText : closeCodes.normal
}

const sent = (socket: WebSocket, frame: string): Effect.Effect<void, FrameChannelClosed> =>
  Effect.callback((resume) => {
    if (socket.readyState !== WebSocket.OPEN) return resume(gone("the connection has ended"))
    socket.send(frame, (error) => resume(error ? gone(errorCode(error)) : Effect.void))
  })

const gone = (reason: string) => Effect.fail(new FrameChannelClosed({ code: "channel_closed", reason }))
