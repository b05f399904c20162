/**
 * What the schemas of the contract are spelt with: open objects, counts, bounded texts, paths inside the workspace and lists
 * without repetition.
 *
 * Numbers that are counted are safe integers: a larger one cannot be read from JSON and written again without loss.
 */
import * as Schema from "effect/Schema"
import { fitsCharacters, textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"

export const anyProperty = Schema.Record(Schema.String, Schema.Unknown)

/** Keeps whatever else the object holds. A `Schema.Struct` of the contract is closed. */
export const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [anyProperty])

export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
export const Revision = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
export const NotNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

export const Id = textOf(1, limits.idCharactersMax)
export const Name = textOf(1, limits.nameCharactersMax)
export const Label = textOf(1, limits.prpLabelCharactersMax)
export const ShortText = textOf(0, limits.shortTextCharactersMax)
export const NullableShortText = Schema.NullOr(ShortText)

export const nullableText = (charactersMax: number) => Schema.NullOr(textOf(0, charactersMax))

/** No absolute path, no `..` segment, no line break: JSON Schema's `.` does not match one. */
const safePathPattern = /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).*$/u

export const safePath = (charactersMin: number, charactersMax: number) =>
  textOf(charactersMin, charactersMax).check(Schema.isPattern(safePathPattern))

const wordOf = (pattern: RegExp, expectation: string) =>
  Schema.String.check(
    Schema.makeFilter(
      (text: string) => (fitsCharacters(text, limits.idCharactersMax) && pattern.test(text)) || expectation,
      { toJsonSchema: () => ({ minLength: 1, maxLength: limits.idCharactersMax, pattern: pattern.source }) }
    )
  )

/** A code that programs tell apart. */
export const StableCode = wordOf(/^[a-z][a-z0-9_.:-]*$/, "Expected a stable code")

/** The name of a family of events. */
export const FamilyName = wordOf(/^[a-z][a-z0-9_.-]*$/, "Expected the name of a family of events")
