import { describe, expect, it } from "@effect/vitest"
import { limits } from "../../../src/schema/limits.ts"
import type { EventDraft } from "../../../src/schema/prp/event.ts"
import { initialState } from "../../../src/schema/prp/projection.ts"
import {
  agent,
  ended,
  feed,
  feedTurn,
  message,
  payloadsOf,
  sessionState,
  textContent,
  thought,
  toolCall,
  toolUpdate,
  turnState,
  types,
  update
} from "./feed.ts"

const plan = (...statuses: ReadonlyArray<unknown>) => ({
  sessionUpdate: "plan",
  entries: statuses.map((status, index) => ({ content: `Step ${index}`, priority: "medium", status }))
})

describe("plans", () => {
  it("replace the plan of their turn under a rising revision", () => {
    const first = plan("completed", "in_progress")
    const { drafts, state } = feedTurn(first, plan("completed", "completed"), plan())
    expect(drafts[0]).toStrictEqual({
      eventType: "plan.updated",
      priority: 1,
      turnId: "t1",
      payload: {
        schema: "paperclip.plan.updated.v1",
        planId: "t1.plan",
        revision: 1,
        explanation: null,
        steps: [
          { stepId: "step-1", body: "Step 0", status: "completed" },
          { stepId: "step-2", body: "Step 1", status: "in_progress" }
        ],
        complete: false,
        syncStatus: "not_applicable",
        documentRevision: null
      },
      debug: { native: first }
    })
    const plans = payloadsOf(drafts, "plan.updated")
    expect(plans.map(({ revision, complete }) => [revision, complete])).toStrictEqual([
      [1, false],
      [2, true],
      [3, false]
    ])
    expect(state).toMatchObject({ sawPlan: true, sawMessage: false })
  })

  it("list their steps up to the bound and say that there are more", () => {
    const statuses = Array.from({ length: limits.planStepsMax }, () => "completed")
    expect(payloadsOf(feedTurn(plan(...statuses)).drafts, "plan.updated")[0]).toMatchObject({
      explanation: null,
      complete: true
    })
    const [more] = payloadsOf(feedTurn(plan(...statuses, "pending")).drafts, "plan.updated")
    expect(more?.steps).toHaveLength(limits.planStepsMax)
    expect(more).toMatchObject({ explanation: "The plan has 257 steps; the first 256 are listed.", complete: false })
  })

  it("say which steps are of high and of low priority, for a step has no place for it", () => {
    const entries = ["high", "medium", "low", "high", "urgent"].map((priority) => ({
      content: "x",
      priority,
      status: "pending"
    }))
    const [payload] = payloadsOf(feedTurn({ sessionUpdate: "plan", entries }).drafts, "plan.updated")
    expect(payload?.explanation).toBe("Steps of high priority: 1, 4. Steps of low priority: 3.")
  })

  it("cut a long step at its bound", () => {
    const max = limits.shortTextCharactersMax
    const entries = [max, max + 1].map((length) => ({ content: "😀".repeat(length), status: "pending" }))
    const [payload] = payloadsOf(feedTurn({ sessionUpdate: "plan", entries }).drafts, "plan.updated")
    expect(payload?.steps.map((step) => step.body)).toStrictEqual(["😀".repeat(max), "😀".repeat(max)])
  })
})

describe("usage", () => {
  it("cuts the names of the provider and of the model at their bounds", () => {
    const namesOf = (provider: string, model: string) => {
      const state = initialState({ _tag: "Turn", turnId: "t1" }, { provider, model })
      const { drafts } = feed(state, update({ sessionUpdate: "usage_update", used: 1, size: 2 }))
      const [payload] = payloadsOf(drafts, "usage.reported")
      return [payload?.provider, payload?.model]
    }
    const whole = ["p".repeat(limits.providerNameCharactersMax), "m".repeat(limits.nameCharactersMax)] as const
    expect(namesOf(...whole)).toStrictEqual(whole)
    expect(namesOf(`${whole[0]}p`, `${whole[1]}m`)).toStrictEqual(whole)
  })

  const counts = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "activeSeconds", "requests"]
  const names = counts.map((name) => `cumulative.${name}`)
  const usage = (fields: object) => ({ sessionUpdate: "usage_update", used: 11, size: 200, ...fields })
  const context = { contextUsedTokens: 11, contextWindowTokens: 200 }

  it("tells what is known and names what is not", () => {
    const native = usage({ cost: { amount: 0, currency: "USD" } })
    const { drafts, state } = feedTurn(native)
    expect(drafts).toStrictEqual([
      {
        eventType: "usage.reported",
        priority: 1,
        turnId: "t1",
        payload: {
          provider: "fake",
          model: null,
          known: { ...context, sessionCost: { amount: 0, currency: "USD" } },
          unknown: [...names, "runDelta"],
          reason: "context_occupancy_only"
        },
        debug: { native }
      }
    ])
    expect(state).toMatchObject({ sawMessage: false, sawThought: false, sawTool: false, sawPlan: false })
  })

  it("does not know the cost in dollars from none, or from one in another currency", () => {
    const inEuro = { amount: 1.5, currency: "eur" }
    for (const [cost, known] of [
      [undefined, context],
      [null, context],
      [inEuro, { ...context, sessionCost: { amount: 1.5, currency: "EUR" } }]
    ]) {
      expect(payloadsOf(feedTurn(usage({ cost })).drafts, "usage.reported")).toMatchObject([
        { known, unknown: [...names, "cumulative.providerCostUsd", "runDelta"] }
      ])
    }
  })
})

describe("updates about the session", () => {
  const many = (make: (index: number) => unknown) =>
    Array.from({ length: limits.sessionListEntriesMax + 1 }, (_, index) => make(index))
  const cases: ReadonlyArray<readonly [string, object, object]> = [
    [
      "a mode",
      { sessionUpdate: "current_mode_update", currentModeId: "plan" },
      { aspect: "current_mode", currentModeId: "plan" }
    ],
    [
      "options",
      {
        sessionUpdate: "config_option_update",
        configOptions: [
          { type: "select", id: "model", name: "Model", category: "model", currentValue: "m", options: [] },
          { type: "boolean", id: "fast", name: "Fast", description: null, currentValue: true },
          { type: "later", id: "odd", currentValue: { x: 1 } },
          null
        ]
      },
      {
        aspect: "config_options",
        configOptions: [
          { id: "model", type: "select", name: "Model", category: "model", currentValue: "m" },
          { id: "fast", type: "boolean", name: "Fast", currentValue: true },
          { id: "odd", type: "later" }
        ],
        entriesOmitted: 1
      }
    ],
    [
      "commands",
      {
        sessionUpdate: "available_commands_update",
        availableCommands: [
          { name: "plan", description: "Plan", input: null },
          { name: "x", input: { hint: "what" } }
        ]
      },
      {
        aspect: "available_commands",
        commands: [
          { name: "plan", description: "Plan" },
          { name: "x", inputHint: "what" }
        ]
      }
    ],
    [
      "a title",
      { sessionUpdate: "session_info_update", title: "T", updatedAt: null },
      { aspect: "info", title: "T", updatedAt: null }
    ],
    [
      "only an agent's own information",
      { sessionUpdate: "session_info_update", _meta: { queueDepth: 0 } },
      { aspect: "info" }
    ]
  ]
  for (const [what, native, payload] of cases) {
    it(`tell ${what} and carry the rest`, () => {
      const { drafts, state } = feedTurn(native)
      expect(drafts).toStrictEqual([
        { eventType: "session.updated", priority: 1, turnId: "t1", payload, debug: { native } }
      ])
      expect(state).toStrictEqual(turnState())
    })
  }

  it("list up to a bound and count the rest", () => {
    const { drafts } = feedTurn({
      sessionUpdate: "available_commands_update",
      availableCommands: many((index) => ({ name: `c${index}` }))
    })
    const [payload] = payloadsOf(drafts, "session.updated")
    expect(payload?.commands).toHaveLength(limits.sessionListEntriesMax)
    expect(payload?.entriesOmitted).toBe(1)
  })

  it("tell what can be chosen, in groups or not, up to a bound that all options share", () => {
    const choices = (count: number) => many((index) => ({ value: `v${index}`, name: `V${index}` })).slice(0, count)
    const optionsOf = (...lists: ReadonlyArray<unknown>) => {
      const configOptions = lists.map((options, index) => ({ id: `o${index}`, name: "O", type: "select", options }))
      const { drafts } = feedTurn({ sessionUpdate: "config_option_update", configOptions })
      return payloadsOf(drafts, "session.updated")[0]?.configOptions
    }
    const group = { group: "g", name: "Group", options: [{ value: "a", name: "A" }, { name: "no value" }] }
    expect(optionsOf([group, { value: "b" }, 7], "none")).toMatchObject([
      { choices: [{ value: "a", name: "A", group: "Group" }, { value: "b" }] },
      { id: "o1" }
    ])
    const max = limits.sessionListEntriesMax
    const [first, second, third] = optionsOf(choices(max - 1), choices(1), choices(2)) ?? []
    expect([first?.choices?.length, second?.choices?.length, third?.choices]).toStrictEqual([max - 1, 1, undefined])
    expect([first, second, third].map((option) => option?.choicesOmitted)).toStrictEqual([undefined, undefined, 2])
  })

  it("belong to no turn outside one", () => {
    const { drafts } = feed(sessionState(), update({ sessionUpdate: "current_mode_update", currentModeId: "m" }))
    expect(drafts[0]).not.toHaveProperty("turnId")
  })
})

describe("notices and compaction", () => {
  it("pass on what the agent has to say", () => {
    const { drafts } = feedTurn(
      { sessionUpdate: "notice", severity: "warning", title: "Careful", description: "Very" },
      { sessionUpdate: "notice", severity: "other", title: "Hm" }
    )
    expect(
      payloadsOf(drafts, "provider.notice.recorded").map(({ severity, category, summary }) => [
        severity,
        category,
        summary
      ])
    ).toStrictEqual([
      ["warning", "agent_notice", "Careful\nVery"],
      ["info", "agent_notice", "Hm"]
    ])
  })

  it("report a compaction once it is done", () => {
    const compaction = (status: string) => ({ sessionUpdate: "compaction_update", compactionId: "c 1", status })
    const chunk = {
      sessionUpdate: "compaction_summary_chunk",
      compactionId: "c 1",
      content: { type: "text", text: "s" }
    }
    const { drafts, state } = feedTurn(compaction("in_progress"), chunk, compaction("completed"))
    expect(types(drafts)).toStrictEqual(["provider.notice.recorded", "provider.notice.recorded", "context.compacted"])
    expect(drafts.map((draft) => draft.debug?.["native"])).toStrictEqual([
      compaction("in_progress"),
      chunk,
      compaction("completed")
    ])
    expect(payloadsOf(drafts, "context.compacted")).toMatchObject([
      { reason: "unknown", preTokens: null, postTokens: null }
    ])
    expect(state.sawMessage).toBe(false)
  })
})

describe("the summary of a compaction", () => {
  const block = (text: string) => ({ type: "text", text })
  const compaction = (fields: object) => ({ sessionUpdate: "compaction_update", compactionId: "c", ...fields })

  it("is told beside it, and the reason of a failure with it", () => {
    const { drafts } = feedTurn(
      compaction({ status: "completed", summary: [block("all"), { type: "image" }, block("of it")] }),
      compaction({ status: "failed", error: "too long" }),
      { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: block("a piece") },
      { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: { type: "image" } }
    )
    expect(
      payloadsOf(drafts, "provider.notice.recorded").map(({ category, summary }) => [category, summary])
    ).toStrictEqual(
      [
        "The agent's summary of the conversation: all\nof it",
        "The agent's compaction is failed. too long",
        "The agent's summary of the conversation: a piece",
        "The agent summarises the conversation."
      ].map((summary) => ["compaction", summary])
    )
    expect(types(drafts)[0]).toBe("context.compacted")
  })
})

describe("unknown updates", () => {
  const unknown: ReadonlyArray<unknown> = [
    { sessionUpdate: "brand_new", payload: { deep: [1, null] } },
    { sessionUpdate: "plan_update", plan: { planId: "p" } },
    { sessionUpdate: "plan_removed", planId: "p" },
    { sessionUpdate: "subagent_update" },
    { sessionUpdate: "session_message_chunk" },
    { sessionUpdate: "toString" },
    { sessionUpdate: 7 },
    {},
    JSON.parse('{"__proto__":{"sessionUpdate":"plan"}}')
  ]
  for (const native of unknown) {
    it(`of shape ${JSON.stringify(native)} are notices that lose nothing`, () => {
      const { drafts } = feedTurn(native)
      expect(drafts).toMatchObject([
        {
          eventType: "provider.notice.recorded",
          turnId: "t1",
          payload: { noticeId: "t1.notice-1", category: "unknown_update", severity: "info", scope: "turn" }
        }
      ])
      expect(drafts[0]?.debug).toStrictEqual({ native })
    })
  }

  it("name their kind only when it reads like one", () => {
    const summaries = ["brand_new", "x\u001b[31m", "x".repeat(81)].map(
      (kind) => payloadsOf(feedTurn({ sessionUpdate: kind }).drafts, "provider.notice.recorded")[0]?.summary
    )
    expect(summaries).toStrictEqual([
      "The agent sent an update of kind brand_new.",
      "The agent sent an update without a readable kind.",
      "The agent sent an update without a readable kind."
    ])
  })
})

/** Each beside the well-behaved one that it imitates. */
const malformed: ReadonlyArray<readonly [unknown, unknown]> = [
  [null, message("x")],
  [[message("x")], message("x")],
  ["agent_message_chunk", message("x")],
  [{ sessionUpdate: "agent_message_chunk" }, message("x")],
  [{ sessionUpdate: "agent_message_chunk", content: [{ type: "text", text: "x" }] }, message("x")],
  [{ sessionUpdate: "agent_message_chunk", content: { type: "text" } }, message("x")],
  [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: ["x"] } }, message("x")],
  [{ sessionUpdate: "agent_message_chunk", content: { type: "" } }, message("x")],
  [{ sessionUpdate: "agent_message_chunk", content: { text: "x" } }, message("x")],
  [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: 1 } }, thought("x")],
  [{ sessionUpdate: "user_message_chunk" }, message("x")],
  [{ sessionUpdate: "tool_call" }, toolCall("c")],
  [{ sessionUpdate: "tool_call_update", toolCallId: 1, status: "completed" }, toolUpdate("c", { status: "completed" })],
  [{ sessionUpdate: "plan" }, plan("pending")],
  [{ sessionUpdate: "plan", entries: {} }, plan("pending")],
  [plan("pending", "odd"), plan("pending")],
  [{ sessionUpdate: "plan", entries: [{ status: "pending" }] }, plan("pending")],
  [
    { sessionUpdate: "usage_update", used: null, size: 1 },
    { sessionUpdate: "usage_update", used: 1, size: 1 }
  ],
  [
    { sessionUpdate: "usage_update", used: 1.5, size: 1 },
    { sessionUpdate: "usage_update", used: 1, size: 1 }
  ],
  [
    { sessionUpdate: "usage_update", used: -1, size: 1 },
    { sessionUpdate: "usage_update", used: 1, size: 1 }
  ],
  [
    { sessionUpdate: "usage_update", used: 1, size: 1, cost: { amount: -1, currency: "USD" } },
    { sessionUpdate: "usage_update", used: 1, size: 1 }
  ],
  [
    { sessionUpdate: "usage_update", used: 1, size: 1, cost: { amount: 1, currency: "dollars" } },
    { sessionUpdate: "usage_update", used: 1, size: 1 }
  ],
  [
    { sessionUpdate: "current_mode_update", currentModeId: null },
    { sessionUpdate: "current_mode_update", currentModeId: "m" }
  ],
  [
    { sessionUpdate: "config_option_update", configOptions: {} },
    { sessionUpdate: "config_option_update", configOptions: [] }
  ],
  [
    { sessionUpdate: "available_commands_update" },
    { sessionUpdate: "available_commands_update", availableCommands: [] }
  ],
  [
    { sessionUpdate: "session_info_update", title: 1 },
    { sessionUpdate: "session_info_update", title: "t" }
  ],
  [
    { sessionUpdate: "notice", severity: "info" },
    { sessionUpdate: "notice", title: "t" }
  ],
  [
    { sessionUpdate: "compaction_update", status: "completed" },
    { sessionUpdate: "compaction_update", compactionId: "c", status: "completed" }
  ],
  [
    { sessionUpdate: "compaction_summary_chunk", compactionId: "c" },
    { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: {} }
  ]
]

describe("malformed updates", () => {
  for (const [hostile, behaved] of malformed) {
    it(`such as ${JSON.stringify(hostile).slice(0, 90)} are one notice and change nothing for others`, () => {
      const alone = feed(turnState(), update(message("a")), update(behaved), update(behaved), ended("completed"))
      const beside = feed(
        turnState(),
        update(message("a")),
        update(hostile),
        update(behaved),
        update(hostile),
        update(behaved),
        ended("completed")
      )
      const notices = beside.drafts.filter((draft) => draft.debug?.["native"] === hostile)
      expect(notices).toMatchObject([
        {
          eventType: "provider.notice.recorded",
          turnId: "t1",
          payload: { category: "malformed_update", severity: "warning" }
        },
        {
          eventType: "provider.notice.recorded",
          turnId: "t1",
          payload: { category: "malformed_update", severity: "warning" }
        }
      ])
      expect(beside.drafts.filter((draft) => draft.debug?.["native"] !== hostile).map(withoutNoticeId)).toStrictEqual(
        alone.drafts.map(withoutNoticeId)
      )
    })
  }

  it("count as no reply", () => {
    for (const [hostile] of malformed) {
      expect(feedTurn(hostile).state).toStrictEqual({ ...turnState(), noticeCount: 1 })
    }
  })
})

/** Notices are counted, so a notice more shifts the ids of later ones. */
const withoutNoticeId = (draft: EventDraft) =>
  draft.eventType === "provider.notice.recorded" ? { ...draft, payload: { ...draft.payload, noticeId: "" } } : draft

describe("the state", () => {
  it("can be projected from twice with the same result", () => {
    const inputs = [
      update(message("a")),
      update(toolCall("c")),
      update(plan("pending")),
      update({ sessionUpdate: "x" })
    ]
    const { state } = feed(turnState(), ...inputs)
    const next = [
      update(message("b")),
      update(toolUpdate("c", { status: "completed", content: textContent("o") })),
      ended("cancelled")
    ]
    expect(feed(state, ...next)).toStrictEqual(feed(state, ...next))
  })

  it("makes valid ids from any turn id", () => {
    for (const turnId of ["t 1", "😀".repeat(160), "x".repeat(129), "x".repeat(160), "é"]) {
      const { drafts } = feed(
        initialState({ _tag: "Turn", turnId }, agent),
        update(message("x")),
        update(plan("pending")),
        update({}),
        ended("failed")
      )
      expect(new Set(drafts.map((draft) => draft.turnId))).toStrictEqual(new Set([turnId]))
      expect(payloadsOf(drafts, "plan.updated")[0]?.planId).toMatch(/^turn-[0-9a-f]{32}\.plan$/)
    }
  })
})
