/** The names that the contract gives to properties: those that a rejection may repeat. */
import type * as SchemaAST from "effect/SchemaAST"
import { prpSchemas } from "./kinds.ts"
import { payloadsV1, payloadsV2 } from "./payloads.ts"
import { GoalSetPayload } from "./command.ts"

/** Of every schema, at every level. */
export const contractNames = (): ReadonlySet<PropertyKey> => (names ??= allNames())

let names: ReadonlySet<PropertyKey> | undefined

/** A payload that depends on another property is behind a check, where a walk does not get to. */
const allNames = (): ReadonlySet<PropertyKey> => {
  const roots = [prpSchemas, payloadsV1, payloadsV2].flatMap((table) => Object.values(table))
  return namesOf([...roots, GoalSetPayload])
}

/** Of these schemas, at every level. */
export const namesOf = (roots: ReadonlyArray<{ readonly ast: SchemaAST.AST }>): ReadonlySet<PropertyKey> => {
  const found = new Set<PropertyKey>()
  for (const { ast } of roots) addNames(ast, found)
  return found
}

const addNames = (ast: SchemaAST.AST, found: Set<PropertyKey>): void => {
  switch (ast._tag) {
    case "Objects":
      for (const { name, type } of ast.propertySignatures) {
        found.add(name)
        addNames(type, found)
      }
      for (const { type } of ast.indexSignatures) addNames(type, found)
      break
    case "Arrays":
      for (const type of [...ast.elements, ...ast.rest]) addNames(type, found)
      break
    case "Union":
      for (const type of ast.types) addNames(type, found)
  }
}
