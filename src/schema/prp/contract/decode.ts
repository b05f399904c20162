/**
 * The one way into the contract: a value from anywhere becomes a typed one, or a rejection that names what is wrong.
 *
 * An accepted value is the one that was given, not a copy: order, and whatever an open object holds besides, are as received.
 * Required versions, discriminators and enumerations fail closed, versions first. No value is changed, none
 * makes it throw, and the work is proportional to the value.
 */
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { shapeExcess, simpleLineBytesMax } from "../../acp/frameShape.ts"
import { type PrpIssue, PrpRejected } from "../../errors.ts"
import { limits } from "../../limits.ts"
import { isNativeObject } from "../native.ts"
import { type Acceptor, acceptorOf } from "./acceptor.ts"
import { firstRefusal } from "./firstRefusal.ts"
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
  if (schemaId === undefined) return Result.fail(rejection(kind, value, []))
  const issue = acceptors[schemaId](value) ? undefined : refusalBy(schemaId, value)
  return isOfKind(kind, value, issue)
    ? Result.succeed(value)
    : Result.fail(rejection(kind, value, issue === undefined ? [] : issuesOf(issue, value, contractNames())))
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
const isOfKind = <Kind extends PrpKind>(
  _kind: Kind,
  value: unknown,
  issue: SchemaIssue.Issue | undefined
): value is PrpValue<Kind> => issue === undefined

const schemas: Readonly<Record<PrpSchemaId, Schema.ConstraintDecoder<unknown>>> = prpSchemas

const acceptors = Record.map(schemas, ({ ast }) => {
  let accepts: Acceptor | undefined
  return (value: unknown) => (accepts ??= acceptorOf(ast))(value)
})

const decoders = Record.map(schemas, (schema) => Schema.decodeUnknownResult(schema))

/** All that the schema has against the value; of a large one the first thing. */
const refusalBy = (schemaId: PrpSchemaId, value: unknown): SchemaIssue.Issue | undefined => {
  const isSmall = valuesFit(value, limits.prpExplainedValuesMax)
  const first = isSmall ? undefined : firstRefusal(schemas[schemaId].ast, value)
  if (first !== undefined) return first
  const decoded = decoders[schemaId](value, { onExcessProperty: "error", errors: isSmall ? "all" : "first" })
  return Result.isFailure(decoded) ? decoded.failure.issue : undefined
}

const rejection = (kind: PrpKind, value: unknown, found: ReadonlyArray<PrpIssue>): PrpRejected => {
  const unsupported = unsupportedVersion(idsOf(kind), value)
  if (unsupported !== undefined) {
    return new PrpRejected({ code: "unsupported_required_version", kind, issues: [unsupported] })
  }
  const issues = isNativeObject(value) ? (found.length > 0 ? found : [unnamed(kind)]) : [noObject]
  return new PrpRejected({ code: "schema_validation", kind, issues })
}

const noObject: PrpIssue = { path: "", expectation: "Expected an object" }

const unnamed = (kind: PrpKind): PrpIssue => ({
  path: "/schema",
  expectation: `Expected the schema id of kind ${kind}`
})

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
