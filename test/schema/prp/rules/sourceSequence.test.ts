import { describe, expect, it } from "@effect/vitest"
import { limits } from "../../../../src/schema/limits.ts"
import { sequenceVerdict, sourceKeyOf } from "../../../../src/schema/prp/rules/sourceSequence.ts"

const event = (sourceSeq: number, sourceEventId = `event-${sourceSeq}`) => ({
  sourceEventId,
  sourceSeq,
  sourceKind: "runner",
  sourceInstanceId: "r:1"
})

const verdict = (cursor: number | undefined, sourceSeq: number, taken: ReadonlyArray<string> = []) =>
  sequenceVerdict(new Set(taken), new Map(cursor === undefined ? [] : [["runner:r:1", cursor]]), event(sourceSeq))

describe("sequenceVerdict", () => {
  it("numbers each source from 1", () => {
    expect(sourceKeyOf(event(1))).toBe("runner:r:1")
    expect(verdict(undefined, 1)).toEqual({ _tag: "Next", sourceKey: "runner:r:1", gap: undefined })
    expect(verdict(7, 8)).toEqual({ _tag: "Next", sourceKey: "runner:r:1", gap: undefined })
    expect(sequenceVerdict(new Set(), new Map([["control_plane:r:1", 7]]), event(1))._tag).toBe("Next")
  })

  it("knows an event by its id before it looks at its number", () => {
    for (const seq of [1, 7, 8, 9]) expect(verdict(7, seq, [`event-${seq}`])).toEqual({ _tag: "Duplicate" })
  })

  it("tells what comes late", () => {
    for (const seq of [1, 7]) expect(verdict(7, seq)).toEqual({ _tag: "OutOfOrder", sourceKey: "runner:r:1" })
  })

  it("counts everything that is missing and lists up to listedMissingMax of it", () => {
    for (const [missing, truncated] of [
      [1, false],
      [limits.listedMissingMax, false],
      [limits.listedMissingMax + 1, true],
      [Number.MAX_SAFE_INTEGER - 3, true]
    ] as const) {
      const judged = verdict(2, 3 + missing)
      const gap = judged._tag === "Next" ? judged.gap : undefined
      expect(gap).toMatchObject({ expected: 3, received: 3 + missing, missingCount: missing, truncated })
      expect(gap?.missing).toHaveLength(Math.min(missing, limits.listedMissingMax))
      expect(gap?.missing[0]).toBe(3)
    }
  })
})
