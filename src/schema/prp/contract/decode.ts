/**
 * The one way into the contract: a value from anywhere becomes a typed one, or a rejection that names what is wrong.
 *
 * An accepted value is the one that was given, not a copy: order, and whatever an open object holds besides, are as received.
 * Required versions, discriminators and enumerations fail closed, versions first. No value is changed, none
 * makes it throw, and the work is proportional to the value.
 */
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { shapeExcess, simpleLineBytesMax } from "../../acp/frameShape.ts"
import { type PrpIssue, PrpRejected } from "../../errors.ts"
import { limits } from "../../limits.ts"
import { isNativeObject } from "../native.ts"
import { decoderOf } from "./acceptor.ts"
import { issuesOf } from "./issues.ts"
import { type PrpFamily, prpFamilies, type PrpKind, prpSchemas, type PrpSchemaId, type PrpValue } from "./kinds.ts"
import { unsupportedVersion } from "./requiredVersion.ts"
import { contractNames } from "./names.ts"
import { valuesFit } from "./shape.ts"

/** The value as one of its kind. A family is told apart by the value's own `schema`. */
export const decodePrp = <Kind extends PrpKind>(
  kind: Kind,
  value: unknown
): Result.Result<PrpValue<Kind>, PrpRejected> => {
  const schemaId = schemaIdOf(kind, value)
  return schemaId !== undefined && accepts(kind, schemaId, value)
    ? Result.succeed(value)
    : Result.fail(rejection(kind, schemaId, value))
}

/** The text, which must be JSON of a shape that can be parsed safely, as a value of the kind. */
export const decodePrpText = <Kind extends PrpKind>(
  kind: Kind,
  text: string
): Result.Result<PrpValue<Kind>, PrpRejected> =>
  Result.flatMap(parsePrpText(kind, text), (value) => decodePrp(kind, value))

const schemaIdOf = (kind: PrpKind, value: unknown): PrpSchemaId | undefined => {
  if (!isFamily(kind)) return kind
  const id: unknown = isNativeObject(value) && Object.hasOwn(value, "schema") ? value["schema"] : undefined
  for (const known of prpFamilies[kind]) if (known === id) return known
  return undefined
}

const isFamily = (kind: PrpKind): kind is PrpFamily => Object.hasOwn(prpFamilies, kind)

const idsOf = (kind: PrpKind): ReadonlyArray<PrpSchemaId> => (isFamily(kind) ? prpFamilies[kind] : [kind])

/** What the schema accepts is of the kind's type: the one place that says so. */
const accepts = <Kind extends PrpKind>(_kind: Kind, schemaId: PrpSchemaId, value: unknown): value is PrpValue<Kind> =>
  Result.isSuccess(decoders[schemaId](value, strict))

const strict = { onExcessProperty: "error" } as const

const schemas: Readonly<Record<PrpSchemaId, Schema.ConstraintDecoder<unknown>>> = prpSchemas

const decoders = Record.map(schemas, decoderOf)

const rejection = (kind: PrpKind, schemaId: PrpSchemaId | undefined, value: unknown): PrpRejected => {
  const unsupported = unsupportedVersion(idsOf(kind), value)
  if (unsupported !== undefined) {
    return new PrpRejected({ code: "unsupported_required_version", kind, issues: [unsupported] })
  }
  return new PrpRejected({ code: "schema_validation", kind, issues: issuesWith(kind, schemaId, value) })
}

const issuesWith = (kind: PrpKind, schemaId: PrpSchemaId | undefined, value: unknown): ReadonlyArray<PrpIssue> => {
  if (!isNativeObject(value)) return [{ path: "", expectation: "Expected an object" }]
  if (schemaId === undefined) return [{ path: "/schema", expectation: `Expected the schema id of kind ${kind}` }]
  const errors = valuesFit(value, limits.prpExplainedValuesMax) ? "all" : "first"
  const decoded = decoders[schemaId](value, { ...strict, errors })
  return Result.isFailure(decoded) ? issuesOf(decoded.failure.issue, value, contractNames()) : []
}

/** The text as JSON of a shape that can be parsed safely; `kind` is what a rejection calls it. */
export const parsePrpText = (kind: string, text: string): Result.Result<unknown, PrpRejected> => {
  const excess = text.length > simpleLineBytesMax ? excessOf(text) : undefined
  const expectation = excess === undefined ? "Expected JSON" : `Expected JSON within the bound of its ${excess}`
  const rejected = () => new PrpRejected({ code: "invalid_json", kind, issues: [{ path: "", expectation }] })
  return excess === undefined
    ? Result.try({ try: (): unknown => JSON.parse(text), catch: rejected })
    : Result.fail(rejected())
}

const encoder = new TextEncoder()

const excessOf = (text: string) => {
  const bytes = encoder.encode(text)
  return shapeExcess(bytes, 0, bytes.length)
}
