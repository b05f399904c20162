/** Changes to a full value of the contract at one place each: to every bound and one past it, and to what readers get wrong. */
import type { Case } from "./caseFile.ts"
import { isJsonObject, type Json } from "./caseFile.ts"
import { objectIn, type Place } from "./applied.ts"

export interface Variation {
  readonly accepted: boolean
  readonly change: Case
}

export const variationsAt = (place: Place): ReadonlyArray<Variation> => [
  ...ofPresence(place),
  ...("const" in place.keywords || "enum" in place.keywords
    ? ofEnumeration(place)
    : place.keywords["format"] === "date-time"
      ? ofTimestamp(place)
      : ofType(place))
]

const ofType = (place: Place): ReadonlyArray<Variation> => {
  const { keywords } = place
  switch (keywords["type"]) {
    case "string":
      return ofText(place)
    case "integer":
    case "number":
      return ofNumber(place)
    case "array":
      return ofList(place)
    case "object":
      return ofObject(place)
    case "boolean":
      return [refused(place, "a text instead of a boolean", "true")]
    default:
      return []
  }
}

const accepted = ({ pointer }: Place, name: string, value: unknown): Variation => ({
  accepted: true,
  change: { name: `${pointer}: ${name}`, set: { [pointer]: value } }
})

const refused = ({ pointer }: Place, name: string, value: unknown): Variation => ({
  accepted: false,
  change: { name: `${pointer}: ${name}`, set: { [pointer]: value } }
})

const ofPresence = (place: Place): ReadonlyArray<Variation> => {
  const { pointer, nullable, optional, keywords } = place
  const isAnything = keywords["type"] === undefined && !("const" in keywords) && !("enum" in keywords)
  return [
    ...(optional === undefined
      ? []
      : [{ accepted: optional, change: { name: `${pointer}: absent`, remove: [pointer] } }]),
    ...(pointer === "" || isAnything ? [] : [(nullable ? accepted : refused)(place, "null", null)])
  ]
}

const ofEnumeration = (place: Place): ReadonlyArray<Variation> => {
  const members = place.keywords["enum"]
  return [
    ...(Array.isArray(members) ? members.map((member: unknown) => ofMember(place, member)) : []),
    refused(place, "a member that is not known", typeof place.value === "number" ? 99 : "unknown_member")
  ]
}

/** Alone in its list, in which it might not be admitted twice. */
const ofMember = (place: Place, member: unknown): Variation => {
  const [, list] = /^(.*)\/\d+$/.exec(place.pointer) ?? []
  return list === undefined
    ? accepted(place, String(member), member)
    : accepted({ ...place, pointer: list }, `only ${String(member)}`, [member])
}

const ofTimestamp = (place: Place): ReadonlyArray<Variation> => [
  accepted(place, "an offset", "2024-02-29T23:59:59.123456789-23:59"),
  accepted(place, "a leap second", "2016-12-31t23:59:60z"),
  accepted(place, "64 characters", `2026-01-01T00:00:00.${"0".repeat(43)}Z`),
  refused(place, "65 characters", `2026-01-01T00:00:00.${"0".repeat(44)}Z`),
  refused(place, "a day that is not in the year", "2026-02-29T00:00:00Z"),
  refused(place, "no offset", "2026-01-01T00:00:00"),
  refused(place, "a blank instead of the T", "2026-01-01 00:00:00Z")
]

const ofText = (place: Place): ReadonlyArray<Variation> => {
  const { keywords, value } = place
  const min = numberIn(keywords, "minLength") ?? 0
  const max = numberIn(keywords, "maxLength")
  const pattern = typeof keywords["pattern"] === "string" ? new RegExp(keywords["pattern"], "u") : undefined
  const base = String(value)
  const long = (filler: string, characters: number) => ({
    $repeat: filler,
    times: characters - [...base].length,
    after: base
  })
  const admitsAstral = pattern === undefined || pattern.test(`${base}😀`)
  return [
    ...(place.mixed ? [] : [refused(place, "a number instead of a text", 7)]),
    ...(min === 0
      ? pattern === undefined || pattern.test("")
        ? [accepted(place, "empty", "")]
        : [refused(place, "empty", "")]
      : [refused(place, "empty", "")]),
    ...(max === undefined || max === base.length
      ? []
      : [
          accepted(place, `${max} characters`, long("x", max)),
          refused(place, `${max + 1} characters`, long("x", max + 1))
        ]),
    ...(max === undefined || !admitsAstral
      ? []
      : [
          accepted(place, `${max} characters, mostly beyond U+FFFF`, long("😀", max)),
          refused(place, `${max + 1} characters, mostly beyond U+FFFF`, long("😀", max + 1))
        ]),
    ...(pattern === undefined ? [] : ofPattern(place, base, pattern))
  ]
}

const ofPattern = (place: Place, base: string, pattern: RegExp): ReadonlyArray<Variation> =>
  [`/${base}`, `${base}/../b`, `..`, `${base}\n`, `${base}😀`, `-${base}`, base.toUpperCase(), `${base}/b`, `..${base}`]
    .filter((text, index, all) => text !== base && all.indexOf(text) === index)
    .map((text) => (pattern.test(text) ? accepted : refused)(place, JSON.stringify(text), text))

const ofNumber = (place: Place): ReadonlyArray<Variation> => {
  const { keywords } = place
  const minimum = numberIn(keywords, "minimum")
  const maximum = numberIn(keywords, "maximum")
  return [
    ...(place.mixed ? [] : [refused(place, "a text instead of a number", "7")]),
    (keywords["type"] === "integer" ? refused : accepted)(place, "a fraction", Math.max(minimum ?? 0, 0) + 0.5),
    ...(minimum === undefined
      ? []
      : [accepted(place, `the least, ${minimum}`, minimum), refused(place, `less than ${minimum}`, minimum - 1)]),
    ...(maximum === undefined
      ? []
      : [accepted(place, `the most, ${maximum}`, maximum), refused(place, `more than ${maximum}`, maximum + 1)])
  ]
}

const ofList = (place: Place): ReadonlyArray<Variation> => {
  const { keywords, value } = place
  const list = Array.isArray(value) ? value : []
  const min = numberIn(keywords, "minItems") ?? 0
  const max = numberIn(keywords, "maxItems")
  const [first] = list
  const many = (times: number) => ({ $repeat: [first], times })
  return [
    refused(place, "a text instead of a list", "list"),
    (min === 0 ? accepted : refused)(place, "no item", []),
    ...(max === undefined || first === undefined
      ? []
      : [accepted(place, `${max} items`, many(max)), refused(place, `${max + 1} items`, many(max + 1))]),
    ...(keywords["uniqueItems"] !== true || first === undefined
      ? []
      : [refused(place, "the same item twice", [first, ...(isJsonObject(first) ? [reversed(first)] : [first])])])
  ]
}

const reversed = (object: Json): Json => Object.fromEntries(Object.entries(object).toReversed())

const ofObject = (place: Place): ReadonlyArray<Variation> => {
  const { keywords, pointer } = place
  const isOpen = keywords["additionalProperties"] === true
  const hasNames = Object.keys(objectIn(keywords, "properties")).length > 0
  const later = { ...place, pointer: `${pointer}/later` }
  return [
    ...(pointer === "" ? [] : [refused(place, "a list instead of an object", [])]),
    ...(hasNames || isOpen ? [(isOpen ? accepted : refused)(later, "not known", { of: ["a later version", 2] })] : [])
  ]
}

const numberIn = (keywords: Json, name: string): number | undefined => {
  const found = keywords[name]
  return typeof found === "number" ? found : undefined
}
