import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { VersionsDisjoint } from "../../../../src/schema/errors.ts"
import { negotiateVersion, supportedVersions } from "../../../../src/schema/prp/rules/negotiation.ts"

const negotiated = (theirs: { min: number; max: number }) => negotiateVersion(supportedVersions, theirs)

describe("negotiateVersion", () => {
  it("takes the highest version that both speak", () => {
    for (const [min, max, version] of [
      [1, 1, 1],
      [1, 2, 2],
      [2, 2, 2],
      [1, 3, 2],
      [2, 9, 2]
    ] as const) {
      expect(negotiated({ min, max })).toEqual(Result.succeed(version))
    }
  })

  it("fails with both ranges when nothing is common, or a range is none", () => {
    for (const theirs of [
      { min: 3, max: 3 },
      { min: 2, max: 1 },
      { min: 0, max: 2 },
      { min: 1, max: 1.5 },
      { min: NaN, max: 2 },
      { min: -1, max: Infinity }
    ]) {
      expect(negotiated(theirs)).toEqual(Result.fail(new VersionsDisjoint({ ours: supportedVersions, theirs })))
    }
  })

  const Version = Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 6 }))
  const Range = Schema.Struct({ min: Version, max: Version })

  it.effect.prop(
    "gives both sides the same version: one that both speak, and no higher one is",
    { ours: Range, theirs: Range },
    ({ ours, theirs }) =>
      Effect.sync(() => {
        const version = Result.getOrUndefined(negotiateVersion(ours, theirs))
        expect(Result.getOrUndefined(negotiateVersion(theirs, ours))).toBe(version)
        const speaks = ({ min, max }: typeof ours, candidate: number) =>
          min >= 1 && candidate >= min && candidate <= max
        const common = [1, 2, 3, 4, 5, 6].filter((each) => speaks(ours, each) && speaks(theirs, each))
        expect(version).toBe(common.at(-1))
      }),
    { arbitrary: { runs: 500 } }
  )
})
