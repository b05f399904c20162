/**
 * Our reading of the contract against JSON Schema files that describe it, on random instances. Both are asked for a
 * verdict only; formats are asserted on both sides.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import * as Result from "effect/Result"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import type { PrpKind } from "../../src/schema/prp/contract/kinds.ts"
import { type Reason, reasonsFor } from "./explained.ts"
import { instancesOf } from "./instances.ts"
import { readSchemas, type SchemaSet } from "./schemaSet.ts"

/** Which of our kinds each schema describes, by its file and place in it. One that describes nothing whole is not here. */
export const kindOf: ReadonlyMap<string, PrpKind> = new Map([
  ["identity", "paperclip.prp.identity.v1"],
  ["command", "paperclip.prp.command.v1"],
  ["command-v2", "paperclip.prp.command.v2"],
  ["event", "paperclip.prp.event.v1"],
  ["event-v2", "paperclip.prp.event.v2"],
  ["request", "request"],
  ["question-set", "paperclip.question_set.v1"],
  ["question-response", "paperclip.question_response.v1"],
  ["question-adapter-fixture", "paperclip.question_adapter_fixture.v1"],
  ["result", "paperclip.run_result.v1"],
  ["stop-reason", "paperclip.prp.stop_reason.v1"],
  ["terminal", "paperclip.prp.terminal.v1"],
  ["capabilities", "paperclip.prp.capabilities.v1"],
  ["capabilities-v2", "paperclip.prp.capabilities.v2"],
  ["session-goal#/$defs/capability", "goal_capability"],
  ["session-goal#/$defs/snapshot", "goal_snapshot"],
  ["usage", "usage"],
  ["provider-descriptor", "provider_descriptor"],
  ["provider-event", "activity"],
  ["semantic-tool", "paperclip.prp.semantic_tool.v1"],
  ["workspace-diff", "paperclip.workspace.diff.v1"],
  ["workspace-file-reference", "paperclip.workspace.file_reference.v1"],
  ["fixture", "paperclip.prp.fixture.v1"],
  ["conformance-fixture", "paperclip.runner.conformance.fixture.v1"],
  ["conformance-output", "paperclip.runner.conformance.output.v1"]
])

export interface Disagreement {
  readonly instance: unknown
  readonly reference: boolean
  readonly ours: boolean
  /** Why it is right that they disagree. Empty: nobody knows. */
  readonly reasons: ReadonlyArray<Reason>
}

export interface Comparison {
  readonly schema: string
  readonly kind: PrpKind
  readonly instances: number
  /** Instances that the reference accepts. */
  readonly accepted: number
  readonly disagreements: ReadonlyArray<Disagreement>
}

/** Compares every schema of the folder that describes one of our kinds. `seed` and `instances` decide all that is tried. */
export function* compareSchemas(directory: string, instances: number, seed: number): Generator<Comparison> {
  const set = readSchemas(directory)
  const validators = validatorsOf(set)
  for (const [schema, kind] of kindOf) {
    const reference = referenceTo(set, schema)
    if (reference === undefined) continue
    yield compareOne({ schema, kind, validate: validators(reference), set, reference, instances, seed })
  }
}

const referenceTo = (set: SchemaSet, schema: string): string | undefined => {
  const [name, pointer] = schema.split("#")
  const id = set.documents.find((document) => document.name === name)?.id
  return id === undefined || pointer === undefined ? id : `${id}#${pointer}`
}

/** The reference's own verdict on whatever one of its schemas describes. */
export const validatorsOf = (set: SchemaSet): ((reference: string) => ValidateFunction) => {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormatsModule.default(ajv, { mode: "full" })
  for (const { schema } of set.documents) ajv.addSchema(schema)
  return (reference) => {
    const validate = ajv.getSchema(reference)
    if (validate === undefined) throw new Error(`no schema at ${reference}`)
    return validate
  }
}

interface Pair {
  readonly schema: string
  readonly kind: PrpKind
  readonly validate: ValidateFunction
  readonly set: SchemaSet
  readonly reference: string
  readonly instances: number
  readonly seed: number
}

const compareOne = ({ schema, kind, validate, set, reference, instances, seed }: Pair): Comparison => {
  const verdicts = (instance: unknown) => ({
    reference: validate(instance) === true,
    ours: Result.isSuccess(decodePrp(kind, instance))
  })
  const agree = (instance: unknown) => {
    const { ours, reference } = verdicts(instance)
    return ours === reference
  }
  const disagreements: Array<Disagreement> = []
  let accepted = 0
  for (const made of instancesOf(set, set.resolve(reference), instances, seed)) {
    // As it would arrive.
    const instance: unknown = JSON.parse(JSON.stringify(made))
    const verdict = verdicts(instance)
    if (verdict.reference) accepted++
    if (verdict.ours === verdict.reference) continue
    disagreements.push({ instance, ...verdict, reasons: reasonsFor(instance, agree) })
  }
  return { schema, kind, instances, accepted, disagreements }
}
