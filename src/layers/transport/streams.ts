/**
 * Streams of Node as two-way streams of bytes. The same pipes as those of an agent, not the sockets of Effect: a write of
 * those completes when the bytes are in a buffer of ours, so that neither a slow peer nor one that is gone is seen.
 */
import type { Duplex, Readable, Writable } from "node:stream"
import * as Effect from "effect/Effect"
import { pullFrom, writeTo } from "../process/pipes.ts"
import type { ByteDuplex } from "./lineChannel.ts"

export const duplexOf = (socket: Duplex): ByteDuplex => ({
  pull: pullFrom(socket),
  write: writeTo(socket),
  end: ended(socket),
  destroy: Effect.sync(() => void socket.destroy())
})

/** Of a pair that goes two ways only together: the pipes of a child, or our own. */
export const duplexOfPair = (readable: Readable, writable: Writable): ByteDuplex => ({
  pull: pullFrom(readable),
  write: writeTo(writable),
  end: ended(writable),
  destroy: Effect.sync(() => {
    readable.destroy()
    writable.destroy()
  })
})

const ended = (writable: Writable): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (writable.destroyed) return resume(Effect.void)
    const done = () => resume(Effect.void)
    writable.once("close", done)
    writable.end(done)
  })
