/**
 * The pipes of a child: read on demand, written with the operating system's word that the bytes were taken.
 *
 * Guarantees: nobody pulls, nothing is read beyond one high-water mark (64 KiB) and the agent feels the full pipe; an error on
 * a pipe is never unhandled; a pull that is interrupted loses no byte.
 */
import type { Readable, Writable } from "node:stream"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { StdinClosed } from "../../schema/errors.ts"
import type { ProcessExit } from "../../services/Os.ts"

interface PipedChild {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exit: Deferred.Deferred<ProcessExit>
}

/** The three pipes of a child and its exit, as an `OsProcess` has them. */
export const pipesOf = (child: PipedChild) => ({
  stdout: pullFrom(child.stdout),
  stderr: pullFrom(child.stderr),
  write: writeTo(child.stdin),
  end: Effect.sync(() => {
    child.stdin.end()
  }),
  exit: Deferred.await(child.exit),
  closePipes: Effect.sync(() => {
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
  })
})

/** The next piece; `undefined` once the pipe has ended or was destroyed. One consumer. */
export const pullFrom = (stream: Readable): Effect.Effect<Uint8Array | undefined> => {
  let wake: (() => void) | undefined
  // Set by an event that comes between a look at the stream and the wait for its next event.
  let changed = false
  const ready = () => {
    changed = true
    wake?.()
  }
  // The listener for `readable` also keeps Node from discarding what is unread when the child exits.
  for (const event of ["readable", "end", "close", "error"]) stream.on(event, ready)

  const wait = Effect.callback<void>((resume) => {
    if (changed) return resume(Effect.void)
    wake = () => resume(Effect.void)
    return Effect.sync(() => {
      wake = undefined
    })
  })
  const pull: Effect.Effect<Uint8Array | undefined> = Effect.suspend(() => {
    changed = false
    const piece: Uint8Array | null = stream.read()
    if (piece !== null) return Effect.succeed(piece)
    if (stream.readableEnded || stream.destroyed) return Effect.undefined
    return Effect.andThen(wait, pull)
  })
  return pull
}

/** Writes go out in the order of the calls. Completes in the callback of the write. */
export const writeTo = (stream: Writable) => {
  stream.on("error", ignore)
  return (bytes: Uint8Array): Effect.Effect<void, StdinClosed> =>
    Effect.callback((resume) => {
      if (stream.destroyed || stream.writableEnded)
        return resume(Effect.fail(new StdinClosed({ reason: "the pipe is closed" })))
      stream.write(bytes, (error) =>
        resume(error ? Effect.fail(new StdinClosed({ reason: errorCode(error) })) : Effect.void)
      )
      // The operating system took all of it during the call; Node says so in the callback a tick later.
      if (stream.writableLength === 0 && stream.errored === null) resume(Effect.void)
    })
}

/** The stable part of an error of Node: its code. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)

const ignore = () => {}
