/** Two ends of a stream of bytes in memory. Each direction holds so many bytes; a writer waits until its own are in. */
import * as Effect from "effect/Effect"
import { StdinClosed } from "../../../src/schema/errors.ts"
import type { ByteDuplex } from "../../../src/layers/transport/lineChannel.ts"

export interface MemoryEnd extends ByteDuplex {
  /** What the other side has in its way and not read. */
  readonly unread: () => number
}

export const memoryDuplex = (bytesMax = 64 * 1024): readonly [MemoryEnd, MemoryEnd] => {
  const [there, back] = [makePipe(bytesMax), makePipe(bytesMax)]
  return [endOf(there, back), endOf(back, there)]
}

type Pipe = ReturnType<typeof makePipe>

const makePipe = (bytesMax: number) => ({
  bytesMax,
  pieces: new Array<Uint8Array>(),
  bytes: 0,
  writes: new Array<{ rest: Uint8Array; readonly done: (taken: boolean) => void }>(),
  ended: false,
  broken: false,
  wakes: new Set<() => void>()
})

const notify = (pipe: Pipe) => {
  const wakes = [...pipe.wakes]
  pipe.wakes.clear()
  for (const wake of wakes) wake()
}

const fill = (pipe: Pipe) => {
  for (let write = pipe.writes[0]; write !== undefined; write = pipe.writes[0]) {
    const piece = write.rest.subarray(0, pipe.bytesMax - pipe.bytes)
    if (piece.length > 0) pipe.pieces.push(piece)
    pipe.bytes += piece.length
    write.rest = write.rest.subarray(piece.length)
    if (write.rest.length > 0) break
    pipe.writes.shift()
    write.done(true)
  }
  notify(pipe)
}

const breakOff = (pipe: Pipe) => {
  pipe.broken = true
  for (const { done } of pipe.writes.splice(0)) done(false)
  notify(pipe)
}

const changed = (pipe: Pipe, holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    holds()
      ? Effect.void
      : Effect.andThen(
          Effect.callback<void>((resume) => {
            const wake = () => resume(Effect.void)
            pipe.wakes.add(wake)
            return Effect.sync(() => pipe.wakes.delete(wake))
          }),
          changed(pipe, holds)
        )
  )

const endOf = (out: Pipe, incoming: Pipe): MemoryEnd => {
  let isDestroyed = false
  const isReadable = () => incoming.pieces.length > 0 || incoming.ended || incoming.broken || isDestroyed
  return {
    unread: () => out.bytes,
    pull: Effect.andThen(
      changed(incoming, isReadable),
      Effect.sync(() => {
        const piece = isDestroyed ? undefined : incoming.pieces.shift()
        if (piece === undefined) return undefined
        incoming.bytes -= piece.length
        fill(incoming)
        return piece
      })
    ),
    write: (bytes) =>
      Effect.callback((resume) => {
        const failed = Effect.fail(new StdinClosed({ reason: "EPIPE" }))
        if (out.ended || out.broken) return resume(failed)
        out.writes.push({ rest: bytes, done: (taken) => resume(taken ? Effect.void : failed) })
        fill(out)
      }),
    end: Effect.andThen(
      changed(out, () => out.writes.length === 0),
      Effect.sync(() => {
        out.ended = true
        notify(out)
      })
    ),
    destroy: Effect.sync(() => {
      isDestroyed = true
      out.ended = true
      breakOff(incoming)
      if (out.writes.length > 0) breakOff(out)
      notify(out)
    })
  }
}
