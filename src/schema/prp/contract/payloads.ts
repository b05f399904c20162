/** Which payload each event type demands. A type that is in neither table has an open one. */
import * as Schema from "effect/Schema"
import { ContextCompacted, PlanUpdated, ProviderNotice, ToolExecution, WorkspaceDiff } from "../activity.ts"
import {
  ArtifactGenerated,
  ArtifactViewed,
  Delegation,
  Hook,
  MemoryCitation,
  ModelRouteChanged,
  ModelVerification,
  Research,
  ReviewModeChanged,
  SafetyReview,
  TerminalInput,
  Wait
} from "./activity.ts"
import { FileReference } from "./fileReference.ts"
import { GoalCapability, GoalSnapshot } from "./goal.ts"
import { open } from "./primitives.ts"
import { RunResult } from "./result.ts"
import { SemanticTool, type SemanticToolPhase } from "./semanticTool.ts"
import { Terminal } from "./terminal.ts"

/** What is recorded is whole. */
const RecordedDiff = WorkspaceDiff.check(
  Schema.makeFilter((diff) => diff.complete || { path: ["complete"], issue: "Expected true" }, {
    toJsonSchema: () => ({ properties: { complete: { const: true } } })
  })
)

/** The call, where it is told, is at this phase. */
const toolCallAt = (phase: SemanticToolPhase) =>
  open({ semantic_tool: Schema.optionalKey(SemanticTool) }).check(
    Schema.makeFilter(
      ({ semantic_tool: call }) =>
        call === undefined || call.phase === phase
          ? undefined
          : { path: ["semantic_tool", "phase"], issue: `Expected ${JSON.stringify(phase)}` },
      { toJsonSchema: () => ({ properties: { semantic_tool: { properties: { phase: { const: phase } } } } }) }
    )
  )

const ToolInput = toolCallAt("input")
const ToolResult = toolCallAt("result")
const ToolReconciled = toolCallAt("reconciled")

export const payloadsV1 = {
  "plan.updated": PlanUpdated,
  "tool.execution.started": ToolExecution,
  "tool.execution.progressed": ToolExecution,
  "tool.execution.completed": ToolExecution,
  "research.started": Research,
  "research.progressed": Research,
  "research.completed": Research,
  "delegation.started": Delegation,
  "delegation.updated": Delegation,
  "delegation.completed": Delegation,
  "model.route.changed": ModelRouteChanged,
  "model.verification.updated": ModelVerification,
  "context.compacted": ContextCompacted,
  "artifact.viewed": ArtifactViewed,
  "artifact.generated": ArtifactGenerated,
  "review.mode.changed": ReviewModeChanged,
  "hook.started": Hook,
  "hook.completed": Hook,
  "memory.citation.referenced": MemoryCitation,
  "safety.review.started": SafetyReview,
  "safety.review.completed": SafetyReview,
  "terminal.input.sent": TerminalInput,
  "wait.started": Wait,
  "wait.completed": Wait,
  "provider.notice.recorded": ProviderNotice,
  "workspace.change.updated": WorkspaceDiff,
  "workspace.diff.recorded": RecordedDiff,
  "workspace.file.referenced": FileReference,
  "semantic_tool.input": ToolInput,
  "semantic_tool.result": ToolResult,
  "semantic_tool.reconciled": ToolReconciled,
  "mcp_app.tool_input": ToolInput,
  "mcp_app.tool_result": ToolResult,
  "run.result.proposed": RunResult,
  "run.terminal": Terminal
} as const

const GoalPayload = open({ goal: Schema.NullOr(GoalSnapshot) })

/** v2 types only what it adds; what v1 types is open in it. */
export const payloadsV2 = {
  "session.capabilities.updated": open({ sessionGoals: GoalCapability }),
  "session.goal.snapshot": GoalPayload,
  "session.goal.updated": GoalPayload
} as const
