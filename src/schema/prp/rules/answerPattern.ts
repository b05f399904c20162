/**
 * Checks an answer against a pattern that the peer wrote, without handing the peer our processor: a pattern that makes a
 * backtracking engine hang (`(a+)+$`, `(a|a)*$`, `.*.*.*x`) costs here what any other does, a number of steps that is the
 * product of its states and the text's length at most, and never more than `answerPatternStepsMax`.
 */
import * as Result from "effect/Result"
import { fitsCharacters } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { type PatternProgram, patternProgram } from "./patternProgram.ts"
import { parsePattern } from "./patternSyntax.ts"

export type AnswerPattern = PatternProgram

/** Fails with what was expected of the pattern. */
export const answerPattern = (source: string): Result.Result<AnswerPattern, string> => {
  if (!fitsCharacters(source, limits.answerPatternCharactersMax) || !compiles(source))
    return Result.fail("Expected a regular expression")
  const node = parsePattern(source)
  if (node === undefined) return Result.fail("Expected no back reference, look-behind, modifier or octal escape")
  const program = patternProgram(node)
  return program === undefined
    ? Result.fail(`Expected at most ${limits.answerPatternStatesMax} states with repetitions written out`)
    : Result.succeed(program)
}

const compiles = (source: string): boolean =>
  Result.isSuccess(Result.try({ try: () => new RegExp(source), catch: () => undefined }))

/** Whether the pattern matches anywhere in the text; `undecided` when that takes more than `answerPatternStepsMax` steps. */
export const matchAnswer = (pattern: AnswerPattern, text: string): "matches" | "differs" | "undecided" => {
  const budget = { steps: limits.answerPatternStepsMax }
  const found = runs(pattern, pattern.start, { text, at: 0, anchored: false, budget })
  return budget.steps < 0 ? "undecided" : found ? "matches" : "differs"
}

interface Place {
  readonly text: string
  readonly at: number
  readonly anchored: boolean
  readonly budget: { steps: number }
}

/** All ways through the pattern at once, unit by unit. */
const runs = (pattern: PatternProgram, start: number, place: Place): boolean => {
  const { text, anchored, budget } = place
  const seenAt = new Int32Array(pattern.states.length).fill(-1)
  budget.steps -= pattern.states.length
  let here: Array<number> = []
  for (let at = place.at; budget.steps >= 0; at++) {
    const unit = text.charAt(at)
    const waiting: Array<number> = []
    const open = at === place.at || !anchored ? [...here, start] : here
    if (reaches(pattern, { ...place, at }, open, seenAt, waiting)) return true
    if (at >= text.length || (anchored && waiting.length === 0)) return false
    here = []
    budget.steps -= waiting.length
    for (const index of waiting) {
      const state = pattern.states[index]
      if (state?._tag === "Unit" && state.accepts(unit)) here.push(state.next)
    }
  }
  return false
}

/** Follows what takes no unit. True at the end of the pattern, else `waiting` holds the states that want a unit. */
const reaches = (
  pattern: PatternProgram,
  place: Place,
  open: Array<number>,
  seenAt: Int32Array,
  waiting: Array<number>
): boolean => {
  for (let index = open.pop(); index !== undefined && place.budget.steps >= 0; index = open.pop()) {
    if (seenAt[index] === place.at) continue
    seenAt[index] = place.at
    place.budget.steps -= 1
    const state = pattern.states[index]
    switch (state?._tag) {
      case "Match":
        return true
      case "Unit":
        waiting.push(index)
        break
      case "Branch":
        open.push(...state.branches)
        break
      case "Anchor":
        if (holds(state.kind, place)) open.push(state.next)
        break
      case "Ahead":
        if (runs(pattern, state.start, { ...place, anchored: true }) !== state.negated) open.push(state.next)
    }
  }
  return false
}

const holds = (kind: "start" | "end" | "word" | "notWord", { text, at }: Place): boolean => {
  switch (kind) {
    case "start":
      return at === 0
    case "end":
      return at === text.length
    case "word":
      return isWordBoundary(text, at)
    case "notWord":
      return !isWordBoundary(text, at)
  }
}

const isWordBoundary = (text: string, at: number): boolean => isWord(text.charAt(at - 1)) !== isWord(text.charAt(at))

const isWord = (unit: string): boolean => /^\w$/.test(unit)
