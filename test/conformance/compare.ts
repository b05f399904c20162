/**
 * Our reading of the contract against JSON Schema files that describe it, on random instances. Both are asked for a
 * verdict only; formats are asserted on both sides.
 */
import * as Result from "effect/Result"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { prpSchemaKinds } from "../../src/schema/prp/contract/jsonSchema.ts"
import type { PrpKind } from "../../src/schema/prp/contract/kinds.ts"
import { type Reason, reasonsFor } from "./explained.ts"
import { instancesOf } from "./instances.ts"
import { problemOf } from "./schemaSet.ts"
import type { Reference } from "./reference.ts"

/** Which of our kinds each schema describes, by its file and place in it. */
const kindOf: ReadonlyArray<readonly [schema: string, kind: PrpKind]> = [
  ...Object.entries(prpSchemaKinds),
  ["session-goal#/$defs/capability", "goal_capability"],
  ["session-goal#/$defs/snapshot", "goal_snapshot"]
]

/** The places of a file that describe a kind of ours. Empty: we do not know the file. */
export const placesIn = (file: string): ReadonlyArray<{ readonly schema: string; readonly kind: PrpKind }> =>
  kindOf.flatMap(([schema, kind]) => (schema.split("#")[0] === file ? [{ schema, kind }] : []))

export interface Disagreement {
  readonly instance: unknown
  readonly reference: boolean
  readonly ours: boolean
  /** Why it is right that they disagree. Empty: nobody knows. */
  readonly reasons: ReadonlyArray<Reason>
}

export interface Comparison {
  readonly schema: string
  readonly instances: number
  /** Instances that the reference accepts. */
  readonly accepted: number
  readonly disagreements: ReadonlyArray<Disagreement>
  /** Why it could not be compared, or not to the end. */
  readonly problem?: string
}

/** One for each schema of the reference. `seed` and `instances`, of each, decide all that is tried. */
export function* compareSchemas(reference: Reference, instances: number, seed: number): Generator<Comparison> {
  const { documents, unread } = reference.set
  for (const { name, problem } of [...unread, ...reference.unusable]) yield notCompared(name, problem)
  for (const { name, id } of documents) {
    const places = placesIn(name)
    if (places.length === 0) yield notCompared(name, "we know no such schema")
    for (const { schema, kind } of places) {
      const [, pointer] = schema.split("#")
      const place = pointer === undefined ? id : `${id}#${pointer}`
      yield tried(schema, () => compareOne({ schema, kind, place, reference, instances, seed }))
    }
  }
}

const notCompared = (schema: string, problem: string): Comparison => ({
  schema,
  instances: 0,
  accepted: 0,
  disagreements: [],
  problem
})

const tried = (schema: string, compare: () => Comparison): Comparison => {
  try {
    return compare()
  } catch (cause) {
    return notCompared(schema, problemOf(cause))
  }
}

interface Pair {
  readonly schema: string
  readonly kind: PrpKind
  readonly place: string
  readonly reference: Reference
  readonly instances: number
  readonly seed: number
}

const compareOne = ({ schema, kind, place, reference, instances, seed }: Pair): Comparison => {
  const { set } = reference
  const accepts = reference.validatorAt(place)
  const disagreements: Array<Disagreement> = []
  let accepted = 0
  for (const made of instancesOf(set, set.resolve(place), instances, seed)) {
    // As it would arrive.
    const instance: unknown = JSON.parse(JSON.stringify(made))
    const found = disagreementOn(instance, kind, accepts)
    if (found?.reference ?? accepts(instance)) accepted++
    if (found !== undefined) disagreements.push(found)
  }
  const isVacuous = accepted === 0 && instances >= 100
  const problem = isVacuous ? { problem: "it accepts none of the instances made for it" } : {}
  return { schema, instances, accepted, disagreements, ...problem }
}

/** `undefined`: both say the same. */
export const disagreementOn = (
  instance: unknown,
  kind: PrpKind,
  accepts: (instance: unknown) => boolean
): Disagreement | undefined => {
  const decodes = (value: unknown) => Result.isSuccess(decodePrp(kind, value))
  const verdict = { reference: accepts(instance), ours: decodes(instance) }
  if (verdict.reference === verdict.ours) return undefined
  return { instance, ...verdict, reasons: reasonsFor(instance, (value) => accepts(value) === decodes(value)) }
}
