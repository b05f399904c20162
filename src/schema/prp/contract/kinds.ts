/** Every kind of value that the contract has, by its schema id; by a name of ours where it has none. */
import { ContextCompacted, PlanUpdated, ProviderNotice, ToolExecution, WholeUsage, WorkspaceDiff } from "../activity.ts"
import * as activity from "./activity.ts"
import { CapabilitiesV1, CapabilitiesV2 } from "./capabilities.ts"
import { CommandV1, CommandV2 } from "./command.ts"
import { ConformanceFixture, ConformanceOutput } from "./conformance.ts"
import { EventV1, EventV2 } from "./event.ts"
import { FileReference } from "./fileReference.ts"
import { Fixture, Manifest, QuestionAdapterFixture } from "./fixture.ts"
import { GoalCapability, GoalSnapshot } from "./goal.ts"
import { Identity } from "./identity.ts"
import { ProviderDescriptor } from "./providerDescriptor.ts"
import { QuestionResponse, QuestionSet } from "./question.ts"
import { InteractionRequest, RuntimeRequestV1, RuntimeRequestV2 } from "./request.ts"
import { RunResult } from "./result.ts"
import { SemanticTool } from "./semanticTool.ts"
import { StopReason } from "./stopReason.ts"
import { Terminal } from "./terminal.ts"

export const prpSchemas = {
  "paperclip.prp.identity.v1": Identity,
  "paperclip.prp.command.v1": CommandV1,
  "paperclip.prp.command.v2": CommandV2,
  "paperclip.prp.event.v1": EventV1,
  "paperclip.prp.event.v2": EventV2,
  "paperclip.runtime_request.v1": RuntimeRequestV1,
  "paperclip.runtime_request.v2": RuntimeRequestV2,
  "paperclip.interaction_request.v1": InteractionRequest,
  "paperclip.question_set.v1": QuestionSet,
  "paperclip.question_response.v1": QuestionResponse,
  "paperclip.run_result.v1": RunResult,
  "paperclip.prp.stop_reason.v1": StopReason,
  "paperclip.prp.terminal.v1": Terminal,
  "paperclip.prp.capabilities.v1": CapabilitiesV1,
  "paperclip.prp.capabilities.v2": CapabilitiesV2,
  "paperclip.prp.semantic_tool.v1": SemanticTool,
  "paperclip.plan.updated.v1": PlanUpdated,
  "paperclip.tool.execution.v1": ToolExecution,
  "paperclip.research.v1": activity.Research,
  "paperclip.delegation.v1": activity.Delegation,
  "paperclip.model.route_changed.v1": activity.ModelRouteChanged,
  "paperclip.model.verification.v1": activity.ModelVerification,
  "paperclip.context.compacted.v1": ContextCompacted,
  "paperclip.artifact.viewed.v1": activity.ArtifactViewed,
  "paperclip.artifact.generated.v1": activity.ArtifactGenerated,
  "paperclip.review.mode_changed.v1": activity.ReviewModeChanged,
  "paperclip.hook.v1": activity.Hook,
  "paperclip.memory.citation.v1": activity.MemoryCitation,
  "paperclip.safety.review.v1": activity.SafetyReview,
  "paperclip.terminal.input_sent.v1": activity.TerminalInput,
  "paperclip.wait.v1": activity.Wait,
  "paperclip.provider.notice.v1": ProviderNotice,
  "paperclip.workspace.diff.v1": WorkspaceDiff,
  "paperclip.workspace.file_reference.v1": FileReference,
  "paperclip.prp.fixture.v1": Fixture,
  "paperclip.question_adapter_fixture.v1": QuestionAdapterFixture,
  "paperclip.runner.conformance.fixture.v1": ConformanceFixture,
  "paperclip.runner.conformance.output.v1": ConformanceOutput,
  "greenroom.prp.manifest.v1": Manifest,
  usage: WholeUsage,
  provider_descriptor: ProviderDescriptor,
  goal_capability: GoalCapability,
  goal_snapshot: GoalSnapshot
} as const

/** A kind of which the value itself says by its `schema` what it is. */
export const prpFamilies = {
  command: ["paperclip.prp.command.v1", "paperclip.prp.command.v2"],
  event: ["paperclip.prp.event.v1", "paperclip.prp.event.v2"],
  request: ["paperclip.runtime_request.v1", "paperclip.runtime_request.v2", "paperclip.interaction_request.v1"],
  capabilities: ["paperclip.prp.capabilities.v1", "paperclip.prp.capabilities.v2"],
  activity: [
    "paperclip.plan.updated.v1",
    "paperclip.tool.execution.v1",
    "paperclip.research.v1",
    "paperclip.delegation.v1",
    "paperclip.model.route_changed.v1",
    "paperclip.model.verification.v1",
    "paperclip.context.compacted.v1",
    "paperclip.artifact.viewed.v1",
    "paperclip.artifact.generated.v1",
    "paperclip.review.mode_changed.v1",
    "paperclip.hook.v1",
    "paperclip.memory.citation.v1",
    "paperclip.safety.review.v1",
    "paperclip.terminal.input_sent.v1",
    "paperclip.wait.v1",
    "paperclip.provider.notice.v1"
  ]
} as const satisfies Record<string, ReadonlyArray<keyof typeof prpSchemas>>

export type PrpSchemaId = keyof typeof prpSchemas
export type PrpFamily = keyof typeof prpFamilies
export type PrpKind = PrpSchemaId | PrpFamily

type Named = { readonly [Id in PrpSchemaId]: (typeof prpSchemas)[Id]["Type"] }

type Values = Named & { readonly [Family in PrpFamily]: Named[(typeof prpFamilies)[Family][number]] }

/** What a value of the kind is. */
export type PrpValue<Kind extends PrpKind> = Values[Kind]
