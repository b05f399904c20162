/**
 * The requests of a session: the open ones, found by their id and by their slot, and of those that have ended why an answer
 * comes too late. Bounds: how many of those are remembered.
 */
import { limits } from "../schema/limits.ts"
import type { RefusalReason } from "./requestState.ts"
import type { RuntimeRequest } from "./RuntimeRequest.ts"

export interface SessionRequests {
  readonly opened: (requestId: string, slotKey: string, request: RuntimeRequest) => void
  readonly ended: (requestId: string, slotKey: string, tooLate: RefusalReason) => void
  readonly find: (requestId: string) => RuntimeRequest | RefusalReason
  readonly findBySlot: (slotKey: string) => RuntimeRequest | undefined
}

export const makeSessionRequests = (): SessionRequests => {
  const open = new Map<string, RuntimeRequest>()
  const openBySlot = new Map<string, RuntimeRequest>()
  const ended = new Map<string, RefusalReason>()

  return {
    opened: (requestId, slotKey, request) => {
      open.set(requestId, request)
      openBySlot.set(slotKey, request)
    },
    ended: (requestId, slotKey, tooLate) => {
      open.delete(requestId)
      openBySlot.delete(slotKey)
      ended.set(requestId, tooLate)
      if (ended.size > limits.rememberedRequestsMax) ended.delete(ended.keys().next().value ?? "")
    },
    find: (requestId) => open.get(requestId) ?? ended.get(requestId) ?? "unknown_request",
    findBySlot: (slotKey) => openBySlot.get(slotKey)
  }
}
