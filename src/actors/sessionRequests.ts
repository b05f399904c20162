/**
 * The requests of a session: the open ones, found by their id and by their slot, and of those that have ended why an answer
 * comes too late. Bounds: how many of those are remembered.
 */
import { limits } from "../schema/limits.ts"
import type { PermissionRequest } from "../schema/request.ts"
import type { RefusalReason } from "./requestState.ts"
import type { RuntimeRequest } from "./RuntimeRequest.ts"

export interface SessionRequests {
  readonly opened: (request: PermissionRequest, slotKey: string, actor: RuntimeRequest) => void
  readonly ended: (requestId: string, slotKey: string, tooLate: RefusalReason) => void
  readonly find: (requestId: string) => RuntimeRequest | RefusalReason
  readonly findBySlot: (slotKey: string) => RuntimeRequest | undefined
  /** What is open, in the order of its arrival. */
  readonly open: () => ReadonlyArray<PermissionRequest>
}

export const makeSessionRequests = (): SessionRequests => {
  const open = new Map<string, { readonly request: PermissionRequest; readonly actor: RuntimeRequest }>()
  const openBySlot = new Map<string, RuntimeRequest>()
  const ended = new Map<string, RefusalReason>()

  return {
    opened: (request, slotKey, actor) => {
      open.set(request.requestId, { request, actor })
      openBySlot.set(slotKey, actor)
    },
    ended: (requestId, slotKey, tooLate) => {
      open.delete(requestId)
      openBySlot.delete(slotKey)
      ended.set(requestId, tooLate)
      if (ended.size > limits.rememberedRequestsMax) ended.delete(ended.keys().next().value ?? "")
    },
    find: (requestId) => open.get(requestId)?.actor ?? ended.get(requestId) ?? "unknown_request",
    findBySlot: (slotKey) => openBySlot.get(slotKey),
    open: () => [...open.values()].map(({ request }) => request)
  }
}
