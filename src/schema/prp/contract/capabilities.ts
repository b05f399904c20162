/** What a runner with its driver can do. v2 adds goals of a session; a v1 runner has none, whatever its driver is called. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { StableId } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { Availability, GoalCapability } from "./goal.ts"
import { FamilyName, Label, open, StableCode } from "./primitives.ts"
import { unique } from "./unique.ts"

const DriverName = textOf(1, limits.providerNameCharactersMax)

const shared = {
  sessionReusePolicy: Schema.Literals(["new_per_run", "reuse_per_issue", "reuse_per_workspace"]),
  driver: open({ kind: DriverName, version: DriverName }),
  steer: Schema.Boolean,
  interrupt: Schema.Boolean,
  resume: Schema.Boolean,
  runtimeRequests: Schema.Boolean,
  structuredResult: Schema.Boolean,
  typedEvents: Schema.Boolean,
  unsupported: Schema.optionalKey(Schema.Array(Schema.NonEmptyString).check(unique))
}

export const EventFamily = Schema.Struct({
  family: FamilyName,
  version: Schema.Literal(1),
  availability: Availability,
  detailLevel: Schema.Literals(["summary", "structured"])
})
export type EventFamily = typeof EventFamily.Type

export const SemanticToolOffer = open({
  schema: Schema.Literal("paperclip.prp.semantic_tools.v1"),
  schemaVersion: Schema.Literal(1),
  operations: Schema.Array(
    open({
      operationId: StableId,
      version: Schema.Literal(1),
      availability: Schema.Literals(["available", "denied", "unsupported"]),
      redactionDisposition: Schema.Literal("digest_only"),
      requiredClaims: Schema.optionalKey(Schema.Array(Label).check(unique)),
      reasonCode: Schema.optionalKey(StableCode)
    })
  )
})
export type SemanticToolOffer = typeof SemanticToolOffer.Type

export const CapabilitiesV1 = open({
  schema: Schema.Literal("paperclip.prp.capabilities.v1"),
  ...shared,
  typedEventFamilies: Schema.optionalKey(Schema.Array(EventFamily).check(Schema.isMaxLength(limits.eventFamiliesMax))),
  semanticTools: Schema.optionalKey(SemanticToolOffer)
})
export type CapabilitiesV1 = typeof CapabilitiesV1.Type

/** Does not restate the typed families and semantic tools of v1; they may stand there unchecked. */
export const CapabilitiesV2 = open({
  schema: Schema.Literal("paperclip.prp.capabilities.v2"),
  ...shared,
  sessionGoals: GoalCapability
})
export type CapabilitiesV2 = typeof CapabilitiesV2.Type

/** Of either version, told by its own `schema`. */
export const Capabilities = Schema.Union([CapabilitiesV1, CapabilitiesV2]).annotate({
  expected: "the capabilities of PRP v1 or v2"
})
export type Capabilities = typeof Capabilities.Type
