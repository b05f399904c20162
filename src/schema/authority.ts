/** On whose behalf somebody asks something of a runner. */
import * as Schema from "effect/Schema"
import { StableId } from "./identity.ts"

/**
 * `Operator`: whoever can reach the private socket or the pipe of the runner; everything. `Tenant`: the bearer of a token that
 * was minted for one company; only that company's runs, and of these only the named ones unless `runIds` is `null`.
 */
export const Authority = Schema.Union([
  Schema.TaggedStruct("Operator", {}),
  Schema.TaggedStruct("Tenant", { companyId: StableId, runIds: Schema.NullOr(Schema.Array(StableId)) })
])
export type Authority = typeof Authority.Type

/** `companyId` is that of the run; `null`: a run of the operator's own. */
export const mayReach = (authority: Authority, runId: string, companyId: string | null): boolean =>
  authority._tag === "Operator" ||
  (authority.companyId === companyId && (authority.runIds === null || authority.runIds.includes(runId)))
