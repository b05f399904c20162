/**
 * What the commands of a control plane hold for us. Payloads are open: what stands in them besides is ignored.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { textOf } from "./characters.ts"
import { StableId } from "./identity.ts"
import { limits } from "./limits.ts"
import { issuesOf } from "./prp/contract/issues.ts"
import { Id, Name, open } from "./prp/contract/primitives.ts"
import { PermissionPolicy } from "./request.ts"

const Path = textOf(1, limits.promptPathCharactersMax)

/**
 * `provider.agent` names the agent, `kind` does where there is none. The folder is `provider.cwd` or `workspace`. Without a
 * `permissionMode` the run asks.
 */
export const PreparePayload = open({
  identity: Schema.optionalKey(
    open({ companyId: Schema.optionalKey(StableId), normalizedSessionId: Schema.optionalKey(StableId) })
  ),
  provider: open({
    kind: Name,
    agent: Schema.optionalKey(Name),
    model: Schema.optionalKey(Schema.NullOr(Name)),
    mode: Schema.optionalKey(Name),
    cwd: Schema.optionalKey(Path),
    permissionMode: Schema.optionalKey(PermissionPolicy),
    mcpServers: Schema.optionalKey(Schema.Array(Schema.Unknown))
  }),
  workspace: Schema.optionalKey(Path),
  completionContract: Schema.optionalKey(
    open({
      revision: textOf(1, limits.providerVersionCharactersMax),
      criterionIds: Schema.Array(textOf(1, limits.nameCharactersMax)).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(limits.planStepsMax)
      )
    })
  )
})
export type PreparePayload = typeof PreparePayload.Type

/** The session of an earlier run, which goes on under this one. */
export const AttachPayload = open({
  paperclipNextAuthority: open({ identity: open({ normalizedSessionId: StableId }) })
})
export type AttachPayload = typeof AttachPayload.Type

export const TurnStartPayload = open({ turnId: Schema.optionalKey(StableId), text: Schema.NonEmptyString })
export type TurnStartPayload = typeof TurnStartPayload.Type

/** Without a turn: the one that runs. */
export const InterruptPayload = open({
  turnId: Schema.optionalKey(StableId),
  reason: Schema.optionalKey(Schema.String)
})
export type InterruptPayload = typeof InterruptPayload.Type

/** `optionId` names one of several choices of the same kind. */
export const ResolvePayload = open({
  requestId: Id,
  response: Schema.Unknown,
  optionId: Schema.optionalKey(Schema.NonEmptyString)
})
export type ResolvePayload = typeof ResolvePayload.Type

const names: ReadonlySet<PropertyKey> = new Set([
  "identity",
  "companyId",
  "normalizedSessionId",
  "provider",
  "kind",
  "agent",
  "model",
  "mode",
  "cwd",
  "permissionMode",
  "mcpServers",
  "workspace",
  "completionContract",
  "revision",
  "criterionIds",
  "paperclipNextAuthority",
  "turnId",
  "text",
  "reason",
  "requestId",
  "response",
  "optionId"
])

/** The payload, or the first thing that is wrong with it: a place and what was expected there, never the value. */
export const decodePayload = <A>(schema: Schema.ConstraintDecoder<A>, payload: unknown): Result.Result<A, string> =>
  Result.mapError(Schema.decodeUnknownResult(schema)(payload), ({ issue }) => {
    const [first] = issuesOf(issue, payload, names)
    return first === undefined ? "not of the shape of this command" : `payload${first.path}: ${first.expectation}`
  })
