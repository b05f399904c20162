/**
 * What a policy makes of one permission request. Pure: the real paths that it needs were looked up before.
 *
 * Guarantees: only an option that the agent really offered is chosen, never one of a kind that ACP does not know; the least
 * lasting one is preferred. A request that is not valid is refused whatever the policy says. Nobody waits for an answer
 * that nobody can give: without someone to ask, what would be asked is rejected once and marked `headless`.
 */
import { limits } from "../schema/limits.ts"
import type { OptionKind, PermissionPolicy, PermissionRequest } from "../schema/request.ts"
import { isWithin } from "./permissionTarget.ts"

export interface PolicyContext {
  /** Trait of the agent: its `kind` field can be believed. */
  readonly toolKindTrusted: boolean
  /** There is somebody who can be asked. */
  readonly canAsk: boolean
  /** Real path of the workspace; `undefined` when it could not be told. */
  readonly workspaceRealPath: string | undefined
  /** Real path of the request's target; `undefined` when it does not exist or could not be told. */
  readonly targetRealPath: string | undefined
}

/** `optionId` is one of the offered; `undefined` in a denial: no reject option is offered, the answer is `cancelled`. */
export type Decision =
  | { readonly _tag: "Allow"; readonly optionId: string; readonly reason: string }
  | {
      readonly _tag: "Deny"
      readonly optionId: string | undefined
      readonly by: "policy" | "headless"
      readonly reason: string
    }
  | { readonly _tag: "Ask" }
  | { readonly _tag: "Refuse"; readonly reason: string }

export const decide = (policy: PermissionPolicy, request: PermissionRequest, context: PolicyContext): Decision => {
  const flaw = flawOf(request)
  if (flaw !== undefined) return { _tag: "Refuse", reason: flaw }
  switch (policy) {
    case "ask":
      return askSomebody(request, context)
    case "approve-reads":
      return allowRead(request, context) ?? askSomebody(request, context)
    case "approve-all":
      return (
        allowWith(request, ["allow_once", "allow_always"], "everything is approved") ?? askSomebody(request, context)
      )
    case "deny-all":
      return deny(request, "policy", "everything is denied")
  }
}

/** Why the request is not valid, if so. */
const flawOf = (request: PermissionRequest): string | undefined => {
  const ids = request.options.map((option) => option.nativeOptionId)
  if (ids.length > limits.requestOptionsMax) return "too many options"
  if (ids.some((id) => id === "" || id.length > limits.optionIdCharactersMax))
    return "an option id is empty or too long"
  if (new Set(ids).size !== ids.length) return "two options have the same id"
  return undefined
}

/** `allow_always` would allow more than this one read, so it is not taken here. */
const allowRead = (request: PermissionRequest, context: PolicyContext): Decision | undefined => {
  const { workspaceRealPath, targetRealPath } = context
  const isRead = request.kind === "read" || request.kind === "search"
  if (!context.toolKindTrusted || !isRead || request.target._tag !== "Inside") return undefined
  if (workspaceRealPath === undefined || targetRealPath === undefined) return undefined
  if (!isWithin(targetRealPath, workspaceRealPath)) return undefined
  return allowWith(request, ["allow_once"], "a read in the workspace")
}

const askSomebody = (request: PermissionRequest, context: PolicyContext): Decision =>
  context.canAsk ? { _tag: "Ask" } : deny(request, "headless", "there is nobody to ask")

const allowWith = (
  request: PermissionRequest,
  kinds: ReadonlyArray<OptionKind>,
  reason: string
): Decision | undefined => {
  const optionId = firstOffered(request, kinds)
  return optionId === undefined ? undefined : { _tag: "Allow", optionId, reason }
}

const deny = (request: PermissionRequest, by: "policy" | "headless", reason: string): Decision => ({
  _tag: "Deny",
  optionId: firstOffered(request, ["reject_once", "reject_always"]),
  by,
  reason
})

/** The first kind that is offered at all, and of its options the first one. */
const firstOffered = (request: PermissionRequest, kinds: ReadonlyArray<OptionKind>): string | undefined => {
  for (const kind of kinds) {
    const option = request.options.find((offered) => offered.kind === kind)
    if (option !== undefined) return option.optionId
  }
  return undefined
}
