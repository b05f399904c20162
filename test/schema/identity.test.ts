import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  canonicalDigest,
  canonicalJson,
  Digest,
  digestOf,
  SessionId,
  StableId,
  stableIdOf,
  TurnId
} from "../../src/schema/identity.ts"

describe("ids", () => {
  it("have 1 to 160 characters, counted as code points", () => {
    for (const id of [SessionId, TurnId]) {
      const is = Schema.is(id)
      expect(["", "x", "x".repeat(160), "x".repeat(161)].map((value) => is(value))).toStrictEqual([
        false,
        true,
        true,
        false
      ])
      expect(["😀".repeat(160), "😀".repeat(161)].map((value) => is(value))).toStrictEqual([true, false])
    }
  })
})

describe("stableIdOf", () => {
  it("keeps a stable id and names any other text by its digest", () => {
    for (const stable of ["call_1_0", "toolu_2.0:a-b", "0", "x".repeat(160)])
      expect(stableIdOf("call", stable)).toBe(stable)
    for (const text of ["", "_x", "a b", "é", "😀", "a\n", "../x", "x".repeat(161), "\ud800"]) {
      const id = stableIdOf("call", text)
      expect(id).toMatch(/^call-[0-9a-f]{32}$/)
      expect(Schema.is(StableId)(id)).toBe(true)
      expect(stableIdOf("call", text)).toBe(id)
    }
  })
})

describe("canonicalJson", () => {
  it("sorts keys at every level and writes no spaces", () => {
    expect(canonicalJson({ b: [1, { z: null, y: "é" }], a: {}, "": [], B: false })).toBe(
      '{"":[],"B":false,"a":{},"b":[1,{"y":"é","z":null}]}'
    )
  })

  it("writes what JSON.stringify writes for what JSON cannot express", () => {
    for (const value of [
      undefined,
      { a: undefined, b: Number.NaN, c: () => 0 },
      [undefined, Number.POSITIVE_INFINITY],
      -0
    ]) {
      expect(canonicalJson(value)).toBe(JSON.stringify(value) ?? "null")
    }
  })

  it("keeps an own key named __proto__", () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":2}}'))).toBe('{"__proto__":{"x":2},"b":1}')
  })

  it("is not limited by depth", () => {
    let deep: unknown = 0
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect(canonicalJson(deep)).toHaveLength(200_001)
  })

  it.prop("is JSON of the same value, whatever the order of keys", [Arbitrary.schema(Schema.Json)], ([value]) => {
    const text = canonicalJson(value)
    expect(JSON.parse(text)).toStrictEqual(JSON.parse(JSON.stringify(value)))
    expect(canonicalJson(reversed(value))).toBe(text)
    expect(canonicalDigest(reversed(value))).toBe(canonicalDigest(value))
  })
})

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, reversed(inner)])
  )
}

describe("digestOf", () => {
  it("is the SHA-256 of the text in UTF-8", () => {
    expect(digestOf("")).toBe("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    expect(digestOf("é")).toBe("sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c")
    expect(Schema.is(Digest)(digestOf("x"))).toBe(true)
  })
})
