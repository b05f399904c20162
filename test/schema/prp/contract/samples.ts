/** One full value of every kind of the contract: every property that it knows is there. */
import type { PrpSchemaId } from "../../../../src/schema/prp/contract/kinds.ts"

export type Json = { readonly [name: string]: unknown }

const at = "2026-01-02T03:04:05.678Z"
const digest = `sha256:${"a".repeat(64)}`

const questionSet = {
  schema: "paperclip.question_set.v1",
  title: "t",
  description: "d",
  submitLabel: "s",
  questions: [
    {
      id: "q1",
      header: "h",
      prompt: "p",
      helpText: "h",
      required: true,
      answerMode: "single_select",
      options: [{ id: "o1", label: "l", description: "d", recommended: true }],
      customAnswer: { enabled: true, label: "l", placeholder: "p" },
      textValidation: { minLength: 0, maxLength: 9, pattern: "x", inputType: "text", minimum: 0, maximum: 1 }
    },
    { id: "q2", prompt: "p", required: false, answerMode: "multi_select", options: [{ id: "o1", label: "l" }] },
    { id: "q3", prompt: "p", required: false, answerMode: "text", options: [] }
  ]
}

const questionResponse = {
  schema: "paperclip.question_response.v1",
  answers: { q1: { selectedOptionIds: ["o1"], text: "t", customText: "c" } }
}

const result = {
  schema: "paperclip.run_result.v1",
  reportedWorkDisposition: "blocked",
  summary: "s",
  completionClaim: {
    contractRevision: "r",
    objectiveSatisfied: false,
    criteria: [{ criterionId: "c", status: "unknown", evidenceRefs: ["e"], explanation: "x" }],
    remainingWork: [{ description: "d", blocksCompletion: true }]
  },
  evidence: [{ any: 1 }],
  verification: [{ commandOrCheck: "c", status: "not_run", reasonCode: "other", detail: "d", artifactRef: "a" }],
  attentionRequests: [{ kind: "k", summary: "s", ownerClass: "agent", targetAgentId: "a" }],
  artifacts: [{ kind: "k", ref: "r", title: "t" }],
  blocker: { reasonCode: "r", owner: { kind: "user", name: "n" }, unblockAction: "u", scope: "task_wide" },
  continuation: { kind: "retry", summary: "s", idempotencyKey: "i" }
}

const stopReason = {
  schema: "paperclip.prp.stop_reason.v1",
  schemaVersion: 1,
  receiptId: "r1",
  kind: "budget",
  code: "code.x",
  retryable: false,
  decisionId: "d1",
  limitClass: "run_cost",
  aggregate: { unit: "cents", observed: 0, limit: 0, window: "run" },
  relatedReceiptIds: ["a", "b"]
}

const terminal = {
  schema: "paperclip.prp.terminal.v1",
  turnTerminalState: "completed",
  runTerminalState: "succeeded",
  reportedWorkDisposition: "done",
  workAssessmentId: "w",
  statusDecisionId: "s",
  stopReason
}

const goalCapability = {
  availability: "available",
  actions: ["set", "clear"],
  autonomousUpdates: true,
  persistentAcrossResume: false,
  maxObjectiveChars: 4000,
  tokenBudgetControl: true,
  usageReporting: true,
  reasonCode: "r",
  reason: "r"
}

const goalSnapshot = {
  objective: "o",
  status: "active",
  tokenBudget: 1,
  tokensUsed: 0,
  elapsedSeconds: 0.5,
  iterations: 0,
  lastReason: "l",
  createdAt: at,
  updatedAt: at,
  completedAt: null,
  workingNow: false
}

const capabilities = {
  sessionReusePolicy: "new_per_run",
  driver: { kind: "k", version: "v" },
  steer: true,
  interrupt: true,
  resume: true,
  runtimeRequests: true,
  structuredResult: true,
  typedEvents: true,
  unsupported: ["u"]
}

const capabilitiesV1 = {
  schema: "paperclip.prp.capabilities.v1",
  ...capabilities,
  typedEventFamilies: [{ family: "f", version: 1, availability: "available", detailLevel: "summary" }],
  semanticTools: {
    schema: "paperclip.prp.semantic_tools.v1",
    schemaVersion: 1,
    operations: [
      {
        operationId: "o",
        version: 1,
        availability: "denied",
        redactionDisposition: "digest_only",
        requiredClaims: ["c"],
        reasonCode: "r"
      }
    ]
  }
}

const identity = {
  schema: "paperclip.prp.identity.v1",
  companyId: "c",
  issueId: "i",
  runId: "r",
  environmentLeaseId: "e",
  runnerInstanceId: "ri",
  normalizedSessionId: "n",
  driverSessionId: "d",
  providerSessionId: "p"
}

const command = {
  commandId: "c1",
  controllerSeq: 1,
  issuedAt: at,
  deadlineAt: at,
  precondition: { runnerState: ["r"], runState: ["r"], sessionState: ["s"], activeTurnId: null }
}

const semanticTool = {
  schema: "paperclip.prp.semantic_tool.v1",
  schemaVersion: 1,
  phase: "result",
  operationId: "o",
  callId: "c",
  correlation: { runId: "r", normalizedSessionId: "n", turnId: "t", itemId: "i", requestId: "q" },
  idempotencyKey: "k",
  content: { digest, redactionDisposition: "redacted", references: [{ kind: "task", id: "t" }] },
  outcome: "succeeded",
  code: "ok",
  retryable: false,
  authorizationBoundary: "actor",
  operationReceiptId: "r",
  auditReceiptId: "a",
  currentRevision: 3,
  duplicateOfReceiptId: "d",
  artifactRefs: [{ kind: "artifact", id: "a" }],
  targets: [{ kind: "decision", id: "d", immutable: true, revisionId: "r", decisionId: "d" }],
  causalRefs: [{ kind: "wake", id: "w" }]
}

const envelope = {
  sourceEventId: "e1",
  sourceSeq: 1,
  sourceInstanceId: "i1",
  sourceKind: "runner",
  runId: "r1",
  priority: 1,
  emittedAt: at,
  normalizedSessionId: "s1",
  turnId: "t1",
  itemId: "i1",
  observedAt: at,
  debug: { native: 1 }
}

const eventV1 = {
  schema: "paperclip.prp.event.v1",
  schemaVersion: 1,
  eventType: "run.terminal",
  ...envelope,
  payload: { ...terminal, channel: "final", providerPhase: "p", providerMethod: "m" }
}

const eventV2 = {
  schema: "paperclip.prp.event.v2",
  schemaVersion: 2,
  eventType: "session.goal.snapshot",
  ...envelope,
  payload: { goal: goalSnapshot }
}

const commandV1 = { schema: "paperclip.prp.command.v1", type: "run.prepare", ...command, payload: {} }
const commandV2 = {
  schema: "paperclip.prp.command.v2",
  type: "session.goal.set",
  ...command,
  payload: { requestId: "r", objective: "o", status: "paused", tokenBudget: 1 }
}

const runtimeRequestV2 = {
  schema: "paperclip.runtime_request.v2",
  requestKind: "runtime",
  requestId: "r",
  type: "input",
  status: "pending",
  prompt: "p",
  input: questionSet,
  origin: { adapter: "a", provider: "p", method: "m" },
  turnId: "t",
  itemId: "i"
}

const measurement = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  activeSeconds: 0.5,
  requests: 0,
  providerCostUsd: 0.5
}

export const samples: Readonly<Record<PrpSchemaId, Json>> = {
  "paperclip.prp.identity.v1": identity,
  "paperclip.prp.command.v1": commandV1,
  "paperclip.prp.command.v2": commandV2,
  "paperclip.prp.event.v1": eventV1,
  "paperclip.prp.event.v2": eventV2,
  "paperclip.runtime_request.v1": {
    schema: "paperclip.runtime_request.v1",
    requestKind: "runtime",
    requestId: "r",
    type: "permission",
    status: "resolved",
    prompt: "p",
    choices: [{ key: "k", label: "l" }]
  },
  "paperclip.runtime_request.v2": runtimeRequestV2,
  "paperclip.interaction_request.v1": {
    schema: "paperclip.interaction_request.v1",
    requestKind: "issue_thread",
    requestId: "r",
    kind: "suggest_tasks",
    blocking: true,
    payload: {}
  },
  "paperclip.question_set.v1": questionSet,
  "paperclip.question_response.v1": questionResponse,
  "paperclip.run_result.v1": result,
  "paperclip.prp.stop_reason.v1": stopReason,
  "paperclip.prp.terminal.v1": terminal,
  "paperclip.prp.capabilities.v1": capabilitiesV1,
  "paperclip.prp.capabilities.v2": {
    schema: "paperclip.prp.capabilities.v2",
    ...capabilities,
    sessionGoals: goalCapability
  },
  "paperclip.prp.semantic_tool.v1": semanticTool,
  "paperclip.prp.fixture.v1": {
    schema: "paperclip.prp.fixture.v1",
    fixtureVersion: 1,
    protocolVersion: 2,
    name: "n",
    description: "d",
    identity,
    capabilities: capabilitiesV1,
    commands: [commandV1, commandV2],
    events: [eventV1, eventV2],
    requests: [runtimeRequestV2],
    result
  },
  "paperclip.question_adapter_fixture.v1": {
    schema: "paperclip.question_adapter_fixture.v1",
    adapter: "a",
    nativeRequest: null,
    canonicalQuestionSet: questionSet,
    canonicalResponse: questionResponse,
    nativeResponse: {}
  },
  "paperclip.runner.conformance.fixture.v1": {
    schemaVersion: "paperclip.runner.conformance.fixture.v1",
    run: { runId: "r", sessionId: "s", companyId: "c", issueId: "i", agentId: "a" },
    events: [{ eventId: "e", runId: "r", sequence: 1, type: "run.started" }],
    result: { runId: "r", status: "succeeded", summary: "s" }
  },
  "paperclip.runner.conformance.output.v1": {
    schemaVersion: "paperclip.runner.conformance.output.v1",
    runIdentity: { runId: "r", sessionId: "s" },
    result: { status: "failed", summary: "s" }
  },
  "greenroom.prp.manifest.v1": {
    schema: "greenroom.prp.manifest.v1",
    protocolVersion: 2,
    files: [{ path: "schemas/event.json", digest }]
  },
  usage: {
    provider: "p",
    model: "m",
    providerSessionId: "s",
    providerRequestId: "r",
    cumulative: measurement,
    runDeltaAvailable: true,
    runDelta: measurement
  },
  provider_descriptor: {
    provider: "aws_agentcore",
    driver: "aws_agentcore_harness_api",
    model: "m",
    executionKind: "remote_service",
    providerVersion: "v",
    service: "aws_bedrock_agentcore_harness",
    providerSessionId: "s",
    processId: null,
    agentProcessId: 1,
    endpointArn: "a",
    endpointQualifier: "q",
    memoryId: "m",
    eventExpiryDays: 90,
    agent: "pi",
    requestedModel: "r",
    acpProtocolVersion: 1,
    agentServerPackage: "p",
    agentServerVersion: "v",
    agentRuntimePackage: "p",
    agentRuntimeVersion: "v",
    acpxRecordId: "r"
  },
  goal_capability: goalCapability,
  goal_snapshot: goalSnapshot,
  "paperclip.plan.updated.v1": {
    schema: "paperclip.plan.updated.v1",
    planId: "p",
    revision: 1,
    explanation: "e",
    steps: [{ stepId: "s", body: "b", status: "pending" }],
    complete: false,
    syncStatus: "not_applicable",
    documentRevision: 1
  },
  "paperclip.tool.execution.v1": {
    schema: "paperclip.tool.execution.v1",
    executionId: "e",
    transport: "process",
    operation: "execute",
    name: "n",
    target: "src/a.ts",
    namespace: "n",
    readOnly: false,
    status: "running",
    durationMs: 0,
    exitCode: -1,
    progress: "p",
    output: "o",
    outputBytes: 0,
    outputTruncated: false,
    outputDigest: digest
  },
  "paperclip.research.v1": {
    schema: "paperclip.research.v1",
    researchId: "r",
    action: "search",
    status: "running",
    query: "q",
    url: "https://x",
    pattern: "p",
    sources: [{ sourceId: "s", title: "t", url: "https://x", snippet: "s" }]
  },
  "paperclip.delegation.v1": {
    schema: "paperclip.delegation.v1",
    delegationId: "d",
    action: "spawn",
    status: "running",
    children: [{ childId: "c", role: "r", model: "m", status: "waiting", summary: "s", activitySummary: "a" }]
  },
  "paperclip.model.route_changed.v1": {
    schema: "paperclip.model.route_changed.v1",
    routeId: "r",
    provider: "p",
    requestedModel: "m",
    fromModel: "m",
    effectiveModel: "m",
    reason: "r"
  },
  "paperclip.model.verification.v1": {
    schema: "paperclip.model.verification.v1",
    verificationId: "v",
    status: "running",
    classes: ["c"],
    buffering: false,
    summary: "s"
  },
  "paperclip.context.compacted.v1": {
    schema: "paperclip.context.compacted.v1",
    compactionId: "c",
    reason: "manual",
    preTokens: 0,
    postTokens: 0,
    sameSession: true
  },
  "paperclip.artifact.viewed.v1": {
    schema: "paperclip.artifact.viewed.v1",
    artifactId: "a",
    reference: "r",
    mediaType: "m",
    title: "t"
  },
  "paperclip.artifact.generated.v1": {
    schema: "paperclip.artifact.generated.v1",
    artifactId: "a",
    status: "running",
    reference: "r",
    mediaType: "m",
    registered: true,
    transparentBackground: false,
    failure: "f"
  },
  "paperclip.review.mode_changed.v1": {
    schema: "paperclip.review.mode_changed.v1",
    reviewId: "r",
    state: "entered",
    scope: "s"
  },
  "paperclip.hook.v1": {
    schema: "paperclip.hook.v1",
    hookId: "h",
    event: "e",
    scope: "s",
    status: "running",
    blocking: true,
    durationMs: 0,
    summary: "s"
  },
  "paperclip.memory.citation.v1": {
    schema: "paperclip.memory.citation.v1",
    citationId: "c",
    messageItemId: "m",
    label: "l",
    available: true,
    reference: "r"
  },
  "paperclip.safety.review.v1": {
    schema: "paperclip.safety.review.v1",
    reviewId: "r",
    targetExecutionId: "t",
    status: "running",
    decision: "pending",
    summary: "s"
  },
  "paperclip.terminal.input_sent.v1": {
    schema: "paperclip.terminal.input_sent.v1",
    executionId: "e",
    origin: "agent",
    inputClass: "text",
    byteCount: 0
  },
  "paperclip.wait.v1": {
    schema: "paperclip.wait.v1",
    waitId: "w",
    reason: "timer",
    status: "running",
    plannedDurationMs: 0,
    elapsedDurationMs: 0
  },
  "paperclip.provider.notice.v1": {
    schema: "paperclip.provider.notice.v1",
    noticeId: "n",
    severity: "info",
    category: "c",
    scope: "turn",
    recoverable: true,
    userActionable: false,
    summary: "s"
  },
  "paperclip.workspace.diff.v1": {
    schema: "paperclip.workspace.diff.v1",
    changeSetId: "c",
    revision: 1,
    source: "harness_reported",
    complete: true,
    files: [
      { path: "a", operation: "rename", previousPath: "b", additions: 0, deletions: 0, binary: false, diff: "d" }
    ],
    totals: { files: 1, additions: 0, deletions: 0 },
    patchArtifactRef: "p"
  },
  "paperclip.workspace.file_reference.v1": {
    schema: "paperclip.workspace.file_reference.v1",
    referenceId: "r",
    source: "runner_verified",
    path: "a",
    displayName: "a",
    mediaType: "m",
    presentation: "code",
    line: 1,
    preview: "p",
    previewTruncated: false,
    contentDigest: digest
  }
}

/** The payload that the contract fixes for an event type of v1, if any; of a kind in `samples`. */
export const typedKinds: ReadonlyArray<readonly [eventType: string, kind: PrpSchemaId]> = [
  ["plan.updated", "paperclip.plan.updated.v1"],
  ["tool.execution.started", "paperclip.tool.execution.v1"],
  ["tool.execution.progressed", "paperclip.tool.execution.v1"],
  ["tool.execution.completed", "paperclip.tool.execution.v1"],
  ["research.started", "paperclip.research.v1"],
  ["research.progressed", "paperclip.research.v1"],
  ["research.completed", "paperclip.research.v1"],
  ["delegation.started", "paperclip.delegation.v1"],
  ["delegation.updated", "paperclip.delegation.v1"],
  ["delegation.completed", "paperclip.delegation.v1"],
  ["model.route.changed", "paperclip.model.route_changed.v1"],
  ["model.verification.updated", "paperclip.model.verification.v1"],
  ["context.compacted", "paperclip.context.compacted.v1"],
  ["artifact.viewed", "paperclip.artifact.viewed.v1"],
  ["artifact.generated", "paperclip.artifact.generated.v1"],
  ["review.mode.changed", "paperclip.review.mode_changed.v1"],
  ["hook.started", "paperclip.hook.v1"],
  ["hook.completed", "paperclip.hook.v1"],
  ["memory.citation.referenced", "paperclip.memory.citation.v1"],
  ["safety.review.started", "paperclip.safety.review.v1"],
  ["safety.review.completed", "paperclip.safety.review.v1"],
  ["terminal.input.sent", "paperclip.terminal.input_sent.v1"],
  ["wait.started", "paperclip.wait.v1"],
  ["wait.completed", "paperclip.wait.v1"],
  ["provider.notice.recorded", "paperclip.provider.notice.v1"],
  ["workspace.change.updated", "paperclip.workspace.diff.v1"],
  ["workspace.diff.recorded", "paperclip.workspace.diff.v1"],
  ["workspace.file.referenced", "paperclip.workspace.file_reference.v1"],
  ["run.result.proposed", "paperclip.run_result.v1"],
  ["run.terminal", "paperclip.prp.terminal.v1"]
]
