/** JSON Schema files as a judge of values: the contract as others read it. */
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import { problemOf, readSchemas, type SchemaSet, type UnreadSchema } from "./schemaSet.ts"

export interface Reference {
  readonly set: SchemaSet
  /** Schemas that the judge does not take, and why. */
  readonly unusable: ReadonlyArray<UnreadSchema>
  /** Judges by the schema that an absolute reference names. Throws when it cannot be compiled. */
  readonly validatorAt: (reference: string) => (value: unknown) => boolean
}

/** Of the `*.schema.json` files of a folder. Formats are asserted. */
export const readReference = (directory: string): Reference => {
  const set = readSchemas(directory)
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false })
  addFormatsModule.default(ajv, { mode: "full" })
  const unusable: Array<UnreadSchema> = []
  for (const { name, schema } of set.documents) {
    try {
      ajv.addSchema(schema)
    } catch (cause) {
      unusable.push({ name, problem: problemOf(cause) })
    }
  }
  const isUnusable = new Set(unusable.map(({ name }) => name))
  return {
    set: { ...set, documents: set.documents.filter(({ name }) => !isUnusable.has(name)) },
    unusable,
    validatorAt: (reference) => {
      const validate = ajv.getSchema(reference)
      if (validate === undefined) throw new Error(`no schema at ${reference}`)
      return (value) => validate(value) === true
    }
  }
}
