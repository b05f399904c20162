/** Single values judged by both: by the reference, and by us. */
import { prpFamilies, type PrpFamily, type PrpKind } from "../../src/schema/prp/contract/kinds.ts"
import { kindOfValue } from "../../src/schema/prp/rules/judgeValue.ts"
import { type Disagreement, disagreementOn, placesIn } from "./compare.ts"
import type { Reference } from "./reference.ts"

export interface Judgement {
  readonly disagreement: Disagreement | undefined
}

export interface Judges {
  /** `undefined`: the reference has no schema for the kind. */
  readonly judge: (kind: PrpKind, value: unknown) => Judgement | undefined
  /** Every object in the value that says which kind it is, each by itself. */
  readonly judgeInside: (value: unknown) => ReadonlyArray<Judgement>
}

export const judgesOf = (reference: Reference): Judges => {
  const places = reference.set.documents.flatMap(({ name, id }) =>
    placesIn(name).flatMap(({ schema, kind }) => {
      const [, pointer] = schema.split("#")
      return membersOf(kind).map((member) => ({ member, place: pointer === undefined ? id : `${id}#${pointer}` }))
    })
  )
  const judge: Judges["judge"] = (kind, value) => {
    const members = new Set<string>(membersOf(kind))
    const known = [...new Set(places.flatMap(({ member, place }) => (members.has(member) ? [place] : [])))]
    if (known.length === 0) return undefined
    const accepts = (instance: unknown) => known.some((place) => reference.validatorAt(place)(instance))
    return { disagreement: disagreementOn(value, kind, accepts) }
  }
  const judgeNamed = (value: object): ReadonlyArray<Judgement> => {
    const kind = kindOfValue(value)
    const judged = kind === undefined ? undefined : judge(kind, value)
    return judged === undefined ? [] : [judged]
  }
  return { judge, judgeInside: (value) => objectsIn(value).flatMap(judgeNamed) }
}

const isFamily = (kind: PrpKind): kind is PrpFamily => Object.hasOwn(prpFamilies, kind)

const membersOf = (kind: PrpKind): ReadonlyArray<string> => (isFamily(kind) ? prpFamilies[kind] : [kind])

const objectsIn = (value: unknown): ReadonlyArray<object> => {
  const found: Array<object> = []
  const left = [value]
  for (let next = left.pop(); left.length > 0 || next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue
    if (!Array.isArray(next)) found.push(next)
    for (const inner of Object.values(next)) left.push(inner)
  }
  return found
}
