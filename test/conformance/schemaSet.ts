/** JSON Schema documents of a folder, by their `$id`, with every reference made absolute and resolvable. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export type JsonObject = { readonly [name: string]: unknown }
export type JsonSchema = boolean | JsonObject

export interface SchemaDocument {
  /** The file's name without its end. */
  readonly name: string
  readonly id: string
  readonly schema: JsonObject
}

/** A file that is no schema, and why. */
export interface UnreadSchema {
  readonly name: string
  readonly problem: string
}

export interface SchemaSet {
  readonly documents: ReadonlyArray<SchemaDocument>
  readonly unread: ReadonlyArray<UnreadSchema>
  /** The schema that an absolute reference names. */
  readonly resolve: (reference: string) => JsonSchema
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isSchema = (value: unknown): value is JsonSchema => typeof value === "boolean" || isObject(value)

const suffix = ".schema.json"

/** Reads the `*.schema.json` files of the folder, not of those in it. A file that is no schema is told, not thrown. */
export const readSchemas = (directory: string): SchemaSet => {
  const documents: Array<SchemaDocument> = []
  const unread: Array<UnreadSchema> = []
  const byId = new Map<string, JsonSchema>()
  for (const file of readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .sort()) {
    const name = file.slice(0, -suffix.length)
    try {
      const document = documentOf(name, JSON.parse(readFileSync(join(directory, file), "utf8")))
      if (byId.has(document.id)) throw new Error("another file has the same $id")
      byId.set(document.id, document.schema)
      documents.push(document)
    } catch (cause) {
      unread.push({ name, problem: problemOf(cause) })
    }
  }
  return { documents, unread, resolve: (reference) => resolveIn(byId, reference) }
}

/** In one line. */
export const problemOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, " ").slice(0, 200)

const documentOf = (name: string, parsed: unknown): SchemaDocument => {
  if (!isObject(parsed) || typeof parsed["$id"] !== "string") throw new Error("no schema with an $id")
  const id = parsed["$id"]
  const schema = absolute(parsed, id)
  if (!isObject(schema)) throw new Error("no schema")
  return { name, id, schema }
}

const absolute = (value: unknown, base: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => absolute(item, base))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === "$ref" && typeof inner === "string" ? new URL(inner, base).href : absolute(inner, base)
    ])
  )
}

const resolveIn = (byId: ReadonlyMap<string, JsonSchema>, reference: string): JsonSchema => {
  const [id = "", pointer = ""] = reference.split("#")
  let here: unknown = byId.get(id)
  for (const key of pointer.split("/").slice(1)) here = isObject(here) ? here[key] : undefined
  if (!isSchema(here)) throw new Error(`no schema at ${reference}`)
  return here
}
