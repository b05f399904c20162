import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../../../src/schema/limits.ts"
import { answerPattern, matchAnswer } from "../../../../src/schema/prp/rules/answerPattern.ts"

const verdict = (source: string, text: string) => matchAnswer(Result.getOrThrow(answerPattern(source)), text)

const isTaken = (source: string) => Result.isSuccess(answerPattern(source))

const texts = [
  "",
  "a",
  "b",
  "ab",
  "aab",
  "abab",
  "a b",
  "a-1",
  "1",
  "12",
  "\n",
  "a\nb",
  "{",
  "a{1",
  "A",
  "_",
  "]",
  "😀",
  "é",
  "k"
]

const sources = [
  "",
  "^$",
  "^a*$",
  "a|b",
  "|",
  "^(?:a|b)+$",
  "^(?<name>a)(b)$",
  "a{2}",
  "^a{1,2}b?$",
  "a{1,}?",
  "a{,2}",
  "a{1",
  "{",
  "]",
  "[]",
  "[^]",
  "[^ab\\]]",
  "[\\]a-]",
  "[\\w-.]",
  "[\\b]",
  "\\d\\D",
  "^\\w+\\W?\\w*$",
  "\\bb",
  "\\Bb",
  "a\\b",
  "\\B",
  "^.$",
  "^..$",
  "^(?=.*b)a",
  "^(?!.*b)a",
  "(?=a)*b",
  "(?:(?!b).)*$",
  "\\x61\\u0062",
  "\\n",
  "\\-",
  "\\p{L}",
  "\\ud83d",
  "^(a?){3}$",
  "(?:){1000000000}a",
  "(?:a*)*b",
  "((a*)+|b)*$"
]

describe("matchAnswer", () => {
  it("agrees with the engine", () => {
    for (const source of sources) {
      for (const text of texts) {
        expect(verdict(source, text), `${source} on ${JSON.stringify(text)}`).toBe(
          new RegExp(source).test(text) ? "matches" : "differs"
        )
      }
    }
  })

  const Piece = Schema.Literals([
    "a",
    "b",
    ".",
    "[^a]",
    "\\w",
    "\\b",
    "^",
    "$",
    "|",
    "(?:",
    "(?=",
    "(?!",
    "(",
    ")",
    "*",
    "+",
    "?",
    "{2}",
    "{0,2}"
  ])

  it.effect.prop(
    "agrees with the engine on patterns made at random",
    { pieces: Schema.Array(Piece), text: Schema.Array(Schema.Literals(["a", "b", " ", "\n"])) },
    ({ pieces, text }) =>
      Effect.sync(() => {
        const source = pieces.slice(0, 10).join("")
        const words = text.slice(0, 8).join("")
        const pattern = answerPattern(source)
        if (Result.isFailure(pattern)) expect(() => new RegExp(source)).toThrow()
        else
          expect(matchAnswer(pattern.success, words), source).toBe(
            new RegExp(source).test(words) ? "matches" : "differs"
          )
      }),
    { arbitrary: { runs: 3000, size: 12 } }
  )

  it("is not held up by patterns that hold up the engine", () => {
    const text = `${"a".repeat(30_000)}!`
    for (const source of ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){5}$", "^a*a*a*a*a*$"]) {
      expect(verdict(source, text), source).toBe("differs")
    }
  })

  it("gives up after answerPatternStepsMax steps, ahead or not, and says so", () => {
    const text = "a".repeat(limits.answerCharactersMax)
    for (const source of ["^(a?){2000}b$", "(?=.*b)", "(?!(?!.*b))c"]) {
      expect(verdict(source, text), source).toBe("undecided")
    }
    expect(limits.answerPatternStepsMax).toBeGreaterThan(limits.answerCharactersMax)
    expect(verdict("^[a-z]+(-[a-z]+)*$", text)).toBe("matches")
  })
})

describe("answerPattern", () => {
  it("refuses what does not compile, and what no bound holds for", () => {
    for (const source of ["(", "a**", "[b-a]", "(?<n>a)(?<n>b)"]) expect(isTaken(source), source).toBe(false)
    for (const source of ["(a)\\1", "(?<n>a)\\k<n>", "(?<=a)b", "(?<!a)b", "(?i:a)", "\\01", "\\c1"]) {
      expect(() => new RegExp(source)).not.toThrow()
      expect(isTaken(source), source).toBe(false)
    }
  })

  it("takes answerPatternStatesMax states and no more", () => {
    expect(isTaken(`a{${limits.answerPatternStatesMax - 1}}`)).toBe(true)
    expect(isTaken(`a{${limits.answerPatternStatesMax}}`)).toBe(false)
    expect(isTaken("(((a{99}){99}){99}){99}")).toBe(false)
    expect(isTaken("a{0,99999999999}")).toBe(false)
  })

  it("takes answerPatternCharactersMax characters and no more", () => {
    expect(isTaken("a".repeat(limits.answerPatternCharactersMax))).toBe(true)
    expect(isTaken("a".repeat(limits.answerPatternCharactersMax + 1))).toBe(false)
    expect(isTaken("(".repeat(500) + ")".repeat(500))).toBe(true)
  })
})
