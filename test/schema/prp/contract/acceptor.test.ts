import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { acceptorOf, decoderOf } from "../../../../src/schema/prp/contract/acceptor.ts"
import { GoalSetPayload } from "../../../../src/schema/prp/contract/command.ts"
import { type PrpSchemaId, prpSchemas } from "../../../../src/schema/prp/contract/kinds.ts"
import { payloadsV1, payloadsV2 } from "../../../../src/schema/prp/contract/payloads.ts"
import { mutate } from "../../../conformance/mutations.ts"
import { randomOf } from "../../../conformance/random.ts"
import { samples, typedKinds } from "./samples.ts"

const strict = { onExcessProperty: "error" } as const

const verdictOf = (schema: Schema.ConstraintDecoder<unknown>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown) => Result.isSuccess(decode(value, strict))
}

const kinds = Object.keys(samples).filter((kind): kind is PrpSchemaId => Object.hasOwn(prpSchemas, kind))

const events = typedKinds.map(([eventType, kind]) => ({
  ...samples["paperclip.prp.event.v1"],
  eventType,
  payload: samples[kind]
}))

const goal = samples.goal_snapshot
const command = samples["paperclip.prp.command.v2"]

/** Every schema of the contract, and every one that stands behind a check of another, with full values of it. */
const subjects: ReadonlyArray<
  readonly [name: string, schema: Schema.ConstraintDecoder<unknown>, values: ReadonlyArray<unknown>]
> = [
  ...kinds.map((kind) => [kind, prpSchemas[kind], [samples[kind]]] as const),
  ["every typed event", prpSchemas["paperclip.prp.event.v1"], events],
  ...typedKinds.map(([type, kind]) => [`the payload of ${type}`, payloadOf(type), [samples[kind]]] as const),
  ...Object.entries(payloadsV2).map(
    ([type, schema]) =>
      [`the payload of ${type}`, schema, [{ goal }, { sessionGoals: samples.goal_capability }]] as const
  ),
  ["the payload of session.goal.set", GoalSetPayload, [command["payload"]]]
]

function payloadOf(type: string): Schema.ConstraintDecoder<unknown> {
  const table: Readonly<Record<string, Schema.ConstraintDecoder<unknown>>> = payloadsV1
  return table[type] ?? Schema.Never
}

const vocabulary = {
  names: ["schema", "status", "kind", "goal", "payload", "summary", "turnId", "later", "toString"],
  members: ["running", "completed", "user", "paperclip.usage.v1", null, true, 1],
  lengths: [0, 1, 80, 160, 240, 4000],
  counts: [0, 1, 2, 32, 64, 256],
  numbers: [0, 1, 2, 90, 4000, Number.MAX_SAFE_INTEGER]
}

describe("the acceptor of a schema", () => {
  for (const [name, schema, values] of subjects) {
    it(`judges JSON as the schema does: ${name}`, () => {
      const accepts = acceptorOf(schema.ast)
      const verdict = verdictOf(schema)
      const random = randomOf(7)
      for (const value of values) expect([value, accepts(value)]).toEqual([value, verdict(value)])
      expect(values.some(accepts)).toBe(true)
      for (let run = 0; run < 150; run++) {
        let instance: unknown = random.any(values)
        for (let changes = random.integer(4); changes > 0; changes--) instance = mutate(instance, vocabulary, random)
        expect([instance, accepts(instance)]).toEqual([instance, verdict(instance)])
      }
    })

    it(`accepts nothing that the schema refuses, JSON or not: ${name}`, () => {
      const accepts = acceptorOf(schema.ast)
      const verdict = verdictOf(schema)
      for (const value of values) {
        if (typeof value !== "object" || value === null) continue
        for (const odd of oddities(value)) if (accepts(odd)) expect(verdict(odd)).toBe(true)
      }
    })
  }

  it("leaves to the schema whatever it does not know", () => {
    const strange: ReadonlyArray<readonly [Schema.ConstraintDecoder<unknown>, unknown]> = [
      [Schema.FiniteFromString, "1"],
      [Schema.Struct({ at: Schema.FiniteFromString }), { at: "1" }],
      [Schema.Tuple([Schema.String]), ["a"]],
      [Schema.TemplateLiteral(["a", Schema.String]), "ab"],
      [Schema.Struct({}), 1],
      [Schema.Struct({ toString: Schema.optionalKey(Schema.String) }), { toString: "a" }],
      [Schema.Record(Schema.TemplateLiteral(["a", Schema.String]), Schema.Null), { a: null }],
      [Schema.Union([Schema.String, Schema.Literal("a")], { mode: "oneOf" }), "b"],
      [Schema.instanceOf(Map), new Map()]
    ]
    for (const [schema, value] of strange) {
      expect([String(schema.ast), acceptorOf(schema.ast)(value)]).toEqual([String(schema.ast), false])
      expect([String(schema.ast), Result.isSuccess(decoderOf(schema)(value, strict))]).toEqual([
        String(schema.ast),
        true
      ])
    }
    expect(decoderOf(Schema.FiniteFromString)("1", strict)).toEqual(Result.succeed(1))
  })

  it("does not look at what a symbol names, which no JSON has", () => {
    expect(acceptorOf(prpSchemas.usage.ast)({ ...samples.usage, [Symbol("later")]: 1 })).toBe(true)
  })

  it("is found again for the same schema", () => {
    expect(acceptorOf(prpSchemas.usage.ast)).toBe(acceptorOf(prpSchemas.usage.ast))
  })
})

/** What only a program can pass: each as good as the value to whoever does not look closely. */
const oddities = (value: object): ReadonlyArray<unknown> => {
  const entries = Object.entries(value)
  const hidden = (name: string, of: unknown) =>
    Object.defineProperty({ ...value }, name, { value: of, enumerable: false, configurable: true })
  class Child {
    readonly turnId = 1
  }
  return [
    { ...value, later: undefined },
    Object.assign(Object.create({ later: 1 }), value),
    Object.assign(Object.create({ toJSON: () => 1 }), value),
    Object.assign(Object.create(value), {}),
    Object.assign(new Child(), value),
    Object.assign([], value),
    ...entries.flatMap(([name, of]) => [
      { ...value, [name]: undefined },
      hidden(name, of),
      hidden(name, Symbol("odd")),
      { ...value, [name]: Object(of) },
      { ...value, [name]: Array.isArray(of) ? Object.assign([...of, ...of], { length: of.length * 2 + 1 }) : [of] },
      Object.defineProperty({ ...value }, name, { get: () => of, enumerable: true })
    ])
  ]
}
