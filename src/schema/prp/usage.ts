/**
 * What an agent says about its use, without inventing the rest. `usage_update` tells how full the context is and maybe what
 * the session has cost; neither is a count of tokens spent.
 *
 * `provider` names who bills: the provider that runs the agent. ACP tells no more of it, and of seconds and requests nothing, so
 * PRP's closed receipt, which needs every number, is never made of an update.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { NativeObject } from "./native.ts"
import { projectMalformed } from "./updateNotice.ts"
import type { Draft } from "./event.ts"
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

const counts = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "activeSeconds", "requests"]

export const projectUsage = (state: ProjectionState, update: NativeObject): Step => {
  const decoded = decodeUsage(update)
  if (Result.isFailure(decoded)) return projectMalformed(state, update)
  const { used, size, cost } = decoded.success
  const inUsd = cost?.currency.toUpperCase() === "USD"
  const known = {
    contextUsedTokens: used,
    contextWindowTokens: size,
    ...(cost ? { sessionCost: { amount: cost.amount, currency: cost.currency.toUpperCase() } } : {})
  }
  return [state, [partialUsage(state, known, "context_occupancy_only", update, inUsd)]]
}

/** `knowsCost`: what the session has cost is known in US dollars, as PRP counts. */
export const partialUsage = (
  state: ProjectionState,
  known: NativeObject,
  reason: string,
  native: unknown,
  knowsCost = false
): Draft<"usage.reported"> => {
  const unknown = [...counts, ...(knowsCost ? [] : ["providerCostUsd"])]
    .map((name) => `cumulative.${name}`)
    .concat("runDelta")
  const payload = { provider: state.provider, model: state.model, known, unknown, reason }
  return draftIn(state, "usage.reported", payload, { native })
}
