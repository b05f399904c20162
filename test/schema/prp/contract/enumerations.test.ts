import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import { CommandTypeV1, CommandTypeV2 } from "../../../../src/schema/prp/contract/command.ts"
import { EventTypeV2 } from "../../../../src/schema/prp/contract/eventTypeV2.ts"
import type { PrpSchemaId } from "../../../../src/schema/prp/contract/kinds.ts"
import { EventType } from "../../../../src/schema/prp/eventType.ts"
import { withAt } from "./places.ts"
import { samples, typedKinds } from "./samples.ts"

const accepts = (kind: PrpSchemaId, value: unknown) => Result.isSuccess(decodePrp(kind, value))

const words = (text: string) => text.split(" ")

/** Every member; an unknown one is refused. */
const members: ReadonlyArray<readonly [PrpSchemaId, path: string, ReadonlyArray<string>]> = [
  ["paperclip.prp.event.v1", "sourceKind", ["runner", "control_plane"]],
  ["paperclip.prp.event.v1", "payload/channel", words("progress final summary detail unknown")],
  ["paperclip.runtime_request.v1", "type", ["permission", "input"]],
  ["paperclip.runtime_request.v1", "status", words("pending resolved expired cancelled")],
  ["paperclip.runtime_request.v2", "status", words("pending resolved expired cancelled")],
  [
    "paperclip.interaction_request.v1",
    "kind",
    words("request_confirmation request_checkbox_confirmation request_item_verdicts ask_user_questions suggest_tasks")
  ],
  ["paperclip.question_set.v1", "questions/0/answerMode", ["single_select", "multi_select"]],
  ["paperclip.question_set.v1", "questions/0/textValidation/inputType", words("text number integer")],
  ["paperclip.prp.command.v2", "payload/status", ["active", "paused"]],
  ["paperclip.run_result.v1", "reportedWorkDisposition", words("done blocked needs_review yielded")],
  ["paperclip.run_result.v1", "completionClaim/criteria/0/status", words("satisfied not_satisfied unknown")],
  ["paperclip.run_result.v1", "verification/0/status", words("passed failed not_run")],
  [
    "paperclip.run_result.v1",
    "verification/0/reasonCode",
    words(
      "environment_unavailable tool_unavailable dependency_missing permission_denied credential_missing " +
        "policy_restricted external_service_unavailable budget_exhausted other"
    )
  ],
  ["paperclip.run_result.v1", "attentionRequests/0/ownerClass", words("human agent external_system")],
  ["paperclip.run_result.v1", "blocker/owner/kind", words("agent user system external")],
  ["paperclip.run_result.v1", "blocker/scope", words("current_track task_wide")],
  ["paperclip.run_result.v1", "continuation/kind", words("same_agent retry delegated_issue response_wake monitor")],
  ["paperclip.prp.terminal.v1", "turnTerminalState", words("completed failed interrupted cancelled")],
  ["paperclip.prp.terminal.v1", "runTerminalState", words("succeeded failed cancelled")],
  ["paperclip.prp.terminal.v1", "reportedWorkDisposition", words("done blocked needs_review yielded")],
  ["paperclip.prp.stop_reason.v1", "kind", ["budget", "cost"]],
  [
    "paperclip.prp.stop_reason.v1",
    "limitClass",
    words("company_monthly actor_monthly project_monthly run_cost provider_quota")
  ],
  ["paperclip.prp.stop_reason.v1", "aggregate/unit", words("cents usd_micros tokens")],
  ["paperclip.prp.stop_reason.v1", "aggregate/window", words("run monthly_utc provider_window")],
  ["paperclip.prp.capabilities.v1", "sessionReusePolicy", words("new_per_run reuse_per_issue reuse_per_workspace")],
  [
    "paperclip.prp.capabilities.v1",
    "typedEventFamilies/0/availability",
    words("available unsupported policy_disabled")
  ],
  ["paperclip.prp.capabilities.v1", "typedEventFamilies/0/detailLevel", ["summary", "structured"]],
  ["paperclip.prp.capabilities.v1", "semanticTools/operations/0/availability", words("available denied unsupported")],
  ["goal_capability", "availability", words("available unsupported policy_disabled")],
  ["goal_snapshot", "status", words("active paused blocked limited usage_limited budget_limited complete")],
  ["paperclip.prp.semantic_tool.v1", "phase", words("input result reconciled")],
  ["paperclip.prp.semantic_tool.v1", "outcome", words("succeeded denied conflict duplicate unavailable failed")],
  [
    "paperclip.prp.semantic_tool.v1",
    "authorizationBoundary",
    words("company actor active_task grant governed_action lock revision")
  ],
  [
    "paperclip.prp.semantic_tool.v1",
    "content/redactionDisposition",
    words("digest_only allowlisted_references redacted")
  ],
  [
    "paperclip.prp.semantic_tool.v1",
    "content/references/0/kind",
    words("task document_revision interaction approval decision artifact work_product wake monitor audit operation")
  ],
  ["paperclip.prp.semantic_tool.v1", "artifactRefs/0/kind", ["artifact", "work_product"]],
  ["paperclip.prp.semantic_tool.v1", "targets/0/kind", words("document_revision interaction approval decision")],
  ["provider_descriptor", "agent", words("pi claude codex")],
  ["paperclip.plan.updated.v1", "steps/0/status", words("pending in_progress completed blocked")],
  ["paperclip.plan.updated.v1", "syncStatus", words("streaming pending synchronized conflict not_applicable")],
  ["paperclip.tool.execution.v1", "transport", words("process mcp dynamic builtin")],
  ["paperclip.tool.execution.v1", "operation", words("read search list execute edit unknown")],
  ["paperclip.tool.execution.v1", "status", words("running completed failed cancelled interrupted")],
  ["paperclip.research.v1", "action", words("search open_page find_in_page other")],
  ["paperclip.research.v1", "status", words("running completed failed cancelled")],
  ["paperclip.delegation.v1", "action", words("spawn message resume wait close")],
  ["paperclip.delegation.v1", "status", words("running waiting completed failed interrupted closed")],
  ["paperclip.delegation.v1", "children/0/status", words("running waiting completed failed interrupted closed")],
  ["paperclip.model.verification.v1", "status", words("running completed failed")],
  ["paperclip.context.compacted.v1", "reason", words("context_window manual provider unknown")],
  ["paperclip.artifact.generated.v1", "status", words("running completed failed")],
  ["paperclip.review.mode_changed.v1", "state", ["entered", "exited"]],
  ["paperclip.hook.v1", "status", words("running completed failed cancelled")],
  ["paperclip.safety.review.v1", "status", words("running completed failed")],
  ["paperclip.safety.review.v1", "decision", words("pending allowed denied user_required unknown")],
  ["paperclip.terminal.input_sent.v1", "origin", words("agent user system")],
  ["paperclip.terminal.input_sent.v1", "inputClass", words("text control eof")],
  ["paperclip.wait.v1", "reason", words("timer provider rate_limit unknown")],
  ["paperclip.wait.v1", "status", words("running completed interrupted cancelled")],
  ["paperclip.provider.notice.v1", "severity", words("info warning error")],
  ["paperclip.provider.notice.v1", "scope", words("turn session environment account")],
  ["paperclip.workspace.diff.v1", "source", ["harness_reported", "runner_verified"]],
  ["paperclip.workspace.diff.v1", "files/0/operation", words("create modify delete rename mode_change")],
  ["paperclip.workspace.file_reference.v1", "source", ["harness_reported", "runner_verified"]],
  ["paperclip.workspace.file_reference.v1", "presentation", words("document code image generic")]
]

describe("an enumeration", () => {
  for (const [kind, path, known] of members) {
    it(`has ${known.length} members in ${kind} at ${path}, and no other`, () => {
      const at = (value: unknown) => accepts(kind, withAt(samples[kind], path.split("/"), value))
      expect(known.filter((member) => !at(member))).toEqual([])
      for (const member of known) expect([at(`${member} `), at(member.toUpperCase())]).toEqual([false, false])
      expect(["", "unheard_of", "constructor", null, 0].filter(at)).toEqual([])
    })
  }
})

const eventV1 = { ...samples["paperclip.prp.event.v1"], payload: {} }
const eventV2 = { ...samples["paperclip.prp.event.v2"], payload: {} }

describe("an event type", () => {
  const typed = new Map(typedKinds)
  const payloadOf = (eventType: string) => samples[typed.get(eventType) ?? "usage"]

  it("is one of 105 in v1 and of 107 in v2", () => {
    expect([EventType.literals.length, new Set(EventType.literals).size]).toEqual([105, 105])
    expect([EventTypeV2.literals.length, new Set(EventTypeV2.literals).size]).toEqual([107, 107])
  })

  it("of v1 is accepted with its payload, and with none but its own where that is fixed", () => {
    for (const eventType of EventType.literals) {
      const event = { ...eventV1, eventType, payload: typed.has(eventType) ? payloadOf(eventType) : {} }
      expect([eventType, accepts("paperclip.prp.event.v1", event)]).toEqual([eventType, true])
      const bare = { ...event, payload: {} }
      expect([eventType, accepts("paperclip.prp.event.v1", bare)]).toEqual([eventType, !typed.has(eventType)])
    }
  })

  it("of v2 is accepted, with an open payload but where v2 adds to v1", () => {
    const fixed = new Set(["session.capabilities.updated", "session.goal.snapshot", "session.goal.updated"])
    for (const eventType of EventTypeV2.literals) {
      const event = { ...eventV2, eventType }
      expect([eventType, accepts("paperclip.prp.event.v2", event)]).toEqual([eventType, !fixed.has(eventType)])
    }
    const goals = { ...eventV2, eventType: "session.capabilities.updated" }
    expect(accepts("paperclip.prp.event.v2", { ...goals, payload: { sessionGoals: samples.goal_capability } })).toBe(
      true
    )
    for (const goal of [null, samples.goal_snapshot]) {
      const updated = { ...eventV2, eventType: "session.goal.updated", payload: { goal, later: 1 } }
      expect(accepts("paperclip.prp.event.v2", updated)).toBe(true)
    }
  })

  it("of one version only is refused by the other", () => {
    for (const eventType of ["runner.backpressure", "semantic_tool.reconciled"]) {
      expect(accepts("paperclip.prp.event.v2", { ...eventV2, eventType })).toBe(false)
    }
    for (const eventType of ["session.goal.cleared", "session.capabilities.updated"]) {
      expect(accepts("paperclip.prp.event.v1", { ...eventV1, eventType })).toBe(false)
    }
  })

  it("that records a diff demands a complete one", () => {
    const payload = { ...samples["paperclip.workspace.diff.v1"], complete: false }
    const event = (eventType: string) => accepts("paperclip.prp.event.v1", { ...eventV1, eventType, payload })
    expect([event("workspace.change.updated"), event("workspace.diff.recorded")]).toEqual([true, false])
  })

  it("of a semantic tool demands its phase", () => {
    const phases = {
      input: "input",
      result: "result",
      reconciled: "reconciled",
      tool_input: "input",
      tool_result: "result"
    }
    for (const [name, demanded] of Object.entries(phases)) {
      const eventType = `${name.startsWith("tool") ? "mcp_app" : "semantic_tool"}.${name}`
      for (const phase of ["input", "result", "reconciled"]) {
        const payload = { semantic_tool: { ...samples["paperclip.prp.semantic_tool.v1"], phase } }
        const isAccepted = accepts("paperclip.prp.event.v1", { ...eventV1, eventType, payload })
        expect([eventType, phase, isAccepted]).toEqual([eventType, phase, phase === demanded])
      }
    }
  })
})

describe("a command type", () => {
  it("is one of 18 in v1 and of 21 in v2", () => {
    expect([CommandTypeV1.literals.length, CommandTypeV2.literals.length]).toEqual([18, 21])
    for (const type of CommandTypeV2.literals) {
      const isInV1 = CommandTypeV1.literals.some((known) => known === type)
      expect([type, accepts("paperclip.prp.command.v1", { ...samples["paperclip.prp.command.v1"], type })]).toEqual([
        type,
        isInV1
      ])
      expect(accepts("paperclip.prp.command.v2", { ...samples["paperclip.prp.command.v2"], type })).toBe(true)
    }
    expect(accepts("paperclip.prp.command.v2", { ...samples["paperclip.prp.command.v2"], type: "x" })).toBe(false)
  })
})

describe("what depends on an enumeration", () => {
  const without = (value: object, ...names: ReadonlyArray<string>) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

  it("is the blocker of a blocked run and the continuation of a yielded one", () => {
    const result = samples["paperclip.run_result.v1"]
    for (const [disposition, demanded] of [
      ["blocked", "blocker"],
      ["yielded", "continuation"]
    ] as const) {
      const claim = { ...result, reportedWorkDisposition: disposition }
      const bare = without(claim, demanded)
      expect([accepts("paperclip.run_result.v1", claim), accepts("paperclip.run_result.v1", bare)]).toEqual([
        true,
        false
      ])
    }
    for (const disposition of ["done", "needs_review"]) {
      const claim = without({ ...result, reportedWorkDisposition: disposition }, "blocker", "continuation")
      expect(accepts("paperclip.run_result.v1", claim)).toBe(true)
    }
  })

  it("is how a semantic tool went, after its input", () => {
    const tool = samples["paperclip.prp.semantic_tool.v1"]
    for (const demanded of ["outcome", "code", "retryable", "authorizationBoundary", "operationReceiptId"]) {
      const at = (phase: string) => accepts("paperclip.prp.semantic_tool.v1", without({ ...tool, phase }, demanded))
      expect([at("input"), at("result"), at("reconciled")]).toEqual([true, false, false])
    }
  })

  it("are options and a custom answer of a question", () => {
    const accepted = (question: object) =>
      accepts("paperclip.question_set.v1", { schema: "paperclip.question_set.v1", questions: [question] })
    const question = { id: "q", prompt: "p", required: true }
    const options = [{ id: "o", label: "l" }]
    const customAnswer = { enabled: true }
    expect(accepted({ ...question, answerMode: "text" })).toBe(true)
    expect(accepted({ ...question, answerMode: "text", options })).toBe(false)
    expect(accepted({ ...question, answerMode: "text", customAnswer })).toBe(false)
    for (const answerMode of ["single_select", "multi_select"]) {
      expect(accepted({ ...question, answerMode, options, customAnswer })).toBe(true)
      expect(accepted({ ...question, answerMode, options, customAnswer: { enabled: false } })).toBe(false)
      expect(accepted({ ...question, answerMode })).toBe(false)
    }
  })

  const providers = [
    ["codex", "codex_app_server", "local_process", undefined],
    ["opencode", "opencode_server", "local_process", undefined],
    ["acpx", "acpx_runtime", "local_process", undefined],
    ["claude_managed", "claude_managed_agents_api", "remote_service", "anthropic_managed_agents"],
    ["aws_agentcore", "aws_agentcore_harness_api", "remote_service", "aws_bedrock_agentcore_harness"]
  ] as const
  for (const [provider, driver, executionKind, service] of providers) {
    it(`are the driver, the kind of execution and the service of ${provider}`, () => {
      const base = { ...without(samples.provider_descriptor, "service", "processId"), provider, driver, executionKind }
      const whole: Readonly<Record<string, unknown>> = service === undefined ? base : { ...base, service }
      const accepted = (change: object) => accepts("provider_descriptor", { ...whole, ...change })
      expect(accepted({})).toBe(true)
      for (const [other, otherDriver, , otherService] of providers) {
        if (other === provider) continue
        expect([accepted({ driver: otherDriver }), accepted({ provider: other })]).toEqual([false, false])
        if (otherService !== undefined) expect(accepted({ service: otherService })).toBe(false)
      }
      expect(accepted({ processId: null })).toBe(true)
      expect(accepted({ processId: 7 })).toBe(executionKind === "local_process")
      const lacking = Object.keys(whole).filter((name) => !accepts("provider_descriptor", without(whole, name)))
      expect(lacking).toEqual(
        Object.keys(whole).filter((name) => demandedBy(provider, service !== undefined).has(name))
      )
    })
  }
})

const demandedBy = (provider: string, isRemote: boolean): ReadonlySet<string> =>
  new Set([
    ...words("provider driver model executionKind providerVersion"),
    ...(isRemote ? ["service"] : []),
    ...(provider === "acpx"
      ? words(
          "agent requestedModel acpProtocolVersion agentServerPackage agentServerVersion acpxRecordId agentProcessId"
        )
      : []),
    ...(provider === "aws_agentcore" ? words("endpointArn endpointQualifier memoryId eventExpiryDays") : [])
  ])
