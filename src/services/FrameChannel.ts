/**
 * Two sides that exchange texts, each a whole frame: what a transport hands to those who speak the protocol. An interface only.
 */
import type * as Effect from "effect/Effect"
import type { FrameChannelClosed } from "../schema/errors.ts"

export interface FrameChannel {
  /** The next frame; `undefined` when the other side has ended. One consumer. If interrupted none is lost. */
  readonly take: Effect.Effect<string | undefined, FrameChannelClosed>
  /** Completes when the transport has room for more, so that who reads slowly is waited for. If interrupted it is sent. */
  readonly write: (frame: string) => Effect.Effect<void, FrameChannelClosed>
  /** Sends what was written, then closes, or closes all the same after `frameChannelCloseMs`. Idempotent. */
  readonly close: Effect.Effect<void>
}
