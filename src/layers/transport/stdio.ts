/** Frames on stdin and stdout, for a host that starts the runner as its child: who does that may do everything. */
import * as Effect from "effect/Effect"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import { lineChannel } from "./lineChannel.ts"
import { duplexOfPair } from "./streams.ts"

/** Completes when the other side has ended, or `serve` has. Nothing else may be written to stdout meanwhile. */
export const serveStdio = <R>(
  serve: (channel: FrameChannel) => Effect.Effect<void, never, R>
): Effect.Effect<void, never, R> =>
  Effect.suspend(() => serve(lineChannel(duplexOfPair(process.stdin, process.stdout), limits.transportFrameBytesMax)))
