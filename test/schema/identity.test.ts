import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Digest, digestOf, StableId, stableIdOf } from "../../src/schema/identity.ts"

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

describe("digestOf", () => {
  it("is the SHA-256 of the text in UTF-8", () => {
    expect(digestOf("")).toBe("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    expect(digestOf("é")).toBe("sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c")
    expect(Schema.is(Digest)(digestOf("x"))).toBe(true)
  })
})
