/** Which version of the protocol two sides speak. It stays the same until they authenticate anew. */
import * as Result from "effect/Result"
import { VersionsDisjoint } from "../../errors.ts"

/** What one side speaks, both ends included. */
export interface VersionRange {
  readonly min: number
  readonly max: number
}

/** What we speak. */
export const supportedVersions: VersionRange = { min: 1, max: 2 }

/** The highest version that both speak. A range that is empty or not of whole positive numbers has nothing in common. */
export const negotiateVersion = (ours: VersionRange, theirs: VersionRange): Result.Result<number, VersionsDisjoint> => {
  const highest = Math.min(ours.max, theirs.max)
  const common = isRange(ours) && isRange(theirs) && highest >= Math.max(ours.min, theirs.min)
  return common ? Result.succeed(highest) : Result.fail(new VersionsDisjoint({ ours, theirs }))
}

const isRange = ({ min, max }: VersionRange): boolean =>
  Number.isSafeInteger(min) && Number.isSafeInteger(max) && min >= 1
