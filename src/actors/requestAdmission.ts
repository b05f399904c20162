/** From a native permission request to what its actor needs: our view of it, and what the policy makes of it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Launch } from "../services/AgentLink.ts"
import { Files } from "../services/Files.ts"
import { Ids } from "../services/Ids.ts"
import { permissionRequest } from "../services/permissionRequest.ts"
import { decide } from "../services/permissionPolicy.ts"
import type { Traits } from "../services/Provider.ts"
import { clientMethods } from "../schema/acp/protocol.ts"
import type { RequestMalformed } from "../schema/errors.ts"
import type { PermissionPolicy, PermissionRequest } from "../schema/request.ts"
import type { Entry } from "./Connection.ts"
import type { AdmittedRequest } from "./RuntimeRequest.ts"

export interface AdmissionContext {
  readonly turnId: string
  readonly options: {
    readonly launch: Launch
    readonly policy: PermissionPolicy
    readonly traits: Traits
    readonly canAsk: boolean
  }
}

/** What a native request is to us. Of the last two the slot is still open. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly options: AdmittedRequest }
  /** A kind of request that is not put to anybody. */
  | { readonly _tag: "Unsupported" }
  | { readonly _tag: "Malformed"; readonly error: RequestMalformed }

export const admitRequest = Effect.fnUntraced(function* (
  { slot, params }: Extract<Entry, { readonly _tag: "Request" }>,
  { turnId, options }: AdmissionContext
): Effect.fn.Return<Admission, never, Files | Ids> {
  if (slot.method !== clientMethods.requestPermission) return { _tag: "Unsupported" }
  const files = yield* Files
  const workspace = options.launch.cwd
  const workspaceRealPath = yield* files.realPath(workspace)
  const viewed = permissionRequest(params, {
    requestId: yield* (yield* Ids).next("request"),
    turnId,
    nativeId: slot.nativeId,
    workspaceRoots: workspaceRealPath === undefined ? [workspace] : [workspace, workspaceRealPath]
  })
  if (Result.isFailure(viewed)) return { _tag: "Malformed", error: viewed.failure }
  const request = viewed.success
  const decision = decide(options.policy, request, {
    toolKindTrusted: options.traits.toolKindTrusted,
    canAsk: options.canAsk,
    workspaceRealPath,
    targetRealPath: yield* targetRealPath(request, workspace)
  })
  return { _tag: "Admitted", options: { request, slot, decision } }
})

const targetRealPath = (
  { target }: PermissionRequest,
  workspace: string
): Effect.Effect<string | undefined, never, Files> =>
  target._tag === "Inside"
    ? Effect.flatMap(Files, (files) => files.realPath(`${workspace}/${target.path}`))
    : Effect.succeed(undefined)
