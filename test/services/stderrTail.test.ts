import { describe, expect, it } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import { makeStderrTail } from "../../src/services/stderrTail.ts"

const utf8 = new TextEncoder()
const bytesOf = (lines: ReadonlyArray<string>) => lines.reduce((sum, line) => sum + utf8.encode(line).length + 1, 0)

const tailOf = (text: string, pieceBytes = 7, values: ReadonlyArray<string> = []) => {
  const tail = makeStderrTail(values)
  const bytes = utf8.encode(text)
  for (let start = 0; start < bytes.length; start += pieceBytes) tail.push(bytes.subarray(start, start + pieceBytes))
  return tail.lines()
}

describe("the tail of stderr", () => {
  it("shows the lines, wherever the pieces were cut", () => {
    expect(tailOf("one\r\ntwo ü\n\nthree", 1)).toEqual(["one", "two ü", "three"])
  })

  it("keeps the last lines up to the bound", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`)
    expect(tailOf(`${lines(limits.stderrTailLinesMax).join("\n")}\n`)).toHaveLength(limits.stderrTailLinesMax)
    const past = tailOf(`${lines(limits.stderrTailLinesMax + 1).join("\n")}\n`)
    expect(past).toHaveLength(limits.stderrTailLinesMax)
    expect(past[0]).toBe("line 1")
  })

  it("keeps the last bytes up to the bound", () => {
    const line = "y ".repeat(511).trim()
    const fitting = limits.stderrTailBytesMax / 1_022
    expect(tailOf(`${line}\n`.repeat(Math.floor(fitting)), 999)).toHaveLength(Math.floor(fitting))
    const past = tailOf(`${line}\n`.repeat(Math.floor(fitting) + 1), 999)
    expect(bytesOf(past)).toBeLessThanOrEqual(limits.stderrTailBytesMax)
    expect(past).toHaveLength(Math.floor(fitting))
  })

  it("stays within its bounds in a flood, and shows its end", () => {
    const flood = `${"lorem ipsum ".repeat(200_000)}\nthe end`
    for (const pieceBytes of [64 * 1024, 10_000_000]) {
      const shown = tailOf(flood, pieceBytes)
      expect(bytesOf(shown)).toBeLessThanOrEqual(limits.stderrTailBytesMax)
      expect(shown.at(-1)).toBe("the end")
    }
  })

  it("does not let one endless line push out the others", () => {
    const shown = tailOf(`before\n${"word ".repeat(10_000)}\nafter`, 1_000)
    expect(shown[0]).toBe("before")
    expect(shown.at(-1)).toBe("after")
  })

  it.each([1_000, 10_000_000])(
    "never shows the rest of a word whose beginning was cut off (pieces of %i)",
    (pieceBytes) => {
      const key = `sk-ant-${"Zq7".repeat(20_000)}`
      const shown = tailOf(`${key} visible\n`, pieceBytes).join("\n")
      expect(shown).not.toContain("Zq7")
      expect(shown).toContain("visible")
    }
  )

  it("removes sensitive values and control characters", () => {
    const shown = tailOf("\u001b[31mtoken=\u001b[0mabcdef\u0007 \u202ehunter22\n", 5, ["hunter22"])
    expect(shown).toEqual(["token=[REDACTED] [REDACTED]"])
  })
})
