/**
 * The turns of a session: which one runs, which wait, how those that ended did.
 *
 * Guarantees: one turn runs at a time, in the order of acceptance; a cancel finds its turn whether it runs, waits or is yet to
 * come; a turn id is used once. Bounds: waiting turns, remembered outcomes, cancels that came before their turn.
 */
import * as Effect from "effect/Effect"
import { PromptRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { CancelReceipt } from "../schema/session.ts"
import type { CancelledBy, TurnOutcome } from "../schema/turn.ts"
import type { Turn } from "./Turn.ts"

type CancelBy = Exclude<CancelledBy, "agent">

export interface SessionTurns {
  readonly running: () => Turn | undefined
  /** All that have not ended. */
  readonly open: () => ReadonlyArray<Turn>
  /** Why no turn of this id can be accepted now. */
  readonly refusal: (turnId: string) => PromptRefused | undefined
  /** Starts it now or behind the others; ends it unwritten if its cancel came first. */
  readonly add: (turn: Turn) => Effect.Effect<void>
  readonly startNext: Effect.Effect<void>
  readonly settled: (turn: Turn) => void
  readonly cancel: (turnId: string | undefined, by: CancelBy) => Effect.Effect<CancelReceipt>
  /** `undefined` for a turn that was never accepted, or so long ago that it is forgotten. */
  readonly outcome: (turnId: string) => Effect.Effect<TurnOutcome> | undefined
}

export const makeSessionTurns = (): SessionTurns => {
  const open = new Map<string, Turn>()
  const outcomes = new Map<string, Effect.Effect<TurnOutcome>>()
  const cancelledEarly = new Map<string, CancelBy>()
  const waiting: Array<Turn> = []
  let running: Turn | undefined

  const startNext = Effect.suspend(() => {
    if (running !== undefined) return Effect.void
    running = waiting.shift()
    return running === undefined ? Effect.void : running.start
  })

  const add = (turn: Turn) =>
    Effect.suspend(() => {
      open.set(turn.turnId, turn)
      outcomes.set(turn.turnId, turn.outcome)
      forgetOldest(outcomes, limits.rememberedTurnsMax)
      waiting.push(turn)
      const cancelledBy = cancelledEarly.get(turn.turnId)
      cancelledEarly.delete(turn.turnId)
      return cancelledBy === undefined ? startNext : turn.cancel(cancelledBy)
    })

  const refusal = (turnId: string) => {
    if (outcomes.has(turnId)) return new PromptRefused({ reason: "duplicate_turn_id", detail: turnId })
    return waiting.length >= limits.queuedPromptsMax
      ? new PromptRefused({ reason: "queue_full", detail: `${waiting.length} prompts are waiting` })
      : undefined
  }

  const settled = (turn: Turn) => {
    if (running === turn) running = undefined
    const at = waiting.indexOf(turn)
    if (at >= 0) waiting.splice(at, 1)
    open.delete(turn.turnId)
  }

  const cancel: SessionTurns["cancel"] = (turnId, by) =>
    Effect.suspend((): Effect.Effect<CancelReceipt> => {
      const turn = turnId === undefined ? running : open.get(turnId)
      if (turn !== undefined) return Effect.as(turn.cancel(by), "cancelling")
      if (turnId === undefined) return Effect.succeed("idle")
      if (outcomes.has(turnId)) return Effect.succeed("ended")
      cancelledEarly.set(turnId, by)
      forgetOldest(cancelledEarly, limits.queuedPromptsMax)
      return Effect.succeed("remembered")
    })

  return {
    running: () => running,
    open: () => [...open.values()],
    refusal,
    add,
    startNext,
    settled,
    cancel,
    outcome: (turnId) => outcomes.get(turnId)
  }
}

const forgetOldest = (
  kept: { readonly size: number; readonly keys: () => Iterable<string>; readonly delete: (key: string) => boolean },
  most: number
) => {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(oldest)
  }
}
