/**
 * What is wrong with a value, for whoever sent it and for a log: places and expectations, bounded, and nothing of the value.
 *
 * A name in a path is one of the contract; any other, which came with the value, stands as its position in its object.
 */
import * as SchemaIssue from "effect/SchemaIssue"
import { shortText } from "../../characters.ts"
import type { PrpIssue } from "../../errors.ts"
import { limits } from "../../limits.ts"

type Path = ReadonlyArray<PropertyKey>

/** At most `prpIssuesMax`, in the order in which they were found. `known` are the names of the contract. */
export const issuesOf = (
  issue: SchemaIssue.Issue,
  value: unknown,
  known: ReadonlySet<PropertyKey>
): ReadonlyArray<PrpIssue> => {
  const positions: Positions = new Map()
  return format(issue)
    .issues.slice(0, limits.prpIssuesMax)
    .map(({ path = [], message }) => ({
      path: pointer(path.map(keyOf), value, known, positions),
      expectation: shortText(message, limits.prpExpectationCharactersMax)
    }))
}

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return "Expected this property"
      case "UnexpectedKey":
        return "Expected no such property"
      default:
        return SchemaIssue.defaultLeafHook(issue)
    }
  }
})

/** A JSON Pointer. */
const pointer = (path: Path, value: unknown, known: ReadonlySet<PropertyKey>, positions: Positions): string => {
  let text = ""
  let here = value
  for (const key of path) {
    text += `/${typeof key === "number" || known.has(key) ? String(key) : position(key, here, positions)}`
    here = propertyOf(here, key)
  }
  return shortText(text, limits.prpPathCharactersMax)
}

/** The properties of an object in their order. One of many properties may be asked for many of them. */
type Positions = Map<object, ReadonlyArray<PropertyKey>>

const position = (key: PropertyKey, owner: unknown, positions: Positions): string =>
  `(property ${typeof owner === "object" && owner !== null ? propertiesOf(owner, positions).indexOf(key) + 1 : 0})`

const propertiesOf = (owner: object, positions: Positions): ReadonlyArray<PropertyKey> => {
  const properties = positions.get(owner) ?? Reflect.ownKeys(owner)
  positions.set(owner, properties)
  return properties
}

const propertyOf = (owner: unknown, key: PropertyKey): unknown =>
  typeof owner === "object" && owner !== null && Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined
