import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { displayLine, displayText, hasUnsafeCharacter } from "../../src/schema/displayText.ts"

const hostile: ReadonlyArray<readonly [string, string]> = [
  ["escape sequence", "\u001b[2J"],
  ["carriage return", "\r"],
  ["NUL", "\u0000"],
  ["DEL", "\u007f"],
  ["C1 control", "\u009b"],
  ["right-to-left override", "\u202e"],
  ["bidi isolate", "\u2066"],
  ["right-to-left mark", "\u200f"],
  ["Arabic letter mark", "\u061c"],
  ["zero width space", "\u200b"],
  ["byte order mark", "\ufeff"],
  ["line separator", "\u2028"],
  ["paragraph separator", "\u2029"],
  ["tag character", "\u{e0041}"],
  ["lone surrogate", "\ud800"]
]

describe("displayText", () => {
  it.each(hostile.map((row) => [...row] as const))("replaces a %s", (_name, character) => {
    assert.isTrue(hasUnsafeCharacter(`a${character}b`))
    assert.match(displayLine(`a${character}b`, 100), /^a\ufffd.*b$/)
    assert.match(displayText(`a${character}b`, 100), /^a\ufffd.*b$/)
  })

  it("keeps letters of all scripts, joiners and emoji", () => {
    const text = "Grüße \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f468}\u200d\u{1f469} 漢字"
    assert.strictEqual(displayLine(text, 100), text)
    assert.strictEqual(displayText(text, 100), text)
  })

  it("keeps newlines and tabs in a text, and replaces them in a line", () => {
    assert.strictEqual(displayText("a\r\n\tb\n", 100), "a\n\tb\n")
    assert.strictEqual(displayLine("a\n\tb", 100), "a\ufffd\ufffdb")
  })

  it("cuts past the bound, at a whole character, and says so in a line", () => {
    assert.strictEqual(displayLine("abcd", 4), "abcd")
    assert.strictEqual(displayLine("abcde", 4), "abc…")
    assert.strictEqual(displayLine("ab\u{1f600}d", 4), "ab\u{1f600}d")
    assert.strictEqual(displayLine("ab\u{1f600}de", 4), "ab\u{1f600}…")
    assert.strictEqual(displayText("abcd", 4), "abcd")
    assert.strictEqual(displayText("abcde", 4), "abcd")
    assert.strictEqual(displayText("abc\u{1f600}e", 4), "abc\u{1f600}")
  })

  it.prop("leaves nothing unsafe in any text", [Schema.String], ([text]) => {
    assert.isFalse(hasUnsafeCharacter(displayLine(text, 20).replace(/\u200c|\u200d/g, "")))
    assert.isFalse(hasUnsafeCharacter(displayText(text, 20).replace(/\u200c|\u200d|\n|\t/g, "")))
  })
})
