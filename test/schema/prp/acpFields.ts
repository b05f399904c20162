/** Every field that the protocol's own schemas give to what the projection reads, by its path. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { isNativeObject, nativeAt, type NativeObject } from "../../../src/schema/prp/native.ts"

const { resolve } = createRequire(import.meta.url)

const readSchema = (name: string): unknown =>
  JSON.parse(readFileSync(resolve(`@agentclientprotocol/sdk/schema/v1/${name}.json`), "utf8"))

const stable = readSchema("schema")
/** A superset: it adds fields to the stable definitions, and kinds. */
const unstable = readSchema("schema.unstable")

/** Have a table of their own. */
const stops: ReadonlySet<string> = new Set(["ContentBlock", "ToolCallUpdate", "Annotations"])

/** `_meta` can stand anywhere and is told of once. */
const metaName = "_meta"

const definition = (schema: unknown, name: string): NativeObject => {
  const found = nativeAt(schema, "$defs", name)
  if (!isNativeObject(found)) throw new Error(`the protocol has no ${name}`)
  return found
}

const listAt = (schema: NativeObject, key: string): ReadonlyArray<unknown> => {
  const list = schema[key]
  return Array.isArray(list) ? list : []
}

const fieldsOf = (schema: unknown, path: string): ReadonlyArray<string> => {
  if (!isNativeObject(schema)) return []
  const { $ref, items, properties } = schema
  const name = typeof $ref === "string" ? $ref.slice($ref.lastIndexOf("/") + 1) : undefined
  if (name !== undefined && stops.has(name) && path !== "") return [path]
  const inside = [
    ...(name === undefined ? [] : fieldsOf(definition(unstable, name), path)),
    ...["allOf", "anyOf", "oneOf"].flatMap((key) => listAt(schema, key).flatMap((one) => fieldsOf(one, path))),
    ...(isNativeObject(items) ? fieldsOf(items, `${path}[]`) : []),
    ...(isNativeObject(properties)
      ? Object.entries(properties).flatMap(([key, of]) =>
          key === metaName ? [] : fieldsOf(of, path === "" ? key : `${path}.${key}`)
        )
      : [])
  ]
  return inside.length === 0 && path !== "" ? [path] : [...new Set(inside)]
}

/** What may be `null` comes both by itself and with what is inside. The kind is no field of its own. */
const innermost = (fields: ReadonlyArray<string>, kindName?: string): ReadonlyArray<string> =>
  fields.filter((field) => field !== kindName && !fields.some((other) => other.startsWith(`${field}.`)))

const discriminated = (name: string, by: string, schema: unknown): ReadonlyArray<readonly [string, unknown]> =>
  listAt(definition(schema, name), "oneOf").flatMap((variant) => {
    const word = nativeAt(variant, "properties", by, "const")
    return typeof word === "string" ? [[word, variant] as const] : []
  })

const prefixed = (prefix: string, fields: ReadonlyArray<string>): ReadonlyArray<string> =>
  fields.map((field) => `${prefix}.${field}`)

export const stableKinds = discriminated("SessionUpdate", "sessionUpdate", stable).map(([kind]) => kind)

/** `tool_call.locations[].path`, of the kinds of the stable protocol. */
export const updateFields = discriminated("SessionUpdate", "sessionUpdate", unstable)
  .filter(([kind]) => stableKinds.includes(kind))
  .flatMap(([kind, variant]) => prefixed(kind, innermost(fieldsOf(variant, ""), "sessionUpdate")))

export const unstableKinds = discriminated("SessionUpdate", "sessionUpdate", unstable)
  .map(([kind]) => kind)
  .filter((kind) => !stableKinds.includes(kind))

/** `image.mimeType`. */
export const blockFields = discriminated("ContentBlock", "type", unstable).flatMap(([type, variant]) =>
  prefixed(type, innermost(fieldsOf(variant, ""), "type"))
)

/** The tool call of a permission request is told by its fields, whatever is inside them. */
export const requestFields = [
  ...fieldsOf(definition(unstable, "RequestPermissionRequest"), "").filter((field) => field !== "toolCall"),
  ...prefixed("toolCall", Object.keys(Object(definition(unstable, "ToolCallUpdate")["properties"]))).filter(
    (field) => !field.endsWith(`.${metaName}`)
  )
]

export const resultFields = innermost(fieldsOf(definition(unstable, "PromptResponse"), ""))

export const protocolToolKinds = listAt(definition(stable, "ToolKind"), "oneOf").map((one) => nativeAt(one, "const"))
