import { describe, expect, it } from "@effect/vitest"
import { feed, payloadsOf, turnState } from "./feed.ts"

const answered = (result: unknown) => feed(turnState(), { _tag: "PromptResult", result })

describe("the answer of a prompt", () => {
  it("is no event when it says how the turn ended and nothing else", () => {
    for (const more of [{}, { _meta: {} }, { _meta: null, usage: null }]) {
      const { drafts, state } = answered({ stopReason: "end_turn", ...more })
      expect(drafts).toStrictEqual([])
      expect(state).toStrictEqual(turnState())
    }
  })

  it("tells the counts that it has, of which nobody knows what they cover", () => {
    const result = {
      stopReason: "end_turn",
      usage: { totalTokens: 15, inputTokens: 10, outputTokens: 5, cachedReadTokens: 0, thoughtTokens: null, odd: 1 },
      _meta: { quota: { x: 1 } }
    }
    const { drafts, state } = answered(result)
    expect(drafts).toStrictEqual([
      {
        eventType: "usage.reported",
        priority: 1,
        turnId: "t1",
        payload: {
          provider: "fake",
          model: null,
          known: { promptResult: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, totalTokens: 15 } },
          unknown: [
            "cumulative.inputTokens",
            "cumulative.outputTokens",
            "cumulative.cacheReadTokens",
            "cumulative.cacheWriteTokens",
            "cumulative.activeSeconds",
            "cumulative.requests",
            "cumulative.providerCostUsd",
            "runDelta"
          ],
          reason: "prompt_result_of_unknown_scope"
        },
        debug: { native: result }
      }
    ])
    expect(state).toStrictEqual(turnState())
  })

  it("is carried whole by a notice when it says more, or is not of the protocol's shape", () => {
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ stopReason: "end_turn", _meta: { quota: 1 } }, "prompt_result"],
      [{ stopReason: "end_turn", usage: { inputTokens: -1, outputTokens: "5" } }, "prompt_result"],
      [{ stopReason: "end_turn", novel: false }, "prompt_result"],
      [{ stopReason: 7, usage: { inputTokens: 1 } }, "malformed_result"],
      ["end_turn", "malformed_result"],
      [null, "malformed_result"]
    ]
    for (const [result, category] of cases) {
      const { drafts } = answered(result)
      expect(payloadsOf(drafts, "provider.notice.recorded")).toMatchObject([{ category, scope: "turn" }])
      expect(drafts[0]?.debug).toStrictEqual({ native: result })
    }
  })
})
