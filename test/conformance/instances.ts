/**
 * Random instances of a JSON Schema: most hold to it, and then some of them are changed at random places in ways that
 * readers get wrong.
 */
import { mutate } from "./mutations.ts"
import { mergeKeywords, namesIn, objectOf, type PlainSchema, plainSchema } from "./plainSchema.ts"
import { type Random, randomOf } from "./random.ts"
import { isObject, isSchema, type JsonObject, type JsonSchema, type SchemaSet } from "./schemaSet.ts"
import { dateTimeFor, textFor } from "./texts.ts"
import { vocabularyOf } from "./vocabulary.ts"

/** The same instances for the same seed. About a third of them are as the schema wants them. */
export function* instancesOf(set: SchemaSet, schema: JsonSchema, count: number, seed: number): Generator<unknown> {
  const random = randomOf(seed)
  const vocabulary = vocabularyOf(set, schema)
  for (let made = 0; made < count; made++) {
    let instance = instanceOf(set, schema, random, 0)
    for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) {
      instance = mutate(instance, vocabulary, random)
    }
    yield instance
  }
}

/** How often a number or a list is made to the bound or one past it. */
const pastBound = 0.02

/** Beyond this depth only what is required. */
const fullDepth = 6

const instanceOf = (set: SchemaSet, schema: JsonSchema, random: Random, depth: number): unknown => {
  const plain = plainSchema(set, schema, random)
  if (plain === undefined) return null
  const { keywords } = plain
  if ("const" in keywords) return keywords["const"]
  const members = keywords["enum"]
  if (Array.isArray(members)) return random.any(members)
  switch (typeIn(keywords, random)) {
    case "object":
      return objectFor(set, plain, random, depth)
    case "array":
      return arrayFor(set, keywords, random, depth)
    case "string":
      return keywords["format"] === "date-time"
        ? dateTimeFor(random)
        : textFor(random, numberIn(keywords, "minLength", 0), numberIn(keywords, "maxLength", 80), patternIn(keywords))
    case "integer":
      return integerFor(keywords, random)
    case "number":
      return integerFor(keywords, random) + random.pick([0, 0.25])
    case "boolean":
      return random.chance(0.5)
    default:
      return null
  }
}

const typeIn = (keywords: JsonObject, random: Random): unknown => {
  const type = keywords["type"]
  if (Array.isArray(type)) return random.any(type)
  if (type !== undefined) return type
  if (keywords["properties"] !== undefined || keywords["required"] !== undefined) return "object"
  return random.pick(["object", "string", "integer", "null", "boolean"])
}

const objectFor = (set: SchemaSet, plain: PlainSchema, random: Random, depth: number): JsonObject => {
  const written = filled(set, plain.keywords, {}, random, depth)
  const open = plain.keywords["additionalProperties"]
  if (isSchema(open) && typeof open !== "boolean") {
    for (let left = random.integer(3); left > 0; left--) {
      written[random.pick(["q1", "environment", "😀", "x".repeat(160)])] = instanceOf(set, open, random, depth + 1)
    }
  }
  if (open === true && random.chance(0.2)) written["later"] = random.pick<unknown>([1, null, { deep: [true] }])
  return conditioned(set, plain, written, random, depth)
}

const filled = (
  set: SchemaSet,
  keywords: JsonObject,
  written: JsonObject,
  random: Random,
  depth: number
): Record<string, unknown> => {
  const object: Record<string, unknown> = { ...written }
  const required = new Set(namesIn(keywords["required"]))
  for (const [name, schema] of Object.entries(objectOf(keywords["properties"]))) {
    if (name in object || !isSchema(schema) || schema === false) continue
    if (required.has(name) || random.chance(depth < fullDepth ? 0.6 : 0.1)) {
      object[name] = instanceOf(set, schema, random, depth + 1)
    }
  }
  return object
}

/** Writes anew what a condition that holds demands; once for each condition, in their order. */
const conditioned = (
  set: SchemaSet,
  { conditions, keywords }: PlainSchema,
  object: JsonObject,
  random: Random,
  depth: number
): JsonObject => {
  let written: Record<string, unknown> = { ...object }
  let demanded = keywords
  for (const { if: condition, then } of conditions) {
    if (!isSchema(then) || !holds(objectOf(condition), written)) continue
    const plain = plainSchema(set, then, random)
    if (plain === undefined) continue
    demanded = mergeKeywords(demanded, plain.keywords)
    const { required: forbidden } = objectOf(plain.keywords["not"])
    const rewritten = new Set([...Object.keys(objectOf(plain.keywords["properties"])), ...namesIn(forbidden)])
    const kept = Object.fromEntries(Object.entries(written).filter(([name]) => !rewritten.has(name)))
    const properties = Object.fromEntries(
      Object.entries(objectOf(demanded["properties"])).filter(([name]) => !namesIn(forbidden).includes(name))
    )
    written = filled(set, { ...demanded, properties }, kept, random, depth)
  }
  return written
}

/** Conditions of a contract look at members of an enumeration only. */
const holds = (condition: JsonObject, object: JsonObject): boolean =>
  Object.entries(objectOf(condition["properties"])).every(([name, schema]) => {
    if (!(name in object) || !isObject(schema)) return true
    return "const" in schema
      ? schema["const"] === object[name]
      : !Array.isArray(schema["enum"]) || schema["enum"].includes(object[name])
  })

const arrayFor = (set: SchemaSet, keywords: JsonObject, random: Random, depth: number): ReadonlyArray<unknown> => {
  const items = keywords["items"]
  const min = numberIn(keywords, "minItems", 0)
  const max = numberIn(keywords, "maxItems", 8)
  const some = Math.min(min + random.integer(depth < fullDepth ? 4 : 1), max)
  const length = random.chance(pastBound) ? Math.max(0, random.pick([min - 1, max, max + 1])) : some
  if (length > some) return atLength(set, items, length, random)
  const made = Array.from({ length }, () => (isSchema(items) ? instanceOf(set, items, random, depth + 1) : "x"))
  if (keywords["uniqueItems"] !== true) return made
  return [...new Map(made.map((item) => [JSON.stringify(item), item])).values()]
}

/** Long lists repeat one small item: what they are about is their length. */
const atLength = (set: SchemaSet, items: unknown, length: number, random: Random): ReadonlyArray<unknown> => {
  const item = isSchema(items) ? instanceOf(set, items, random, fullDepth + 1) : "x"
  return Array.from({ length }, () => item)
}

const integerFor = (keywords: JsonObject, random: Random): number => {
  const minimum = numberIn(keywords, "minimum", 0)
  const maximum = numberIn(keywords, "maximum", Number.MAX_SAFE_INTEGER)
  if (random.chance(pastBound)) return random.pick([minimum - 1, maximum, maximum + 1])
  return Math.min(maximum, minimum + random.pick([0, 1, 7, 4096]))
}

const numberIn = (keywords: JsonObject, name: string, otherwise: number): number => {
  const value = keywords[name]
  return typeof value === "number" ? value : otherwise
}

const patternIn = (keywords: JsonObject): RegExp | undefined => {
  const pattern = keywords["pattern"]
  return typeof pattern === "string" ? new RegExp(pattern, "u") : undefined
}
