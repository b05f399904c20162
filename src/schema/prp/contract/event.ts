/**
 * Events of PRP v1 and v2. A runner emits ordinary events with the v1 id on a connection of either version, so an event is
 * always read by its own `schema`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaRepresentation from "effect/SchemaRepresentation"
import { EventType, Priority } from "../eventType.ts"
import { Timestamp } from "../timestamp.ts"
import { decoderOf } from "./acceptor.ts"
import { whereOneOf } from "./conditional.ts"
import { EventTypeV2 } from "./eventTypeV2.ts"
import { payloadsV1, payloadsV2 } from "./payloads.ts"
import { anyProperty, Id, Name, open, Revision } from "./primitives.ts"

/** What any open payload of v1 may hold besides. */
const conventional = {
  channel: Schema.optionalKey(Schema.Literals(["progress", "final", "summary", "detail", "unknown"])),
  providerPhase: Schema.optionalKey(Schema.String),
  providerMethod: Schema.optionalKey(Schema.String)
}

/** An open payload of v1: these properties, and the conventional ones. */
export const openPayload = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  open({ ...conventional, ...fields })

const shared = {
  sourceEventId: Id,
  /** Grows by one per source. */
  sourceSeq: Revision,
  sourceInstanceId: Id,
  sourceKind: Schema.Literals(["runner", "control_plane"]),
  runId: Id,
  priority: Priority,
  emittedAt: Timestamp,
  normalizedSessionId: Schema.optionalKey(Id),
  observedAt: Schema.optionalKey(Timestamp),
  debug: Schema.optionalKey(anyProperty)
}

const strict = { onExcessProperty: "error" } as const
const thorough = { ...strict, errors: "all" } as const

type Payloads = Readonly<Record<string, Schema.ConstraintDecoder<unknown>>>

/** Checks the payload where the table has a schema for the event's type. */
export const payloadOf = (table: Payloads) => {
  const decoders = new Map(Object.entries(table).map(([type, schema]) => [type, decoderOf(schema)]))
  return Schema.makeFilter((event: { readonly eventType: string; readonly payload: unknown }, _ast, { errors }) => {
    const decoded = decoders.get(event.eventType)?.(event.payload, errors === "all" ? thorough : strict)
    return decoded === undefined || Result.isSuccess(decoded)
      ? undefined
      : { path: ["payload"], issue: decoded.failure.issue }
  }, jsonSchemaOf(table))
}

/** One condition for each payload, on all event types that demand it. */
const jsonSchemaOf = (table: Payloads) => {
  const typesOf = new Map<Payloads[string], Array<string>>()
  for (const [type, schema] of Object.entries(table)) typesOf.set(schema, [...(typesOf.get(schema) ?? []), type])
  return {
    representation: {
      id: "greenroom/prp/payload",
      payload: null,
      schemas: [...typesOf.keys()].map(({ ast }) => ast)
    },
    toJsonSchema: ({ schemas }: SchemaRepresentation.ToJsonSchema.CheckInput) => ({
      allOf: [...typesOf.values()].map((types, index) =>
        whereOneOf("eventType", types, { properties: { payload: schemas[index] } })
      )
    })
  }
}

const EnvelopeV1 = open({
  schema: Schema.Literal("paperclip.prp.event.v1"),
  schemaVersion: Schema.Literal(1),
  eventType: EventType,
  ...shared,
  turnId: Schema.optionalKey(Name),
  itemId: Schema.optionalKey(Name),
  payload: open(conventional)
})

const EnvelopeV2 = open({
  schema: Schema.Literal("paperclip.prp.event.v2"),
  schemaVersion: Schema.Literal(2),
  eventType: EventTypeV2,
  ...shared,
  turnId: Schema.optionalKey(Id),
  itemId: Schema.optionalKey(Id),
  payload: anyProperty
})

export const EventV1 = EnvelopeV1.check(payloadOf(payloadsV1))
export const EventV2 = EnvelopeV2.check(payloadOf(payloadsV2))

/** Of either version, told by its own `schema`. */
export const AnyEvent = Schema.Union([EventV1, EventV2]).annotate({ expected: "an event of PRP v1 or v2" })
