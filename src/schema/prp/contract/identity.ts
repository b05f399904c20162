/** Whose run it is: the ids that every frame, event and fixture is bound to. */
import * as Schema from "effect/Schema"
import { StableId } from "../../identity.ts"
import { open } from "./primitives.ts"

export const Identity = open({
  schema: Schema.Literal("paperclip.prp.identity.v1"),
  companyId: StableId,
  issueId: StableId,
  runId: StableId,
  environmentLeaseId: StableId,
  runnerInstanceId: StableId,
  normalizedSessionId: StableId,
  driverSessionId: StableId,
  providerSessionId: Schema.optionalKey(StableId)
})
export type Identity = typeof Identity.Type
