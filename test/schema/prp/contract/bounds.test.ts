import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { limits } from "../../../../src/schema/limits.ts"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import type { PrpSchemaId } from "../../../../src/schema/prp/contract/kinds.ts"
import { valueAt, withAt } from "./places.ts"
import { samples } from "./samples.ts"

const accepts = (kind: PrpSchemaId, path: string, value: unknown) =>
  Result.isSuccess(decodePrp(kind, withAt(samples[kind], path.split("/"), value)))

type Text = readonly [kind: PrpSchemaId, path: string, min: number, max: number]

const short = limits.shortTextCharactersMax
const activity = "paperclip."

/** Texts of any characters. */
const texts: ReadonlyArray<Text> = [
  ...["commandId"].map((path): Text => ["paperclip.prp.command.v1", path, 1, 160]),
  ...["commandId", "payload/requestId"].map((path): Text => ["paperclip.prp.command.v2", path, 1, 160]),
  ["paperclip.prp.command.v2", "payload/objective", 1, short],
  ...["sourceEventId", "sourceInstanceId", "runId", "normalizedSessionId"].flatMap((path): ReadonlyArray<Text> => [
    ["paperclip.prp.event.v1", path, 1, 160],
    ["paperclip.prp.event.v2", path, 1, 160]
  ]),
  ...["turnId", "itemId"].flatMap((path): ReadonlyArray<Text> => [
    ["paperclip.prp.event.v1", path, 1, 240],
    ["paperclip.prp.event.v2", path, 1, 160],
    ["paperclip.runtime_request.v2", path, 1, 240]
  ]),
  ["paperclip.runtime_request.v1", "requestId", 1, 160],
  ["paperclip.runtime_request.v1", "prompt", 1, short],
  ["paperclip.runtime_request.v2", "requestId", 1, 160],
  ["paperclip.runtime_request.v2", "prompt", 1, short],
  ["paperclip.runtime_request.v2", "origin/adapter", 1, 160],
  ["paperclip.runtime_request.v2", "origin/provider", 1, 160],
  ["paperclip.runtime_request.v2", "origin/method", 1, 500],
  ["paperclip.interaction_request.v1", "requestId", 1, 160],
  ["paperclip.question_set.v1", "title", 0, 1000],
  ["paperclip.question_set.v1", "description", 0, short],
  ["paperclip.question_set.v1", "submitLabel", 0, 200],
  ["paperclip.question_set.v1", "questions/0/id", 1, 160],
  ["paperclip.question_set.v1", "questions/0/header", 0, 1000],
  ["paperclip.question_set.v1", "questions/0/prompt", 1, short],
  ["paperclip.question_set.v1", "questions/0/helpText", 0, short],
  ["paperclip.question_set.v1", "questions/0/options/0/id", 1, 160],
  ["paperclip.question_set.v1", "questions/0/options/0/label", 1, 1000],
  ["paperclip.question_set.v1", "questions/0/options/0/description", 0, short],
  ["paperclip.question_set.v1", "questions/0/customAnswer/label", 0, 1000],
  ["paperclip.question_set.v1", "questions/0/customAnswer/placeholder", 0, 1000],
  ["paperclip.question_set.v1", "questions/0/textValidation/pattern", 0, 1000],
  ["paperclip.question_response.v1", "answers/q1/selectedOptionIds/0", 1, 160],
  ["paperclip.question_response.v1", "answers/q1/text", 0, 100_000],
  ["paperclip.question_response.v1", "answers/q1/customText", 0, 100_000],
  ["paperclip.question_adapter_fixture.v1", "adapter", 1, 160],
  ["paperclip.run_result.v1", "summary", 1, 12_000],
  ["paperclip.prp.capabilities.v1", "driver/kind", 1, 80],
  ["paperclip.prp.capabilities.v2", "driver/version", 1, 80],
  ["paperclip.prp.capabilities.v1", "semanticTools/operations/0/requiredClaims/0", 1, 160],
  ["paperclip.prp.semantic_tool.v1", "idempotencyKey", 1, 240],
  ["goal_capability", "reasonCode", 1, 160],
  ["goal_capability", "reason", 1, 1000],
  ["goal_snapshot", "objective", 1, short],
  ["goal_snapshot", "lastReason", 0, short],
  ["usage", "provider", 1, 80],
  ...["model", "providerSessionId", "providerRequestId"].map((path): Text => ["usage", path, 0, 240]),
  ...["model", "providerSessionId", "agentRuntimePackage", "acpxRecordId"].map((path): Text => [
    "provider_descriptor",
    path,
    0,
    240
  ]),
  ...["endpointQualifier", "memoryId", "requestedModel", "agentServerPackage"].map((path): Text => [
    "provider_descriptor",
    path,
    1,
    240
  ]),
  ["provider_descriptor", "providerVersion", 1, 120],
  ["provider_descriptor", "agentServerVersion", 1, 120],
  ["provider_descriptor", "agentRuntimeVersion", 0, 120],
  ["provider_descriptor", "endpointArn", 1, 2048],
  ["paperclip.prp.fixture.v1", "name", 1, 120],
  ["paperclip.prp.fixture.v1", "description", 1, 1000],
  ["paperclip.runner.conformance.fixture.v1", "result/summary", 1, short],
  ["paperclip.runner.conformance.output.v1", "result/summary", 1, short],
  [`${activity}plan.updated.v1`, "explanation", 0, short],
  [`${activity}plan.updated.v1`, "steps/0/body", 0, short],
  [`${activity}tool.execution.v1`, "name", 0, short],
  [`${activity}tool.execution.v1`, "target", 0, 4096],
  [`${activity}tool.execution.v1`, "namespace", 0, 240],
  [`${activity}tool.execution.v1`, "progress", 0, short],
  [`${activity}tool.execution.v1`, "output", 0, 65_536],
  [`${activity}research.v1`, "query", 0, short],
  [`${activity}research.v1`, "pattern", 0, short],
  [`${activity}research.v1`, "sources/0/title", 0, short],
  [`${activity}research.v1`, "sources/0/snippet", 0, short],
  [`${activity}delegation.v1`, "children/0/role", 0, 160],
  [`${activity}delegation.v1`, "children/0/model", 0, 240],
  [`${activity}delegation.v1`, "children/0/summary", 0, short],
  [`${activity}delegation.v1`, "children/0/activitySummary", 0, short],
  [`${activity}model.route_changed.v1`, "provider", 1, 160],
  [`${activity}model.route_changed.v1`, "requestedModel", 1, 240],
  [`${activity}model.route_changed.v1`, "fromModel", 0, 240],
  [`${activity}model.route_changed.v1`, "effectiveModel", 1, 240],
  [`${activity}model.route_changed.v1`, "reason", 0, short],
  [`${activity}model.verification.v1`, "classes/0", 0, 160],
  [`${activity}model.verification.v1`, "summary", 0, short],
  [`${activity}artifact.viewed.v1`, "reference", 0, 4096],
  [`${activity}artifact.viewed.v1`, "mediaType", 0, 160],
  [`${activity}artifact.viewed.v1`, "title", 0, short],
  [`${activity}artifact.generated.v1`, "reference", 0, 4096],
  [`${activity}artifact.generated.v1`, "mediaType", 0, 160],
  [`${activity}artifact.generated.v1`, "failure", 0, short],
  [`${activity}review.mode_changed.v1`, "scope", 0, short],
  [`${activity}hook.v1`, "event", 1, 160],
  [`${activity}hook.v1`, "scope", 1, 160],
  [`${activity}hook.v1`, "summary", 0, short],
  [`${activity}memory.citation.v1`, "label", 0, short],
  [`${activity}memory.citation.v1`, "reference", 0, 4096],
  [`${activity}safety.review.v1`, "summary", 0, short],
  [`${activity}provider.notice.v1`, "category", 1, 160],
  [`${activity}provider.notice.v1`, "summary", 0, short],
  [`${activity}workspace.diff.v1`, "changeSetId", 1, 200],
  [`${activity}workspace.diff.v1`, "files/0/path", 1, 1024],
  [`${activity}workspace.diff.v1`, "files/0/previousPath", 1, 1024],
  [`${activity}workspace.diff.v1`, "files/0/diff", 0, 262_144],
  [`${activity}workspace.diff.v1`, "patchArtifactRef", 0, 2048],
  [`${activity}workspace.file_reference.v1`, "referenceId", 1, 240],
  [`${activity}workspace.file_reference.v1`, "path", 1, 1024],
  [`${activity}workspace.file_reference.v1`, "displayName", 1, 255],
  [`${activity}workspace.file_reference.v1`, "mediaType", 0, 160],
  [`${activity}workspace.file_reference.v1`, "preview", 0, 262_144],
  ["greenroom.prp.manifest.v1", "files/0/path", 1, 1024]
]

/** Ids that programs use as names: no character beyond ASCII, and none that is no letter or digit in front. */
const stableIds: ReadonlyArray<readonly [kind: PrpSchemaId, path: string, max: number]> = [
  ["paperclip.prp.identity.v1", "companyId", 160],
  ["paperclip.prp.identity.v1", "providerSessionId", 160],
  ["paperclip.prp.stop_reason.v1", "receiptId", 240],
  ["paperclip.prp.stop_reason.v1", "relatedReceiptIds/0", 240],
  ["paperclip.prp.semantic_tool.v1", "callId", 240],
  ["paperclip.prp.semantic_tool.v1", "correlation/requestId", 240],
  ["paperclip.prp.semantic_tool.v1", "targets/0/id", 240],
  ["paperclip.prp.capabilities.v1", "semanticTools/operations/0/operationId", 160],
  ["paperclip.plan.updated.v1", "planId", 160],
  ["paperclip.plan.updated.v1", "steps/0/stepId", 160],
  ["paperclip.research.v1", "sources/0/sourceId", 160],
  ["paperclip.delegation.v1", "children/0/childId", 160],
  ["paperclip.safety.review.v1", "targetExecutionId", 160]
]

const codes: ReadonlyArray<readonly [kind: PrpSchemaId, path: string]> = [
  ["paperclip.prp.stop_reason.v1", "code"],
  ["paperclip.prp.semantic_tool.v1", "code"],
  ["paperclip.prp.capabilities.v1", "semanticTools/operations/0/reasonCode"],
  ["paperclip.prp.capabilities.v1", "typedEventFamilies/0/family"]
]

/** Texts of any length but none. */
const notEmpty: ReadonlyArray<readonly [kind: PrpSchemaId, path: string]> = [
  ...[
    "completionClaim/contractRevision",
    "completionClaim/criteria/0/criterionId",
    "completionClaim/remainingWork/0/description",
    "verification/0/commandOrCheck",
    "attentionRequests/0/kind",
    "attentionRequests/0/summary",
    "attentionRequests/0/targetAgentId",
    "artifacts/0/kind",
    "artifacts/0/ref",
    "blocker/reasonCode",
    "blocker/owner/name",
    "blocker/unblockAction",
    "continuation/summary",
    "continuation/idempotencyKey"
  ].map((path) => ["paperclip.run_result.v1", path] as const),
  ["paperclip.prp.terminal.v1", "workAssessmentId"],
  ["paperclip.prp.terminal.v1", "statusDecisionId"],
  ["paperclip.prp.capabilities.v1", "unsupported/0"],
  ["paperclip.runtime_request.v1", "choices/0/key"],
  ["paperclip.runtime_request.v1", "choices/0/label"]
]

type Bounds = readonly [kind: PrpSchemaId, path: string, min: number | undefined, max: number]
const safe = Number.MAX_SAFE_INTEGER

const integers: ReadonlyArray<Bounds> = [
  ["paperclip.prp.command.v1", "controllerSeq", 1, safe],
  ["paperclip.prp.command.v2", "payload/tokenBudget", 1, safe],
  ["paperclip.prp.event.v1", "sourceSeq", 1, safe],
  ["paperclip.prp.event.v2", "sourceSeq", 1, safe],
  ["paperclip.prp.event.v1", "priority", 0, 2],
  ["paperclip.prp.stop_reason.v1", "aggregate/observed", 0, safe],
  ["paperclip.prp.semantic_tool.v1", "currentRevision", 0, safe],
  ["paperclip.question_set.v1", "questions/0/textValidation/minLength", 0, 100_000],
  ["paperclip.question_set.v1", "questions/0/textValidation/maxLength", 0, 100_000],
  ["goal_capability", "maxObjectiveChars", 1, 4000],
  ["goal_snapshot", "tokenBudget", 1, safe],
  ["goal_snapshot", "tokensUsed", 0, safe],
  ["usage", "cumulative/inputTokens", 0, safe],
  ["usage", "runDelta/requests", 0, safe],
  ["provider_descriptor", "agentProcessId", 1, safe],
  ["provider_descriptor", "eventExpiryDays", 90, 90],
  ["paperclip.plan.updated.v1", "revision", 1, safe],
  ["paperclip.plan.updated.v1", "documentRevision", 1, safe],
  ["paperclip.tool.execution.v1", "outputBytes", 0, safe],
  ["paperclip.tool.execution.v1", "exitCode", undefined, safe],
  ["paperclip.workspace.diff.v1", "totals/files", 0, safe],
  ["paperclip.workspace.file_reference.v1", "line", 1, safe],
  ["paperclip.runner.conformance.fixture.v1", "events/0/sequence", 1, safe],
  ["paperclip.prp.fixture.v1", "protocolVersion", 1, 2]
]

const lists: ReadonlyArray<Bounds> = [
  ["paperclip.question_set.v1", "questions", 1, 64],
  ["paperclip.question_set.v1", "questions/0/options", 1, 128],
  ["paperclip.question_set.v1", "questions/2/options", 0, 0],
  ["paperclip.prp.capabilities.v1", "typedEventFamilies", 0, 64],
  ["paperclip.plan.updated.v1", "steps", 0, 256],
  ["paperclip.research.v1", "sources", 0, 64],
  ["paperclip.delegation.v1", "children", 0, 64],
  ["paperclip.model.verification.v1", "classes", 0, 32],
  ["paperclip.workspace.diff.v1", "files", 0, 2000],
  ["paperclip.prp.fixture.v1", "events", 1, 1000],
  ["greenroom.prp.manifest.v1", "files", 0, limits.manifestFilesMax]
]

const verdict = (what: string, isAccepted: boolean) => `${what}: ${isAccepted ? "accepted" : "refused"}`

describe("the bounds of the contract", () => {
  it("are its own numbers, as the tables above have them", () => {
    expect(limits).toMatchObject({
      prpLabelCharactersMax: 160,
      providerVersionCharactersMax: 120,
      endpointArnCharactersMax: 2048,
      eventFamiliesMax: 64,
      resultSummaryCharactersMax: 12_000,
      goalReasonCharactersMax: 1000,
      questionsMax: 64,
      questionOptionsMax: 128,
      questionTitleCharactersMax: 1000,
      submitLabelCharactersMax: 200,
      answerCharactersMax: 100_000,
      answerPatternCharactersMax: 1000,
      originMethodCharactersMax: 500,
      researchSourcesMax: 64,
      urlCharactersMax: 8192,
      delegationChildrenMax: 64,
      verificationClassesMax: 32,
      memoryReferenceCharactersMax: 4096,
      displayNameCharactersMax: 255,
      filePreviewCharactersMax: 262_144,
      fixtureNameCharactersMax: 120,
      fixtureDescriptionCharactersMax: 1000
    })
  })
})

describe("a text of the contract", () => {
  for (const [kind, path, min, max] of texts) {
    it(`has ${min} to ${max} characters in ${kind} at ${path}, whatever they take in memory`, () => {
      for (const character of ["x", "😀", "\ud83d"]) {
        const of = (count: number) => verdict(`${count}`, accepts(kind, path, character.repeat(count)))
        expect(of(max)).toBe(`${max}: accepted`)
        expect(of(max + 1)).toBe(`${max + 1}: refused`)
        expect(of(min)).toBe(`${min}: accepted`)
        if (min > 0) expect(of(min - 1)).toBe(`${min - 1}: refused`)
      }
    })
  }

  it("is an address of the web in a research", () => {
    const url = (characters: number) => `https://${"x".repeat(characters - "https://".length)}`
    for (const path of ["url", "sources/0/url"]) {
      expect(accepts("paperclip.research.v1", path, url(limits.urlCharactersMax))).toBe(true)
      expect(accepts("paperclip.research.v1", path, url(limits.urlCharactersMax + 1))).toBe(false)
      expect(accepts("paperclip.research.v1", path, "file:///etc/passwd")).toBe(false)
    }
  })

  it("stays inside the workspace where it is a path", () => {
    for (const [kind, path] of [
      ["paperclip.tool.execution.v1", "target"],
      ["paperclip.artifact.viewed.v1", "reference"],
      ["paperclip.artifact.generated.v1", "reference"],
      ["paperclip.workspace.diff.v1", "files/0/path"],
      ["paperclip.workspace.diff.v1", "files/0/previousPath"],
      ["paperclip.workspace.file_reference.v1", "path"]
    ] as const) {
      for (const outside of ["/a", "..", "a/..", "a/../b", "../a", "a\nb"])
        expect(accepts(kind, path, outside)).toBe(false)
      for (const inside of ["a", "a/b", "..a/b..", "a/...", "😀"]) expect(accepts(kind, path, inside)).toBe(true)
    }
  })
})

describe("a name of the contract", () => {
  for (const [kind, path, max] of stableIds) {
    it(`is a stable id of 1 to ${max} characters in ${kind} at ${path}`, () => {
      for (const text of ["a", "A.b_c:d-9", "x".repeat(max)]) expect(accepts(kind, path, text)).toBe(true)
      for (const text of ["", "-a", "_a", "a b", "a\n", "é", "😀", "x".repeat(max + 1)]) {
        expect(accepts(kind, path, text)).toBe(false)
      }
    })
  }

  for (const [kind, path] of codes) {
    it(`is a code of 1 to 160 characters in ${kind} at ${path}`, () => {
      for (const text of ["a", "a.b_c-9", "x".repeat(160)]) expect(accepts(kind, path, text)).toBe(true)
      for (const text of ["", "A", "9a", ".a", "a b", "a\n", "x".repeat(161)])
        expect(accepts(kind, path, text)).toBe(false)
    })
  }

  it("of a question that is answered has 1 to 160 characters", () => {
    const answered = (id: string) => accepts("paperclip.question_response.v1", "answers", { [id]: {} })
    expect(["x", "😀".repeat(160), "x".repeat(160)].map(answered)).toEqual([true, true, true])
    expect(["", "😀".repeat(161), "x".repeat(161)].map(answered)).toEqual([false, false, false])
  })
})

describe("a number of the contract", () => {
  for (const [kind, path, min, max] of integers) {
    it(`is whole and from ${min ?? "below zero"} to ${max} in ${kind} at ${path}`, () => {
      const low = min ?? -safe
      for (const number of [low, max]) expect(accepts(kind, path, number)).toBe(true)
      for (const number of [low - 1, max + 1, 1.5, " ", true]) {
        expect(accepts(kind, path, number)).toBe(false)
      }
    })
  }

  for (const [kind, path] of [
    ["usage", "cumulative/activeSeconds"],
    ["usage", "runDelta/providerCostUsd"],
    ["goal_snapshot", "elapsedSeconds"]
  ] as const) {
    it(`is not below zero in ${kind} at ${path}`, () => {
      for (const number of [0, Number.MIN_VALUE, 1e300]) expect(accepts(kind, path, number)).toBe(true)
      for (const number of [-Number.MIN_VALUE, Number.POSITIVE_INFINITY, Number.NaN]) {
        expect(accepts(kind, path, number)).toBe(false)
      }
    })
  }
})

describe("a list of the contract", () => {
  for (const [kind, path, min, max] of lists) {
    it(`has ${min} to ${max} items in ${kind} at ${path}`, () => {
      const sample = valueAt(samples[kind], [...path.split("/"), "0"]) ?? { id: "o", label: "l" }
      const of = (count: number) =>
        accepts(
          kind,
          path,
          Array.from({ length: count }, () => sample)
        )
      expect(of(max)).toBe(true)
      if (path !== "events") expect(of(max + 1)).toBe(false)
      if (min !== undefined && min > 0) expect([of(min), of(min - 1)]).toEqual([true, false])
    })
  }

  for (const [kind, path, items] of [
    ["goal_capability", "actions", ["set", "set"]],
    ["paperclip.prp.capabilities.v1", "unsupported", ["a", "a"]],
    ["paperclip.prp.capabilities.v1", "semanticTools/operations/0/requiredClaims", ["a", "a"]],
    ["paperclip.prp.stop_reason.v1", "relatedReceiptIds", ["a", "a"]],
    ["paperclip.question_response.v1", "answers/q1/selectedOptionIds", ["a", "a"]],
    ...["content/references", "causalRefs", "artifactRefs"].map(
      (path) =>
        [
          "paperclip.prp.semantic_tool.v1",
          path,
          [
            { kind: "artifact", id: "a", more: { x: 1, y: [2] } },
            { more: { y: [2], x: 1 }, id: "a", kind: "artifact" }
          ]
        ] as const
    )
  ] as const) {
    it(`does not repeat an item in ${kind} at ${path}, in whatever order its properties are`, () => {
      expect(accepts(kind, path, items)).toBe(false)
      expect(accepts(kind, path, items.slice(1))).toBe(true)
    })
  }

  it.each(notEmpty)("hold no empty text in %s at %s", (kind, path) => {
    expect(typeof valueAt(samples[kind], path.split("/"))).toBe("string")
    expect([accepts(kind, path, "w"), accepts(kind, path, "")]).toEqual([true, false])
  })
})
