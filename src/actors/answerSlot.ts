/**
 * Answer slots: the one way to answer a request of the agent, usable once.
 *
 * Guarantees: of all who try, one answer is written and everybody else hears `alreadyAnswered`; `written` is said only after
 * the operating system took the frame; once the connection is dead every slot says so. The native id goes back with its JSON
 * type.
 */
import * as Effect from "effect/Effect"
import { encodeFrame, type RequestId } from "../schema/acp/frame.ts"
import { type ConnectionClosed, FrameTooLarge } from "../schema/errors.ts"

export type AnswerResult = "written" | "alreadyAnswered" | "connectionDead"

/** The half of a JSON-RPC response that is not envelope. */
export type Reply =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

export interface AnswerSlot {
  /** Unique among all connections of the host; the native id is unique in one only. */
  readonly key: string
  readonly nativeId: RequestId
  readonly method: string
  /** If interrupted after it was accepted, the answer is still written. */
  readonly answer: (reply: Reply) => Effect.Effect<AnswerResult>
  /** The answer that harms nobody: cancelled. */
  readonly answerSafely: Effect.Effect<AnswerResult>
  readonly isOpen: () => boolean
}

export interface AnswerSlots {
  /** `undefined`: as many are open as may be. */
  readonly create: (nativeId: RequestId, method: string, safe: object) => AnswerSlot | undefined
  /** The oldest open slot with exactly this id, JSON type included. */
  readonly openById: (nativeId: unknown) => AnswerSlot | undefined
  readonly connectionDied: () => void
  readonly open: () => number
}

/** What may be answered in place of a holder that is gone; `Refuse`: we do not offer this method at all. */
export const safeAnswer = (method: string): { _tag: "Answer"; result: object } | { _tag: "Refuse" } => {
  switch (method) {
    case "session/request_permission":
      return { _tag: "Answer", result: { outcome: { outcome: "cancelled" } } }
    case "elicitation/create":
      return { _tag: "Answer", result: { action: "cancel" } }
    default:
      return { _tag: "Refuse" }
  }
}

export const makeAnswerSlots = (options: {
  readonly connection: string
  readonly max: number
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, ConnectionClosed>
}): AnswerSlots => {
  const open = new Map<string, AnswerSlot>()
  let ordinal = 0
  let dead = false

  const create = (nativeId: RequestId, method: string, safe: object): AnswerSlot | undefined => {
    if (open.size >= options.max) return undefined
    const key = `${options.connection}#${ordinal++}`

    const answer = (reply: Reply): Effect.Effect<AnswerResult> =>
      Effect.suspend(() => {
        // Taking the slot is one synchronous step: there is one winner.
        if (!open.delete(key)) return Effect.succeed(dead ? "connectionDead" : "alreadyAnswered")
        const frame = encodeFrame({ jsonrpc: "2.0", id: nativeId, ...reply })
        return (frame instanceof FrameTooLarge ? writeSafe : options.write(frame)).pipe(
          Effect.as<AnswerResult>("written"),
          Effect.catchTag("ConnectionClosed", () => Effect.succeed<AnswerResult>("connectionDead"))
        )
      })

    const writeSafe = Effect.suspend(() => {
      const frame = encodeFrame({ jsonrpc: "2.0", id: nativeId, result: safe })
      return frame instanceof FrameTooLarge ? Effect.die(frame) : options.write(frame)
    })

    const slot: AnswerSlot = {
      key,
      nativeId,
      method,
      answer,
      answerSafely: answer({ result: safe }),
      isOpen: () => open.has(key)
    }
    open.set(key, slot)
    return slot
  }

  return {
    create,
    openById: (nativeId) => {
      for (const slot of open.values()) if (slot.nativeId === nativeId) return slot
      return undefined
    },
    connectionDied: () => {
      dead = true
      open.clear()
    },
    open: () => open.size
  }
}
