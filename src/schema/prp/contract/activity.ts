/**
 * The typed, closed payloads of what an agent does beyond plans, tools, changes and notices: research, delegation, models,
 * artifacts, reviews, hooks, citations, input to a terminal and waiting.
 */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { StableId } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { Count, Label, Name, NullableShortText, nullableText, safePath, ShortText } from "./primitives.ts"

const SafePath = Schema.NullOr(safePath(0, limits.toolTargetCharactersMax))
const SafeUrl = Schema.NullOr(textOf(0, limits.urlCharactersMax).check(Schema.isPattern(/^https?:\/\//u)))
const NullableLabel = nullableText(limits.prpLabelCharactersMax)
const NullableName = nullableText(limits.nameCharactersMax)
const NullableCount = Schema.NullOr(Count)

const Progress = Schema.Literals(["running", "completed", "failed"])
const CancellableProgress = Schema.Literals(["running", "completed", "failed", "cancelled"])

export const Research = Schema.Struct({
  schema: Schema.Literal("paperclip.research.v1"),
  researchId: StableId,
  action: Schema.Literals(["search", "open_page", "find_in_page", "other"]),
  status: CancellableProgress,
  query: Schema.optionalKey(NullableShortText),
  url: Schema.optionalKey(SafeUrl),
  pattern: Schema.optionalKey(NullableShortText),
  sources: Schema.Array(
    Schema.Struct({ sourceId: StableId, title: ShortText, url: SafeUrl, snippet: NullableShortText })
  ).check(Schema.isMaxLength(limits.researchSourcesMax))
})
export type Research = typeof Research.Type

const DelegationStatus = Schema.Literals(["running", "waiting", "completed", "failed", "interrupted", "closed"])

export const Delegation = Schema.Struct({
  schema: Schema.Literal("paperclip.delegation.v1"),
  delegationId: StableId,
  action: Schema.Literals(["spawn", "message", "resume", "wait", "close"]),
  status: DelegationStatus,
  children: Schema.Array(
    Schema.Struct({
      childId: StableId,
      role: NullableLabel,
      model: NullableName,
      status: DelegationStatus,
      summary: NullableShortText,
      activitySummary: NullableShortText
    })
  ).check(Schema.isMaxLength(limits.delegationChildrenMax))
})
export type Delegation = typeof Delegation.Type

export const ModelRouteChanged = Schema.Struct({
  schema: Schema.Literal("paperclip.model.route_changed.v1"),
  routeId: StableId,
  provider: Label,
  requestedModel: Name,
  fromModel: NullableName,
  effectiveModel: Name,
  reason: ShortText
})
export type ModelRouteChanged = typeof ModelRouteChanged.Type

export const ModelVerification = Schema.Struct({
  schema: Schema.Literal("paperclip.model.verification.v1"),
  verificationId: StableId,
  status: Progress,
  classes: Schema.Array(textOf(0, limits.prpLabelCharactersMax)).check(
    Schema.isMaxLength(limits.verificationClassesMax)
  ),
  buffering: Schema.Boolean,
  summary: NullableShortText
})
export type ModelVerification = typeof ModelVerification.Type

export const ArtifactViewed = Schema.Struct({
  schema: Schema.Literal("paperclip.artifact.viewed.v1"),
  artifactId: StableId,
  reference: SafePath,
  mediaType: NullableLabel,
  title: NullableShortText
})
export type ArtifactViewed = typeof ArtifactViewed.Type

export const ArtifactGenerated = Schema.Struct({
  schema: Schema.Literal("paperclip.artifact.generated.v1"),
  artifactId: StableId,
  status: Progress,
  reference: SafePath,
  mediaType: NullableLabel,
  registered: Schema.Boolean,
  transparentBackground: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  failure: NullableShortText
})
export type ArtifactGenerated = typeof ArtifactGenerated.Type

export const ReviewModeChanged = Schema.Struct({
  schema: Schema.Literal("paperclip.review.mode_changed.v1"),
  reviewId: StableId,
  state: Schema.Literals(["entered", "exited"]),
  scope: NullableShortText
})
export type ReviewModeChanged = typeof ReviewModeChanged.Type

export const Hook = Schema.Struct({
  schema: Schema.Literal("paperclip.hook.v1"),
  hookId: StableId,
  event: Label,
  scope: Label,
  status: CancellableProgress,
  blocking: Schema.Boolean,
  durationMs: NullableCount,
  summary: NullableShortText
})
export type Hook = typeof Hook.Type

export const MemoryCitation = Schema.Struct({
  schema: Schema.Literal("paperclip.memory.citation.v1"),
  citationId: StableId,
  messageItemId: StableId,
  label: ShortText,
  available: Schema.Boolean,
  reference: nullableText(limits.memoryReferenceCharactersMax)
})
export type MemoryCitation = typeof MemoryCitation.Type

export const SafetyReview = Schema.Struct({
  schema: Schema.Literal("paperclip.safety.review.v1"),
  reviewId: StableId,
  targetExecutionId: Schema.NullOr(StableId),
  status: Progress,
  decision: Schema.Literals(["pending", "allowed", "denied", "user_required", "unknown"]),
  summary: NullableShortText
})
export type SafetyReview = typeof SafetyReview.Type

/** That something was typed, and how much of it; never what. */
export const TerminalInput = Schema.Struct({
  schema: Schema.Literal("paperclip.terminal.input_sent.v1"),
  executionId: StableId,
  origin: Schema.Literals(["agent", "user", "system"]),
  inputClass: Schema.Literals(["text", "control", "eof"]),
  byteCount: Count
})
export type TerminalInput = typeof TerminalInput.Type

export const Wait = Schema.Struct({
  schema: Schema.Literal("paperclip.wait.v1"),
  waitId: StableId,
  reason: Schema.Literals(["timer", "provider", "rate_limit", "unknown"]),
  status: Schema.Literals(["running", "completed", "interrupted", "cancelled"]),
  plannedDurationMs: NullableCount,
  elapsedDurationMs: NullableCount
})
export type Wait = typeof Wait.Type
