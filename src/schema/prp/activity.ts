/**
 * The typed, closed payloads of PRP v1 that the projection emits: plans, tool executions, workspace changes,
 * notices, compactions and usage. An unknown property is refused where `Event` validates them.
 */
import * as Schema from "effect/Schema"
import { textOf } from "../characters.ts"
import { Digest, StableId } from "../identity.ts"
import { limits } from "../limits.ts"
import { Count, Revision, safePath, ShortText } from "./contract/primitives.ts"

export const PlanStep = Schema.Struct({
  stepId: StableId,
  body: ShortText,
  status: Schema.Literals(["pending", "in_progress", "completed", "blocked"])
})
export type PlanStep = typeof PlanStep.Type

/** A whole plan; it replaces the one with the same `planId`. */
export const PlanUpdated = Schema.Struct({
  schema: Schema.Literal("paperclip.plan.updated.v1"),
  planId: StableId,
  revision: Revision,
  explanation: Schema.optionalKey(Schema.NullOr(ShortText)),
  steps: Schema.Array(PlanStep).check(Schema.isMaxLength(limits.planStepsMax)),
  complete: Schema.Boolean,
  syncStatus: Schema.Literals(["streaming", "pending", "synchronized", "conflict", "not_applicable"]),
  documentRevision: Schema.optionalKey(Schema.NullOr(Revision))
})
export type PlanUpdated = typeof PlanUpdated.Type

export const ToolTransport = Schema.Literals(["process", "mcp", "dynamic", "builtin"])
export type ToolTransport = typeof ToolTransport.Type

export const ToolOperation = Schema.Literals(["read", "search", "list", "execute", "edit", "unknown"])
export type ToolOperation = typeof ToolOperation.Type

export const ToolStatus = Schema.Literals(["running", "completed", "failed", "cancelled", "interrupted"])
export type ToolStatus = typeof ToolStatus.Type

/** One tool call. `outputBytes` and `outputDigest` are of the whole output, `output` may be its end. */
export const ToolExecution = Schema.Struct({
  schema: Schema.Literal("paperclip.tool.execution.v1"),
  executionId: StableId,
  transport: ToolTransport,
  operation: ToolOperation,
  name: Schema.optionalKey(Schema.NullOr(ShortText)),
  target: Schema.optionalKey(Schema.NullOr(safePath(0, limits.toolTargetCharactersMax))),
  namespace: Schema.optionalKey(Schema.NullOr(textOf(0, limits.nameCharactersMax))),
  readOnly: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  status: ToolStatus,
  durationMs: Schema.optionalKey(Schema.NullOr(Count)),
  exitCode: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  progress: Schema.optionalKey(Schema.NullOr(ShortText)),
  output: Schema.NullOr(textOf(0, limits.toolOutputCharactersMax)),
  outputBytes: Count,
  outputTruncated: Schema.Boolean,
  outputDigest: Schema.NullOr(Digest)
})
export type ToolExecution = typeof ToolExecution.Type

const ChangedPath = safePath(1, limits.changedPathCharactersMax)

export const FileChange = Schema.Struct({
  path: ChangedPath,
  operation: Schema.Literals(["create", "modify", "delete", "rename", "mode_change"]),
  previousPath: Schema.NullOr(ChangedPath),
  additions: Schema.NullOr(Count),
  deletions: Schema.NullOr(Count),
  binary: Schema.Boolean,
  diff: Schema.NullOr(textOf(0, limits.fileDiffCharactersMax))
})
export type FileChange = typeof FileChange.Type

/** `harness_reported`: what the agent says it changed. Nobody looked at the disk. */
export const WorkspaceDiff = Schema.Struct({
  schema: Schema.Literal("paperclip.workspace.diff.v1"),
  changeSetId: textOf(1, limits.changeSetIdCharactersMax),
  revision: Revision,
  source: Schema.Literals(["harness_reported", "runner_verified"]),
  complete: Schema.Boolean,
  files: Schema.Array(FileChange).check(Schema.isMaxLength(limits.changedFilesMax)),
  totals: Schema.Struct({ files: Count, additions: Schema.NullOr(Count), deletions: Schema.NullOr(Count) }),
  patchArtifactRef: Schema.NullOr(textOf(0, limits.patchReferenceCharactersMax))
})
export type WorkspaceDiff = typeof WorkspaceDiff.Type

export const ProviderNotice = Schema.Struct({
  schema: Schema.Literal("paperclip.provider.notice.v1"),
  noticeId: StableId,
  severity: Schema.Literals(["info", "warning", "error"]),
  category: textOf(1, limits.noticeCategoryCharactersMax),
  scope: Schema.Literals(["turn", "session", "environment", "account"]),
  recoverable: Schema.Boolean,
  userActionable: Schema.Boolean,
  summary: ShortText
})
export type ProviderNotice = typeof ProviderNotice.Type

export const ContextCompacted = Schema.Struct({
  schema: Schema.Literal("paperclip.context.compacted.v1"),
  compactionId: StableId,
  reason: Schema.Literals(["context_window", "manual", "provider", "unknown"]),
  preTokens: Schema.NullOr(Count),
  postTokens: Schema.NullOr(Count),
  sameSession: Schema.Boolean
})
export type ContextCompacted = typeof ContextCompacted.Type

const NotNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const Measurement = Schema.Struct({
  inputTokens: Count,
  outputTokens: Count,
  cacheReadTokens: Count,
  cacheWriteTokens: Count,
  activeSeconds: NotNegative,
  requests: Count,
  providerCostUsd: NotNegative
})

const ProviderName = textOf(1, limits.providerNameCharactersMax)
const ModelName = Schema.NullOr(textOf(0, limits.nameCharactersMax))

/** PRP's receipt: every number is known. */
export const WholeUsage = Schema.Struct({
  provider: ProviderName,
  model: ModelName,
  providerSessionId: Schema.optionalKey(Schema.NullOr(textOf(0, limits.nameCharactersMax))),
  providerRequestId: Schema.optionalKey(Schema.NullOr(textOf(0, limits.nameCharactersMax))),
  cumulative: Measurement,
  runDeltaAvailable: Schema.optionalKey(Schema.Boolean),
  runDelta: Measurement
})
export type WholeUsage = typeof WholeUsage.Type

/** What is known when not everything is. `unknown` names what the receipt would need besides. */
export const PartialUsage = Schema.Struct({
  provider: ProviderName,
  model: ModelName,
  known: Schema.Record(Schema.String, Schema.Unknown),
  unknown: Schema.Array(Schema.String),
  reason: Schema.String
})
export type PartialUsage = typeof PartialUsage.Type
