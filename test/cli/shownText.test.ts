import { describe, expect, it } from "vitest"
import { jsonLine } from "../../src/cli/jsonLine.ts"
import { coloured, paintFor, plain } from "../../src/cli/paint.ts"
import { cutLine, headLines, shownLine, shownLines, tailLines, wrapped } from "../../src/cli/shownText.ts"
import { limits } from "../../src/schema/limits.ts"

describe("a shown line", () => {
  it("is one line without controls", () => {
    expect(shownLine("  a\n\tb\u001b[31m\u202e  c ")).toBe("a b\ufffd[31m\ufffd c")
  })

  it("is cut one past its bound, and says so", () => {
    const max = limits.shownLineCharactersMax
    expect(shownLine("x".repeat(max))).toBe("x".repeat(max))
    expect(shownLine("x".repeat(max + 1))).toBe(`${"x".repeat(max - 1)}…`)
  })
})

describe("shown lines", () => {
  it("are safe, without their ends, tabs as blanks", () => {
    expect(shownLines("a\r\n\tb\u0007\n", 100)).toEqual(["a", "  b\ufffd"])
    expect(shownLines("", 100)).toEqual([])
  })

  it("of a long text are its first or last ones, with the count of the others", () => {
    expect(headLines(["1", "2", "3"], 3)).toEqual(["1", "2", "3"])
    expect(headLines(["1", "2", "3", "4"], 3)).toEqual(["1", "2", "… 2 more lines"])
    expect(tailLines(["1", "2", "3"], 3)).toEqual(["1", "2", "3"])
    expect(tailLines(["1", "2", "3", "4"], 3)).toEqual(["… 2 more lines", "3", "4"])
  })

  it("are wrapped by what they are wide, and lose nothing", () => {
    expect(wrapped("abcdef", 4)).toEqual(["abcd", "ef"])
    expect(wrapped("abcd", 4)).toEqual(["abcd"])
    expect(wrapped("日本語", 4)).toEqual(["日本", "語"])
    expect(wrapped("日", 1)).toEqual(["日"])
    expect(wrapped("", 4)).toEqual([""])
    expect(cutLine("abcd", 4)).toBe("abcd")
    expect(cutLine("abcde", 4)).toBe("abc…")
  })
})

describe("a JSON line", () => {
  it("has no character that a terminal or a reader could stumble over, and says the same", () => {
    const value = { text: "\u001b[2J\u0085\u009b\u202e\u2028\u200d\u{e0041}\ud800 ok é 日" }
    const line = jsonLine(value)
    expect(line).not.toMatch(/(?!\n$)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    expect(line.endsWith("}\n")).toBe(true)
    expect(JSON.parse(line)).toEqual(value)
    expect(line).toContain("ok é 日")
  })
})

describe("colours", () => {
  it("are for a terminal that has them and a person who wants them", () => {
    expect(paintFor(true, {})).toBe(coloured)
    expect(paintFor(true, { NO_COLOR: "" })).toBe(coloured)
    for (const env of [{ NO_COLOR: "1" }, { NO_COLOR: "0" }, { TERM: "dumb" }]) expect(paintFor(true, env)).toBe(plain)
    expect(paintFor(false, {})).toBe(plain)
    expect(coloured.red("x")).toBe("\u001b[31mx\u001b[39m")
    expect(coloured.red("")).toBe("")
  })
})
