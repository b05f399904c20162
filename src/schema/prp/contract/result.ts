/** What an agent claims about its run: a claim that the control plane judges, never a fact. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { whereOneOf } from "./conditional.ts"
import { anyProperty, open } from "./primitives.ts"

const Text = Schema.NonEmptyString

export const Disposition = Schema.Literals(["done", "blocked", "needs_review", "yielded"])
export type Disposition = typeof Disposition.Type

export const CriterionStatus = Schema.Literals(["satisfied", "not_satisfied", "unknown"])
export type CriterionStatus = typeof CriterionStatus.Type

export const CompletionClaim = open({
  contractRevision: Text,
  objectiveSatisfied: Schema.Boolean,
  criteria: Schema.Array(
    open({
      criterionId: Text,
      status: CriterionStatus,
      evidenceRefs: Schema.Array(Schema.String),
      explanation: Schema.optionalKey(Schema.String)
    })
  ),
  remainingWork: Schema.Array(open({ description: Text, blocksCompletion: Schema.Boolean }))
})
export type CompletionClaim = typeof CompletionClaim.Type

export const VerificationStatus = Schema.Literals(["passed", "failed", "not_run"])
export type VerificationStatus = typeof VerificationStatus.Type

/** Why a check reached no verdict. */
export const UnavailabilityReason = Schema.Literals([
  "environment_unavailable",
  "tool_unavailable",
  "dependency_missing",
  "permission_denied",
  "credential_missing",
  "policy_restricted",
  "external_service_unavailable",
  "budget_exhausted",
  "other"
])
export type UnavailabilityReason = typeof UnavailabilityReason.Type

/** `failed` is a verdict about the work; a check that could not run is `not_run`. */
export const Verification = open({
  commandOrCheck: Text,
  status: VerificationStatus,
  reasonCode: Schema.optionalKey(UnavailabilityReason),
  detail: Schema.optionalKey(Schema.String),
  artifactRef: Schema.optionalKey(Schema.String)
})
export type Verification = typeof Verification.Type

export const Blocker = open({
  reasonCode: Text,
  owner: open({ kind: Schema.Literals(["agent", "user", "system", "external"]), name: Text }),
  unblockAction: Text,
  scope: Schema.Literals(["current_track", "task_wide"])
})
export type Blocker = typeof Blocker.Type

export const AttentionRequest = open({
  kind: Schema.optionalKey(Text),
  summary: Schema.optionalKey(Text),
  ownerClass: Schema.optionalKey(Schema.Literals(["human", "agent", "external_system"])),
  targetAgentId: Schema.optionalKey(Text)
})
export type AttentionRequest = typeof AttentionRequest.Type

export const Continuation = open({
  kind: Schema.Literals(["same_agent", "retry", "delegated_issue", "response_wake", "monitor"]),
  summary: Text,
  idempotencyKey: Text
})
export type Continuation = typeof Continuation.Type

/** A blocked run names its blocker, a yielded one how it goes on. */
export const RunResult = open({
  schema: Schema.Literal("paperclip.run_result.v1"),
  reportedWorkDisposition: Disposition,
  summary: textOf(1, limits.resultSummaryCharactersMax),
  completionClaim: CompletionClaim,
  evidence: Schema.Array(anyProperty),
  verification: Schema.Array(Verification),
  attentionRequests: Schema.Array(AttentionRequest),
  artifacts: Schema.Array(open({ kind: Text, ref: Text, title: Schema.optionalKey(Schema.String) })),
  blocker: Schema.optionalKey(Blocker),
  continuation: Schema.optionalKey(Continuation)
}).check(
  Schema.makeFilter(
    (result) => {
      const demanded = demandedBy[result.reportedWorkDisposition]
      return demanded === undefined || Object.hasOwn(result, demanded)
        ? undefined
        : { path: [demanded], issue: `Expected because the work is reported as ${result.reportedWorkDisposition}` }
    },
    {
      toJsonSchema: () => ({
        allOf: Object.entries(demandedBy).flatMap(([disposition, demanded]) =>
          demanded === undefined ? [] : [whereOneOf("reportedWorkDisposition", [disposition], { required: [demanded] })]
        )
      })
    }
  )
)
export type RunResult = typeof RunResult.Type

const demandedBy: Readonly<Record<Disposition, "blocker" | "continuation" | undefined>> = {
  done: undefined,
  needs_review: undefined,
  blocked: "blocker",
  yielded: "continuation"
}
