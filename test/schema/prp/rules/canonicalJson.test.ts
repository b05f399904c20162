import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { digestOf } from "../../../../src/schema/identity.ts"
import { canonicalDigest, canonicalJson, canonicallyEqual } from "../../../../src/schema/prp/rules/canonicalJson.ts"

const text = (value: unknown): string => Result.getOrThrow(canonicalJson(value))

/** A copy whose objects have their properties in the opposite order. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, turned(inner)])
  )
}

const entries = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null ? Object.entries(value) : []

/** What the text must be, in the plainest words. */
const model = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(model).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const codes = (key: string) => [...key].map((character) => String(character.codePointAt(0)).padStart(8)).join("")
  const sorted = [...entries(value)].sort(([left], [right]) => (codes(left) < codes(right) ? -1 : 1))
  return `{${sorted.map(([key, inner]) => `${JSON.stringify(key)}:${model(inner)}`).join()}}`
}

describe("canonicalJson", () => {
  it("sorts keys at every level and leaves lists and texts alone", () => {
    expect(text({ b: [{ d: 1, c: [3, 2] }], a: { z: null, y: true }, "": " x\n" })).toBe(
      '{"":" x\\n","a":{"y":true,"z":null},"b":[{"c":[3,2],"d":1}]}'
    )
    expect(text(JSON.parse('{"__proto__":{"b":1,"a":2},"10":1,"9":2}'))).toBe(
      '{"10":1,"9":2,"__proto__":{"a":2,"b":1}}'
    )
  })

  it("sorts keys by code points, not by the units that a string is made of", () => {
    expect(text({ "\u{1f600}": 1, "\uffff": 2, "\ue000": 3, a: 4 })).toBe('{"a":4,"\ue000":3,"\uffff":2,"\u{1f600}":1}')
  })

  it("sorts half a character before a whole one, whatever comes behind it", () => {
    expect(text({ "a\ud83d\ue000": 1, "a\u{1f600}": 2 })).toBe('{"a\\ud83d\ue000":1,"a\u{1f600}":2}')
  })

  it("sorts by what follows the same half of a character", () => {
    const sorted = '{"\\ud83da":1,"\\ud83db":2,"\\ud83d\\ud83d":3,"\\ud83d\u{1f600}":4}'
    const value: unknown = JSON.parse(sorted)
    expect([text(value), text(turned(value))]).toEqual([sorted, sorted])
  })

  it("writes one text for one number, and half a character as an escape", () => {
    expect(text([1.0, -0, 1e21, 0.1, 1e-7])).toBe("[1,0,1e+21,0.1,1e-7]")
    expect(text("\ud800")).toBe('"\\ud800"')
  })

  it("takes any depth", () => {
    let deep: unknown = 0
    for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? [deep] : { k: deep }
    expect(text(deep)).toHaveLength(100_000 * 4 + 1)
  })

  it("refuses what JSON cannot say", () => {
    const cycle: Array<unknown> = []
    cycle.push({ cycle })
    const unsayable = [
      undefined,
      NaN,
      Infinity,
      1n,
      Symbol("s"),
      () => 1,
      new Date(0),
      new Map(),
      new URL("file:///a"),
      cycle
    ]
    for (const value of [...unsayable, ...unsayable.map((inner) => ({ a: [inner] })), Array(1)]) {
      expect(Result.isFailure(canonicalJson(value))).toBe(true)
      expect(canonicallyEqual(value, value)).toBe(false)
    }
  })

  it("takes a value that stands in two places", () => {
    const shared = { a: 1 }
    expect(text([shared, { shared }])).toBe('[{"a":1},{"shared":{"a":1}}]')
  })

  it.effect.prop(
    "is a fixed point, does not depend on order and agrees with a plain model",
    { value: Schema.Record(Schema.String, Schema.Json) },
    ({ value }) =>
      Effect.sync(() => {
        const canonical = text(value)
        expect(text(JSON.parse(canonical))).toBe(canonical)
        expect(text(turned(value))).toBe(canonical)
        expect(canonical).toBe(model(value))
        expect(canonicallyEqual(value, turned(value))).toBe(true)
        expect(canonicallyEqual(value, { ...value, other: canonical })).toBe(false)
      }),
    { arbitrary: { runs: 500 } }
  )
})

describe("canonicalDigest", () => {
  it("is the digest of the canonical text", () => {
    expect(Result.getOrThrow(canonicalDigest({ b: 1, a: 2 }))).toBe(digestOf('{"a":2,"b":1}'))
    expect(Result.isFailure(canonicalDigest(undefined))).toBe(true)
  })
})
