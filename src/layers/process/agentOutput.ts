/**
 * The stdout of one agent as its consumer pulls it, and what becomes of it when the agent ends.
 *
 * Guarantees: while the agent lives a piece is read only when it is asked for, so a slow consumer is felt by the agent. From
 * its exit on, output is read ahead, for nothing that it wrote before may be lost to a slow consumer: `drainedBytesMax` is
 * more than a pipe holds. While the link is being closed output is read to no end, so that the agent is not stuck in a write;
 * what goes beyond the bound is dropped, and then everything behind it, so that the consumer sees no gap.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { limits } from "../../schema/limits.ts"

export interface AgentOutput {
  /** `undefined` once there will be no more. One consumer. If interrupted no byte is lost. */
  readonly pull: Effect.Effect<Uint8Array | undefined>
  /** Reads ahead from now on; `discard`: also when nobody takes it. */
  readonly drain: (mode: "hold" | "discard") => void
  /** The reader, to be forked by the owner. Ends when the pipe has ended. */
  readonly reader: Effect.Effect<void>
}

export const makeAgentOutput = (pipe: Effect.Effect<Uint8Array | undefined>): AgentOutput => {
  const held: Array<Uint8Array> = []
  let heldBytes = 0
  let mode: "demand" | "hold" | "discard" = "demand"
  let asked = false
  let dropped = false
  let ended = false
  const wanted = Latch.makeUnsafe()
  const arrived = Latch.makeUnsafe()

  const hasRoom = () => heldBytes < limits.drainedBytesMax && !dropped
  const isWanted = () => mode === "discard" || (mode === "hold" ? hasRoom() : asked)
  const update = () => (isWanted() ? wanted.openUnsafe() : wanted.closeUnsafe())

  const keep = (piece: Uint8Array) => {
    asked = false
    if (mode !== "discard" || hasRoom()) {
      held.push(piece)
      heldBytes += piece.length
    } else dropped = true
    update()
    arrived.openUnsafe()
  }
  const reader = Effect.gen(function* () {
    for (;;) {
      yield* wanted.await
      const piece = yield* pipe
      if (piece === undefined) break
      keep(piece)
    }
    ended = true
    arrived.openUnsafe()
  })
  const pull: Effect.Effect<Uint8Array | undefined> = Effect.suspend(() => {
    const piece = held.shift()
    if (piece === undefined) {
      if (ended || dropped) return Effect.undefined
      asked = true
      arrived.closeUnsafe()
      update()
      return Effect.andThen(arrived.await, pull)
    }
    heldBytes -= piece.length
    update()
    return Effect.succeed(piece)
  })
  const drain = (next: "hold" | "discard") => {
    if (mode !== "discard") mode = next
    update()
  }
  return { pull, drain, reader }
}
