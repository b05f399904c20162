/**
 * A schema's verdict at the speed of the parser: a schema that changes no value is compiled into one function of its shape.
 *
 * Only `true` is final, and it is the schema's own verdict with excess properties refused. `false` says nothing: what is not
 * JSON, and every node that is not known here, is left to the schema. So nothing is refused here, and nothing explained.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

export type Acceptor = (value: unknown) => boolean

/** As `Schema.decodeUnknownResult`, but what is accepted is the very value, not a copy. Compiled when first used. */
export const decoderOf = <Type>(schema: Schema.ConstraintDecoder<Type>) => {
  const decode = Schema.decodeUnknownResult(schema)
  let accepts: Acceptor | undefined
  return (value: unknown, options: SchemaAST.ParseOptions): Result.Result<unknown, Schema.SchemaError> =>
    (accepts ??= acceptorOf(schema.ast))(value) ? Result.succeed(value) : decode(value, options)
}

export const acceptorOf = (ast: SchemaAST.AST): Acceptor => {
  const known = acceptors.get(ast)
  if (known !== undefined) return known
  const acceptor = withChecks(ast, isTransformed(ast) ? unknowing : acceptorOfShape(ast))
  acceptors.set(ast, acceptor)
  return acceptor
}

const acceptors = new WeakMap<SchemaAST.AST, Acceptor>()

const unknowing: Acceptor = () => false

const isTransformed = (ast: SchemaAST.AST): boolean =>
  ast.encoding !== undefined || ("encodingChecks" in ast && ast.encodingChecks !== undefined)

/** Checks see the value itself where a schema shows them its copy, which is the same JSON. */
const withChecks = (ast: SchemaAST.AST, acceptor: Acceptor): Acceptor => {
  const filters = filtersOf(ast.checks ?? [])
  const [first] = filters
  if (first === undefined) return acceptor
  const passes = ({ run }: Filter, value: unknown) => run(value, ast, strict) === undefined
  return filters.slice(1).reduce<Acceptor>(
    (accepts, filter) => (value) => accepts(value) && passes(filter, value),
    (value) => acceptor(value) && passes(first, value)
  )
}

type Check = SchemaAST.Checks[number]
type Filter = Extract<Check, { readonly _tag: "Filter" }>

/** In the order in which a schema asks them. */
export const filtersOf = (checks: ReadonlyArray<Check>): ReadonlyArray<Filter> =>
  checks.flatMap((check) => (check._tag === "Filter" ? [check] : filtersOf(check.checks)))

const strict = { onExcessProperty: "error" } as const

const acceptorOfShape = (ast: SchemaAST.AST): Acceptor => {
  switch (ast._tag) {
    case "Unknown":
      return () => true
    case "Null":
      return (value) => value === null
    case "Boolean":
      return (value) => typeof value === "boolean"
    case "Number":
      return (value) => typeof value === "number"
    case "String":
      return (value) => typeof value === "string"
    case "Literal":
      return (value) => value === ast.literal
    case "Arrays":
      return acceptorOfList(ast)
    case "Objects":
      return ast.indexSignatures.length === 0 || isOpen(ast) ? acceptorOfStruct(ast) : acceptorOfRecord(ast)
    case "Union":
      return acceptorOfUnion(ast)
    default:
      return unknowing
  }
}

const acceptorOfList = ({ elements, rest }: SchemaAST.Arrays): Acceptor => {
  const [type] = rest
  if (elements.length > 0 || rest.length !== 1 || type === undefined) return unknowing
  const accepts = acceptorOf(type)
  return (value) => {
    if (!Array.isArray(value)) return false
    for (let index = 0; index < value.length; index++) if (!accepts(value[index])) return false
    return true
  }
}

/** Whether any other property may hold anything. */
export const isOpen = ({ indexSignatures: [first, ...others] }: SchemaAST.Objects): boolean =>
  first !== undefined &&
  others.length === 0 &&
  first.parameter._tag === "String" &&
  first.parameter.checks === undefined &&
  first.type._tag === "Unknown" &&
  first.type.checks === undefined

/** Property by property of the schema, because most of an open object is known. */
const acceptorOfStruct = (ast: SchemaAST.Objects): Acceptor => {
  const open = isOpen(ast)
  const names = ast.propertySignatures.map(({ name }) => String(name))
  if (ast.propertySignatures.some(({ name }) => typeof name !== "string" || name in Object.prototype)) return unknowing
  if (names.length === 0 && !open) return unknowing
  const types = ast.propertySignatures.map(({ type }) => acceptorOf(type))
  const required = ast.propertySignatures.map(({ type }) => type.context?.isOptional !== true)
  const known = new Set(names)
  return (value) => {
    if (!isJsonObject(value)) return false
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!
      const property = value[name]
      // A property that is there and undefined is no JSON.
      if (property === undefined ? required[index] || name in value : !types[index]!(property)) return false
    }
    if (!open) for (const name in value) if (!known.has(name)) return false
    return true
  }
}

/** Every name and every value alike. */
const acceptorOfRecord = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Acceptor => {
  const [signature] = indexSignatures
  if (signature?.parameter._tag !== "String" || indexSignatures.length > 1 || propertySignatures.length > 0) {
    return unknowing
  }
  const acceptsName = acceptorOf(signature.parameter)
  const accepts = acceptorOf(signature.type)
  return (value) => {
    if (!isJsonObject(value)) return false
    for (const name in value) if (!acceptsName(name) || !accepts(value[name])) return false
    return true
  }
}

/** A symbol is no name in JSON: what it names is not looked at. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const acceptorOfUnion = (ast: SchemaAST.Union): Acceptor => {
  if (ast.options?.mode === "oneOf") return unknowing
  const literals = ast.types.map(literalOf)
  if (literals.every((literal) => literal !== undefined)) {
    const members = new Set<unknown>(literals)
    return (value) => members.has(value)
  }
  const acceptors = ast.types.map(acceptorOf)
  const name = discriminatorOf(ast)
  if (name === undefined) return (value) => acceptors.some((accepts) => accepts(value))
  const byLiteral = new Map<unknown, Acceptor | undefined>(
    ast.types.map((type, index) => [propertyLiteral(type, name), acceptors[index]])
  )
  return (value) => isJsonObject(value) && byLiteral.get(value[name])?.(value) === true
}

/** The member that the value means to be: by its discriminator, else the only one of its shape. */
export const memberFor = (ast: SchemaAST.Union, value: unknown): SchemaAST.AST | undefined => {
  const name = discriminatorOf(ast)
  if (name !== undefined) {
    return isJsonObject(value) ? ast.types.find((type) => hasLiterals(type, value) && name in value) : undefined
  }
  const tag = Array.isArray(value) ? "Arrays" : isJsonObject(value) ? "Objects" : undefined
  const [only, ...others] = ast.types.filter(({ _tag }) => _tag === tag)
  return others.length === 0 ? only : undefined
}

/** Whether every property that can have one value only has it, if it is there. */
const hasLiterals = (type: SchemaAST.AST, value: Readonly<Record<string, unknown>>): boolean =>
  type._tag === "Objects" &&
  type.propertySignatures.every(({ name }) => {
    const literal = propertyLiteral(type, String(name))
    return literal === undefined || !(name in value) || value[String(name)] === literal
  })

/** The one value of the type. */
const literalOf = (type: SchemaAST.AST): SchemaAST.LiteralValue | null | undefined =>
  type.checks !== undefined || isTransformed(type)
    ? undefined
    : type._tag === "Literal"
      ? type.literal
      : type._tag === "Null"
        ? null
        : undefined

/** A property that has another literal in each member. */
const discriminatorOf = ({ types }: SchemaAST.Union): string | undefined => {
  const [first] = types
  if (first?._tag !== "Objects") return undefined
  const names = first.propertySignatures.map(({ name }) => String(name))
  return names.find((name) => {
    const literals = types.map((type) => propertyLiteral(type, name))
    return !literals.includes(undefined) && new Set(literals).size === types.length
  })
}

const propertyLiteral = (type: SchemaAST.AST, name: string): SchemaAST.LiteralValue | null | undefined => {
  const property =
    type._tag === "Objects" ? type.propertySignatures.find((property) => property.name === name) : undefined
  return property?.type.context?.isOptional === true || property === undefined ? undefined : literalOf(property.type)
}
