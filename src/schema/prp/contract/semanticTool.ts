/** The call of a tool of the control plane, without its content: ids, digests and receipts. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { Digest, LongStableId } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { whereOneOf } from "./conditional.ts"
import { Count, open, StableCode } from "./primitives.ts"
import { unique } from "./unique.ts"

export const SemanticToolPhase = Schema.Literals(["input", "result", "reconciled"])
export type SemanticToolPhase = typeof SemanticToolPhase.Type

const referenceTo = <const Kinds extends ReadonlyArray<string>>(kinds: Kinds) =>
  open({ kind: Schema.Literals(kinds), id: LongStableId })

/** Names a record without repeating anything of it. */
export const SafeReference = referenceTo([
  "task",
  "document_revision",
  "interaction",
  "approval",
  "decision",
  "artifact",
  "work_product",
  "wake",
  "monitor",
  "audit",
  "operation"
])
export type SafeReference = typeof SafeReference.Type

export const ImmutableTarget = open({
  kind: Schema.Literals(["document_revision", "interaction", "approval", "decision"]),
  id: LongStableId,
  immutable: Schema.Literal(true),
  revisionId: Schema.optionalKey(LongStableId),
  decisionId: Schema.optionalKey(LongStableId)
})
export type ImmutableTarget = typeof ImmutableTarget.Type

/** A result or a reconciled call says how it went; an input need not. */
export const SemanticTool = open({
  schema: Schema.Literal("paperclip.prp.semantic_tool.v1"),
  schemaVersion: Schema.Literal(1),
  phase: SemanticToolPhase,
  operationId: LongStableId,
  callId: LongStableId,
  correlation: open({
    runId: LongStableId,
    normalizedSessionId: LongStableId,
    turnId: LongStableId,
    itemId: LongStableId,
    requestId: Schema.optionalKey(LongStableId)
  }),
  idempotencyKey: Schema.NullOr(textOf(1, limits.nameCharactersMax)),
  content: open({
    digest: Digest,
    redactionDisposition: Schema.Literals(["digest_only", "allowlisted_references", "redacted"]),
    references: Schema.Array(SafeReference).check(unique)
  }),
  outcome: Schema.optionalKey(
    Schema.Literals(["succeeded", "denied", "conflict", "duplicate", "unavailable", "failed"])
  ),
  code: Schema.optionalKey(StableCode),
  retryable: Schema.optionalKey(Schema.Boolean),
  authorizationBoundary: Schema.optionalKey(
    Schema.Literals(["company", "actor", "active_task", "grant", "governed_action", "lock", "revision"])
  ),
  operationReceiptId: Schema.optionalKey(LongStableId),
  auditReceiptId: Schema.optionalKey(LongStableId),
  currentRevision: Schema.optionalKey(Schema.Union([Count, LongStableId])),
  duplicateOfReceiptId: Schema.optionalKey(LongStableId),
  artifactRefs: Schema.optionalKey(Schema.Array(referenceTo(["artifact", "work_product"])).check(unique)),
  targets: Schema.optionalKey(Schema.Array(ImmutableTarget).check(unique)),
  causalRefs: Schema.optionalKey(Schema.Array(SafeReference).check(unique))
}).check(
  Schema.makeFilter(
    (call) =>
      call.phase === "input"
        ? []
        : demandedOfAnEnd
            .filter((name) => !Object.hasOwn(call, name))
            .map((name) => ({ path: [name], issue: `Expected because the phase is ${call.phase}` })),
    { toJsonSchema: () => whereOneOf("phase", ["result", "reconciled"], { required: [...demandedOfAnEnd] }) }
  )
)
export type SemanticTool = typeof SemanticTool.Type

const demandedOfAnEnd = ["outcome", "code", "retryable", "authorizationBoundary", "operationReceiptId"] as const
