/**
 * Makes a violation easier to read: the same one, with as few choices as possible that are not the first way.
 *
 * Guarantees: what it returns violates in the same way, numbers above 1 apart; it ends within its runs.
 */
import { check, type MakeProgram, type Violation } from "./check.ts"
import type { RunOptions } from "./run.ts"

export interface ShrinkOptions {
  /** Default 400. */
  readonly maxRuns?: number
}

export const shrink = <A, E>(
  program: MakeProgram<A, E>,
  violation: Violation,
  { maxRuns = 400 }: ShrinkOptions = {}
): Violation => {
  const kind = kindOf(violation.what)
  let best = violation
  let runs = 0

  /** Keeps the options if they still violate. */
  const keeps = (options: RunOptions): boolean => {
    if (runs >= maxRuns) return false
    runs++
    const found = check(program(options), options).violations.find(({ what }) => kindOf(what) === kind)
    if (found !== undefined) best = found
    return found !== undefined
  }

  const whole = { ...violation.options, yieldProbability: 0 }
  if ((violation.options.yieldProbability ?? 0) > 0) keeps(whole)
  const { trace } = check(program(best.options), best.options).result
  if (!keeps({ ...best.options, choices: trace.map(({ pick }) => pick), thereafter: "first" })) return best
  for (let size = trace.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < picksOf(best).length; from += size) {
      const picks = picksOf(best)
      const tried = picks.map((pick, index) => (index >= from && index < from + size ? 0 : pick))
      if (tried.some((pick, index) => pick !== picks[index])) keeps({ ...best.options, choices: tried })
    }
  }
  return { ...best, options: { ...best.options, choices: withoutTail(picksOf(best)) } }
}

const picksOf = ({ options }: Violation): ReadonlyArray<number> => options.choices ?? []

/** First ways at the end need not be said. */
const withoutTail = (picks: ReadonlyArray<number>): ReadonlyArray<number> =>
  picks.slice(0, picks.findLastIndex((pick) => pick !== 0) + 1)

/** None, one and many are three kinds: a thing that is missing is not the same bug as one that comes twice. */
const kindOf = (what: string): string => what.replaceAll(/\b\d+/g, (digits) => (Number(digits) < 2 ? digits : "#"))
