/** Random texts that hold to a pattern, a format and bounds in characters, and some that nearly do. */
import type { Random } from "./random.ts"

const samples = [
  "a",
  "done",
  "run_1",
  "turn-2.a:b",
  "src/main.ts",
  "https://example.test/a?b=c",
  "http://x",
  "mcp_app.tool",
  `sha256:${"0123456789abcdef".repeat(4)}`,
  "Ein längerer Satz, mit Zeichen außerhalb von ASCII.",
  "😀😀",
  "a\nb",
  "..",
  "a/../b",
  "/absolute",
  "..a/b..",
  "\u2028",
  "\ud83d",
  "é",
  "A1"
] as const

/** Now and then as long as the bound admits, or one character longer. */
export const textFor = (random: Random, min: number, max: number, pattern: RegExp | undefined): string => {
  const base = random.any(samples.filter((sample) => fits(sample, min, max, pattern))) ?? "a".repeat(min)
  if (!random.chance(max > 5000 ? 0.02 : 0.12)) return base
  const filler = pattern === undefined ? random.pick(["x", "😀"]) : "x"
  return base + filler.repeat(max - [...base].length + random.pick([0, 0, 0, 1]))
}

const fits = (text: string, min: number, max: number, pattern: RegExp | undefined): boolean => {
  const characters = [...text].length
  return characters >= min && characters <= max && (pattern === undefined || pattern.test(text))
}

const dates = ["2026-08-07", "2024-02-29", "2000-02-29", "2026-12-31", "2026-04-30"] as const
const times = ["00:00:00", "23:59:59", "12:30:45.5", "21:00:59.123456789"] as const
const offsets = ["Z", "z", "+00:00", "-23:59", "+05:30"] as const

export const dateTimeFor = (random: Random): string =>
  `${random.pick(dates)}${random.pick(["T", "T", "t"])}${random.pick(times)}${random.pick(offsets)}`

/** Points in time that readers disagree about, or that none accepts. */
export const oddDateTimes = [
  "2016-12-31T23:59:60Z",
  "2017-01-01T05:29:60.25+05:30",
  "2016-12-31T22:59:60Z",
  "2016-12-31T23:59:60+01:00",
  "2016-12-31T23:59:61Z",
  "2026-02-29T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-10T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:60:00Z",
  "2026-01-01T00:00:00",
  "2026-01-01T00:00:00.Z",
  "2026-01-01T00:00:00+24:00",
  "2026-01-01T00:00:00+00:60",
  "2026-01-01 00:00:00Z",
  "2026-01-01\n00:00:00Z",
  "2026-01-01T00:00:00+0530",
  "2026-01-01T00:00:00+05",
  "2026-1-1T0:0:0Z",
  "2026-01-01T00:00:00Z ",
  "+002026-01-01T00:00:00Z",
  `2026-01-01T00:00:00.${"0".repeat(43)}Z`,
  `2026-01-01T00:00:00.${"0".repeat(44)}Z`
] as const
