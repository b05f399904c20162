/**
 * A runnerd in fifty lines: the durable runner behind a transport of the host's own. Here that is the IPC channel of a forked
 * process, which a parent that embeds it speaks over with `child.send(frame)` and `child.on("message", ...)`.
 */
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { type FrameChannel, Greenroom, Ids, Runs, serveControlPlane, sqlite } from "../src/index.ts"

const [, , state = "."] = process.argv

/** `undefined` ends it. A parent that sends more frames than that before they are served is cut off. */
const frames = Effect.runSync(Queue.bounded<string | undefined>(1024))
process.on("message", (frame) => {
  if (!Queue.offerUnsafe(frames, String(frame))) process.disconnect()
})
process.on("disconnect", () => Effect.runFork(Queue.offer(frames, undefined)))

const channel: FrameChannel = {
  take: Queue.take(frames),
  write: (frame) =>
    Effect.callback((resume) => {
      // A parent that is gone hears nothing any more.
      if (!process.connected) return resume(Effect.void)
      process.send?.(frame, undefined, undefined, () => resume(Effect.void))
    }),
  close: Effect.sync(() => process.connected && process.disconnect())
}

const serving = Effect.gen(function* () {
  const runs = yield* Runs
  const conversation = serveControlPlane({
    channel,
    authority: { _tag: "Operator" },
    authorityEnded: Effect.never
  })
  yield* Effect.raceFirst(conversation, runs.ended)
})

const runner = Greenroom.durable({
  hostEnv: process.env,
  store: sqlite.layer({ file: join(state, "journal.sqlite") })
})

// Leaving the layer ends every run, and awaits the proof that its processes are gone.
await Effect.runPromise(Effect.provide(Effect.scoped(serving), Layer.merge(runner, Ids.layer)))
process.exit(0)
