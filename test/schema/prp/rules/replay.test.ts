import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { reduceFixture } from "../../../../src/schema/prp/rules/reduceSession.ts"
import { goldenText, paritySummary } from "../../../../src/schema/prp/rules/sessionSnapshot.ts"
import { fixture, fixtureNames, fixtureText, goldenFile, goldenNames, validated } from "./fixtures.ts"

const refused = { "version-3": "unsupported_required_version" }

const accepted = fixtureNames.filter((name) => !Object.hasOwn(refused, name))

describe("the corpus of replayed runs", () => {
  for (const name of accepted) {
    it(`${name} reduces to its golden files, byte by byte`, () => {
      const snapshot = reduceFixture(fixture(name))
      expect(goldenText(snapshot)).toBe(goldenFile(name, "snapshot"))
      expect(goldenText(paritySummary(snapshot))).toBe(goldenFile(name, "summary"))
    })
  }

  for (const [name, code] of Object.entries(refused)) {
    it(`${name} is refused with ${code}`, () => {
      const judged = validated(fixtureText(name))
      expect(Result.isFailure(judged) && judged.failure.code).toBe(code)
    })
  }

  it("has two golden files for every accepted run, and no others", () => {
    const expected = accepted.flatMap((name) => [`${name}.snapshot.json`, `${name}.summary.json`])
    expect([...goldenNames].sort()).toEqual(expected.sort())
  })

  it("has runs of both versions, and in those of version 2 events of both schemas", () => {
    const versions = accepted.map((name) => fixture(name).protocolVersion)
    expect(new Set(versions)).toEqual(new Set([1, 2]))
    for (const name of accepted) {
      const { protocolVersion, events } = fixture(name)
      expect(new Set(events.map((event) => event.schemaVersion)), name).toEqual(
        new Set(protocolVersion === 1 ? [1] : [1, 2])
      )
    }
  })
})
