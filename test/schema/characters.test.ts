import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  characterCount,
  detached,
  endsInHalf,
  firstCharacters,
  fitsCharacters,
  lastCharacters,
  shortText,
  textOf,
  utf8Bytes
} from "../../src/schema/characters.ts"

const pieces = Schema.Array(Schema.Literals(["a", "é", "漢", "😀", "\ud83d", "\ude00", "\n", ""]))
const text = Arbitrary.map(Arbitrary.schema(pieces), (parts) => parts.join(""))
const bound = Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 5, 8, 40]))

describe("characters", () => {
  it.prop("are counted, cut and measured as code points", [text, bound], ([value, max]) => {
    const points = [...value]
    expect(characterCount(value)).toBe(points.length)
    expect(fitsCharacters(value, max)).toBe(points.length <= max)
    expect(firstCharacters(value, max)).toBe(points.slice(0, max).join(""))
    expect([...lastCharacters(value, max)]).toStrictEqual(max === 0 ? [] : points.slice(-max))
    expect(utf8Bytes(value)).toBe(new TextEncoder().encode(value).length)
    expect(detached(value)).toBe(value.toWellFormed())
    expect(shortText(value, max).isWellFormed()).toBe(true)
  })

  it("tell when the second half of a character may follow", () => {
    expect(["", "a", "😀", "a\ud83d", "\ude00"].map(endsInHalf)).toStrictEqual([false, false, false, true, false])
  })

  it("bound a text from both sides", () => {
    const is = Schema.is(textOf(2, 3))
    expect(["a", "ab", "abc", "abcd"].map((value) => is(value))).toStrictEqual([false, true, true, false])
    expect(["😀", "😀😀", "😀😀😀", "😀😀😀😀"].map((value) => is(value))).toStrictEqual([false, true, true, false])
  })
})
