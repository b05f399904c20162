/**
 * The first thing that is wrong with a large value, found where it stands. A schema that decodes a large value copies it, and
 * more than once where it is open; this walks down to the part that is refused and asks only there.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { acceptorOf, filtersOf, isJsonObject, isOpen, memberFor } from "./acceptor.ts"

/** `undefined`: nothing, or nothing that can be told without the schema of the whole. */
export const firstRefusal = (ast: SchemaAST.AST, value: unknown): SchemaIssue.Issue | undefined =>
  acceptorOf(ast)(value)
    ? undefined
    : (refusalInside(ast, value) ?? refusalByCheck(ast, value) ?? refusalOf(ast, value))

const refusalInside = (ast: SchemaAST.AST, value: unknown): SchemaIssue.Issue | undefined => {
  if (ast._tag === "Objects" && isJsonObject(value)) return refusalInObject(ast, value)
  if (ast._tag === "Arrays" && Array.isArray(value)) return refusalInList(ast, value)
  if (ast._tag !== "Union") return undefined
  const member = memberFor(ast, value)
  return member === undefined ? undefined : firstRefusal(member, value)
}

const refusalInObject = (
  ast: SchemaAST.Objects,
  value: Readonly<Record<string, unknown>>
): SchemaIssue.Issue | undefined => {
  const [signature] = ast.indexSignatures
  const known = new Set<PropertyKey>(ast.propertySignatures.map(({ name }) => name))
  if (!isOpen(ast)) {
    for (const name in value) {
      if (known.has(name)) continue
      if (signature === undefined || !acceptorOf(signature.parameter)(name)) {
        return at(name, new SchemaIssue.UnexpectedKey(ast, value[name], strict))
      }
      if (!acceptorOf(signature.type)(value[name])) return at(name, firstRefusal(signature.type, value[name]))
    }
  }
  for (const { name, type } of ast.propertySignatures) {
    if (typeof name !== "string") return undefined
    if (name in value) {
      if (!acceptorOf(type)(value[name])) return at(name, firstRefusal(type, value[name]))
    } else if (type.context?.isOptional !== true) {
      return at(name, new SchemaIssue.MissingKey(type.context?.annotations))
    }
  }
  return undefined
}

const refusalInList = (
  { rest: [type] }: SchemaAST.Arrays,
  list: ReadonlyArray<unknown>
): SchemaIssue.Issue | undefined => {
  if (type === undefined) return undefined
  const accepts = acceptorOf(type)
  const index = list.findIndex((item) => !accepts(item))
  return index === -1 ? undefined : at(index, firstRefusal(type, list[index]))
}

/** Checks are asked of a value whose parts are accepted. */
const refusalByCheck = (ast: SchemaAST.AST, value: unknown): SchemaIssue.Issue | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (ast._tag === "Objects" ? !isJsonObject(value) : ast._tag !== "Arrays" || !Array.isArray(value)) return undefined
  for (const filter of filtersOf(ast.checks ?? [])) {
    const issue = filter.run(value, ast, strict)
    if (issue !== undefined) return new SchemaIssue.Filter(filter, issue, value, strict)
  }
  return undefined
}

/** What is left is a leaf, or of another kind than its type, which a schema sees at once. */
const refusalOf = (ast: SchemaAST.AST, value: unknown): SchemaIssue.Issue | undefined => {
  const decoded = Schema.decodeUnknownResult(Schema.make<Schema.ConstraintDecoder<unknown>>(ast))(value, strict)
  return Result.isFailure(decoded) ? decoded.failure.issue : undefined
}

const at = (key: PropertyKey, issue: SchemaIssue.Issue | undefined): SchemaIssue.Issue | undefined =>
  issue && new SchemaIssue.Pointer([key], issue)

const strict = { onExcessProperty: "error" } as const
