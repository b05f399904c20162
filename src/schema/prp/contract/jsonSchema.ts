/**
 * The contract as JSON Schema (2020-12): one document for each of its schemas, for readers in other languages.
 *
 * A document stands alone: what it refers to is in its `$defs`, by schema id where there is one. It says everything that
 * `decodePrp` checks. `format: "date-time"` must be asserted.
 */
import * as Equal from "effect/Equal"
import type * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import { Digest, LongStableId, StableId } from "../../identity.ts"
import { Timestamp } from "../timestamp.ts"
import { type PrpFamily, prpFamilies, type PrpKind, prpSchemas, type PrpSchemaId } from "./kinds.ts"
import { Question } from "./question.ts"
import { SafeReference } from "./semanticTool.ts"

/** Which kind each document describes. */
export const prpSchemaKinds = {
  identity: "paperclip.prp.identity.v1",
  command: "paperclip.prp.command.v1",
  "command-v2": "paperclip.prp.command.v2",
  event: "paperclip.prp.event.v1",
  "event-v2": "paperclip.prp.event.v2",
  request: "request",
  "question-set": "paperclip.question_set.v1",
  "question-response": "paperclip.question_response.v1",
  "question-adapter-fixture": "paperclip.question_adapter_fixture.v1",
  result: "paperclip.run_result.v1",
  "stop-reason": "paperclip.prp.stop_reason.v1",
  terminal: "paperclip.prp.terminal.v1",
  capabilities: "paperclip.prp.capabilities.v1",
  "capabilities-v2": "paperclip.prp.capabilities.v2",
  "goal-capability": "goal_capability",
  "goal-snapshot": "goal_snapshot",
  usage: "usage",
  "provider-descriptor": "provider_descriptor",
  "provider-event": "activity",
  "semantic-tool": "paperclip.prp.semantic_tool.v1",
  "workspace-diff": "paperclip.workspace.diff.v1",
  "workspace-file-reference": "paperclip.workspace.file_reference.v1",
  fixture: "paperclip.prp.fixture.v1",
  "conformance-fixture": "paperclip.runner.conformance.fixture.v1",
  "conformance-output": "paperclip.runner.conformance.output.v1",
  manifest: "greenroom.prp.manifest.v1"
} as const satisfies Record<string, PrpKind>

export type PrpSchemaName = keyof typeof prpSchemaKinds

export const isPrpSchemaName = (name: string): name is PrpSchemaName => Object.hasOwn(prpSchemaKinds, name)

export const prpSchemaNames: ReadonlyArray<PrpSchemaName> = Object.keys(prpSchemaKinds).filter(isPrpSchemaName)

/** The document of that name. */
export const prpSchemaDocument = (name: PrpSchemaName): JsonSchema.JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: `urn:greenroom:prp:${name}`,
  title: prpSchemaKinds[name],
  ...prpJsonSchema(prpSchemaKinds[name])
})

/** What a value of the kind is, with its `$defs`. */
export const prpJsonSchema = (kind: PrpKind): JsonSchema.JsonSchema => {
  const { ast } = isFamily(kind) ? Schema.Union(prpFamilies[kind].map((id) => schemas[id])) : schemas[kind]
  const { schema, definitions } = SchemaRepresentation.toJsonSchemaDocument(
    SchemaRepresentation.toRepresentation(ast, {
      referencePolicy: (candidate) => (candidate.ast === ast ? undefined : definitionNames.get(candidate.ast))
    }),
    closed
  )
  return plain({ ...schema, ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) })
}

const isFamily = (kind: PrpKind): kind is PrpFamily => Object.hasOwn(prpFamilies, kind)

const schemas: Readonly<Record<PrpSchemaId, Schema.Constraint>> = prpSchemas

/** A struct of the contract refuses what it does not know; an open object says that it is open. */
const closed = { onExcessProperty: "error" } as const

const definitionNames = new Map<SchemaAST.AST, string>(
  Object.entries({
    ...prpSchemas,
    digest: Digest,
    stable_id: StableId,
    long_stable_id: LongStableId,
    timestamp: Timestamp,
    question: Question,
    safe_reference: SafeReference
  }).map(([name, { ast }]) => [ast, name])
)

/** The same in the words that people use: `const` for one of one, an open object that says so, no bound of nothing. */
const plain = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): ReadonlyArray<readonly [string, unknown]> => {
      if (keyword === "minLength" && value === 0) return []
      if (keyword === "type" && Array.isArray(schema["enum"])) return []
      if (keyword === "enum" && Array.isArray(value) && value.length === 1) return [["const", value[0]]]
      if (keyword !== "allOf" || !Array.isArray(value)) return [[keyword, plainIn(value)]]
      const conditions = value.filter((part) => !isOpenness(part))
      return [
        ...(conditions.length > 0 ? [["allOf", plainIn(conditions)] as const] : []),
        ...(conditions.length < value.length ? [["additionalProperties", true] as const] : [])
      ]
    })
  )

const plainIn = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(plainIn) : Predicate.isObject(value) ? plain(value) : value

/** How the generator writes that an object with known properties may hold any other. */
const isOpenness = (part: unknown): boolean => Equal.equals(part, { type: "object", additionalProperties: {} })
