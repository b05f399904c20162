/**
 * The writing half of a connection: frames wait in the actor's mailbox, one is written at a time, and whoever handed one in
 * learns what became of it.
 *
 * Guarantees: a frame counts as written only in the callback of the operating system; whoever handed one in decides in the step
 * in which it goes to the agent whether it still should; once the connection is to end nothing more goes, and everything that
 * was handed in and not written fails with its one cause.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { ConnectionClosed, StdinClosed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Tell } from "./kernel/Message.ts"

/** Completes once the operating system took the frame. If interrupted the frame is still written. */
export type Written = Effect.Effect<void, ConnectionClosed>

export type WriteMessage = Tell<
  "Write",
  { readonly bytes: Uint8Array; readonly begin: Begin; readonly done: Deferred.Deferred<void, ConnectionClosed> }
>

/** Called in the step in which the frame goes to the agent, at most once. `false`: it is not to be written any more. */
export type Begin = () => boolean

const always: Begin = () => true

export interface FrameWriter {
  /** The handler of the mailbox. Never fails: the outcome goes to whoever handed the frame in. */
  readonly write: (message: WriteMessage) => Effect.Effect<void>
  /** Completes once the frame has its place behind those handed in before. If interrupted before: it is not written. */
  readonly hand: (bytes: Uint8Array, begin?: Begin) => Effect.Effect<Written, ConnectionClosed>
  readonly fail: (cause: ConnectionClosed) => void
}

export const makeFrameWriter = (options: {
  /** To the agent's stdin; known once the link is open. */
  readonly toLink: (bytes: Uint8Array) => Effect.Effect<void, StdinClosed>
  readonly toMailbox: (message: WriteMessage) => Effect.Effect<void, unknown>
  /** Ends the connection; answers the cause that everybody gets. */
  readonly giveUp: (why: "write_timed_out" | "released") => ConnectionClosed
  /** Ends the connection because the agent takes nothing more, and fails with the cause, once that is known. */
  readonly stdinClosed: Effect.Effect<never, ConnectionClosed>
  /** The cause, from the moment that the connection is to end. */
  readonly ending: () => ConnectionClosed | undefined
}): FrameWriter => {
  const unwritten = new Set<Deferred.Deferred<void, ConnectionClosed>>()
  let dead: ConnectionClosed | undefined

  /** Most frames are taken at once, and need no timer. */
  const toLink = (bytes: Uint8Array): Effect.Effect<void, ConnectionClosed> =>
    Effect.flatMap(Effect.forkChild(options.toLink(bytes), { startImmediately: true }), (writing) =>
      Effect.catchTag(writing.pollUnsafe() ?? timed(writing), "StdinClosed", () => options.stdinClosed)
    )

  const timed = (writing: Fiber.Fiber<void, StdinClosed>) =>
    Effect.ensuring(
      Effect.timeoutOrElse(Fiber.join(writing), {
        duration: limits.writeMs,
        orElse: () => Effect.suspend(() => Effect.fail(options.giveUp("write_timed_out")))
      }),
      Fiber.interrupt(writing)
    )

  const settle = (done: Deferred.Deferred<void, ConnectionClosed>, exit: Exit.Exit<void, ConnectionClosed>) => {
    unwritten.delete(done)
    // An interruption is the end of this actor, never of whoever waits for the frame.
    Deferred.doneUnsafe(done, Exit.hasInterrupts(exit) ? Exit.fail(dead ?? options.giveUp("released")) : exit)
  }

  const handed = (done: Deferred.Deferred<void, ConnectionClosed>): Written => {
    if (dead !== undefined) Deferred.doneUnsafe(done, Exit.fail(dead))
    else if (!Deferred.isDoneUnsafe(done)) unwritten.add(done)
    return Deferred.await(done)
  }

  return {
    write: ({ bytes, begin, done }) => {
      const written = Effect.suspend(() => {
        const ending = dead ?? options.ending()
        if (ending !== undefined) return Effect.fail(ending)
        return begin() ? toLink(bytes) : Effect.void
      })
      return Effect.ignore(Effect.onExit(written, (exit) => Effect.sync(() => settle(done, exit))))
    },
    hand: (bytes, begin = always) =>
      Effect.suspend((): Effect.Effect<Written, ConnectionClosed> => {
        const ending = dead ?? options.ending()
        if (ending !== undefined) return Effect.fail(ending)
        const done = Deferred.makeUnsafe<void, ConnectionClosed>()
        return options.toMailbox({ _tag: "Write", bytes, begin, done }).pipe(
          Effect.mapError(() => dead ?? options.giveUp("released")),
          Effect.map(() => handed(done))
        )
      }),
    fail: (cause) => {
      dead ??= cause
      for (const done of unwritten) Deferred.doneUnsafe(done, Exit.fail(dead))
      unwritten.clear()
    }
  }
}
