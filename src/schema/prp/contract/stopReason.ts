/** The receipt of a budget or cost limit that ended a run. */
import * as Schema from "effect/Schema"
import { LongStableId } from "../../identity.ts"
import { Count, open, StableCode } from "./primitives.ts"
import { unique } from "./unique.ts"

export const StopReason = open({
  schema: Schema.Literal("paperclip.prp.stop_reason.v1"),
  schemaVersion: Schema.Literal(1),
  receiptId: LongStableId,
  kind: Schema.Literals(["budget", "cost"]),
  code: StableCode,
  retryable: Schema.Boolean,
  decisionId: LongStableId,
  limitClass: Schema.Literals(["company_monthly", "actor_monthly", "project_monthly", "run_cost", "provider_quota"]),
  aggregate: open({
    unit: Schema.Literals(["cents", "usd_micros", "tokens"]),
    observed: Count,
    limit: Count,
    window: Schema.Literals(["run", "monthly_utc", "provider_window"])
  }),
  relatedReceiptIds: Schema.optionalKey(Schema.Array(LongStableId).check(unique))
})
export type StopReason = typeof StopReason.Type
