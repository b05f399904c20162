import { Ajv2020 } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import * as Result from "effect/Result"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { prpSchemaKinds, prpSchemaNames } from "../../src/schema/prp/contract/jsonSchema.ts"
import { instancesOf } from "./instances.ts"
import { readSchemas } from "./schemaSet.ts"

const directory = join(import.meta.dirname, "../../fixtures/prp/schemas")
const set = readSchemas(directory)
const ajv = new Ajv2020({ strict: false })
addFormatsModule.default(ajv, { mode: "full" })
for (const { schema } of set.documents) ajv.addSchema(schema)

const instances = 100
const seed = 11

describe("the JSON Schema files", () => {
  it("are one for each document, and valid", () => {
    expect(set.documents.map(({ name }) => name).sort()).toEqual([...prpSchemaNames].sort())
    for (const { schema } of set.documents) expect(ajv.validateSchema(schema)).toBe(true)
  })

  it.each(prpSchemaNames)("of %s accepts what we accept, and nothing else", (name) => {
    const id = `urn:greenroom:prp:${name}`
    const validate = ajv.getSchema(id)
    let accepted = 0
    const disagreements: Array<unknown> = []
    for (const made of instancesOf(set, set.resolve(id), instances, seed)) {
      const instance: unknown = JSON.parse(JSON.stringify(made))
      const ours = Result.isSuccess(decodePrp(prpSchemaKinds[name], instance))
      if (ours) accepted++
      if (validate?.(instance) !== ours) disagreements.push(instance)
    }
    expect(disagreements).toEqual([])
    expect(accepted).toBeGreaterThan(instances / 20)
    expect(accepted).toBeLessThan(instances)
  })
})
