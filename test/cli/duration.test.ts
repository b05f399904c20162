import { describe, expect, it } from "vitest"
import { durationMsOf, durationText } from "../../src/cli/duration.ts"

describe("a duration", () => {
  it("is read with its unit, or in seconds", () => {
    const table = { "500ms": 500, "90s": 90_000, "5m": 300_000, "1h": 3_600_000, "1.5s": 1500, "2": 2000, " 3s ": 3000 }
    for (const [text, ms] of Object.entries(table)) expect(durationMsOf(text)).toBe(ms)
  })

  it("is none when it is no number, not more than nothing, or of an unknown unit", () => {
    for (const text of ["", "soon", "0", "0s", "-1s", "5d", "5 s", "1e3", "Infinity", "0.1ms", "9999999999"])
      expect(durationMsOf(text)).toBeUndefined()
  })

  it("is written to the tenth of a second, then to the second", () => {
    expect([0, 1234, 59_949, 59_950, 60_000, 119_600, 3_599_000, 3_600_000].map(durationText)).toEqual([
      "0.0 s",
      "1.2 s",
      "59.9 s",
      "1 min 00 s",
      "1 min 00 s",
      "2 min 00 s",
      "59 min 59 s",
      "1 h 00 min 00 s"
    ])
  })
})
