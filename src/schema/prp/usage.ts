/**
 * What an agent says about its use, without inventing the rest. `usage_update` tells how full the context is and maybe what
 * the session has cost; neither is a count of tokens spent.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { NativeObject } from "./native.ts"
import { projectMalformed } from "./updateNotice.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"

const Tokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const AcpUsage = Schema.Struct({
  used: Tokens,
  size: Tokens,
  cost: Schema.optional(
    Schema.NullOr(
      Schema.Struct({
        amount: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
        currency: Schema.String.check(Schema.isPattern(/^[A-Za-z]{3}$/))
      })
    )
  )
})

const decodeUsage = Schema.decodeUnknownResult(AcpUsage)

const tokenCounts = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "activeSeconds", "requests"]

export const projectUsage = (state: ProjectionState, update: NativeObject): Step => {
  const decoded = decodeUsage(update)
  if (Result.isFailure(decoded)) return projectMalformed(state, update)
  const { used, size, cost } = decoded.success
  const inUsd = cost?.currency.toUpperCase() === "USD"
  const payload = {
    provider: state.provider,
    model: state.model,
    known: {
      contextUsedTokens: used,
      contextWindowTokens: size,
      ...(cost ? { sessionCost: { amount: cost.amount, currency: cost.currency.toUpperCase() } } : {})
    },
    unknown: [...tokenCounts, ...(inUsd ? [] : ["providerCostUsd"])]
      .map((name) => `cumulative.${name}`)
      .concat("runDelta"),
    reason: "context_occupancy_only"
  }
  return [state, [draftIn(state, "usage.reported", payload, { native: update })]]
}
