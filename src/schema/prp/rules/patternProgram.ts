/** A pattern as a machine of states that can be run on a text in bounded time. */
import { limits } from "../../limits.ts"
import type { PatternNode } from "./patternSyntax.ts"

/** What a state does; `next` and `branches` are indices of states. */
export type PatternState =
  | { readonly _tag: "Match" }
  | { readonly _tag: "Unit"; readonly accepts: (unit: string) => boolean; readonly next: number }
  | { readonly _tag: "Anchor"; readonly kind: "start" | "end" | "word" | "notWord"; readonly next: number }
  | { readonly _tag: "Branch"; readonly branches: ReadonlyArray<number> }
  | { readonly _tag: "Ahead"; readonly start: number; readonly negated: boolean; readonly next: number }

export interface PatternProgram {
  readonly states: ReadonlyArray<PatternState>
  readonly start: number
}

/** Repetitions are written out. `undefined`: that takes more than `answerPatternStatesMax` states. */
export const patternProgram = (node: PatternNode): PatternProgram | undefined => {
  const states: Array<PatternState> = [{ _tag: "Match" }]
  const start = build(states, node, match)
  return isFull(states) ? undefined : { states, start }
}

const match = 0

const isFull = (states: ReadonlyArray<PatternState>): boolean => states.length > limits.answerPatternStatesMax

/** Adds the states of the node, which go on to `next`; gives the first. */
const build = (states: Array<PatternState>, node: PatternNode, next: number): number => {
  if (isFull(states)) return next
  switch (node._tag) {
    case "Unit":
      return add(states, { _tag: "Unit", accepts: acceptor(node.source), next })
    case "Anchor":
      return add(states, { _tag: "Anchor", kind: node.kind, next })
    case "Sequence":
      return node.nodes.reduceRight((after, inner) => build(states, inner, after), next)
    case "Choice": {
      const branches = node.branches.map((branch) => build(states, branch, next))
      return branches.length === 1 ? (branches[0] ?? next) : add(states, { _tag: "Branch", branches })
    }
    case "Repeat":
      return repeat(states, node, next)
    case "Ahead":
      return add(states, { _tag: "Ahead", start: build(states, node.node, match), negated: node.negated, next })
  }
}

const add = (states: Array<PatternState>, state: PatternState): number => states.push(state) - 1

/** Of what adds no state, one repetition is as good as many. */
const repeat = (
  states: Array<PatternState>,
  { node, min, max }: Extract<PatternNode, { readonly _tag: "Repeat" }>,
  next: number
): number => {
  let start = max === Infinity ? anyNumber(states, node, next) : next
  for (let optional = max === Infinity ? 0 : max - min; optional > 0 && !isFull(states); optional--) {
    const once = build(states, node, start)
    if (once === start) break
    start = add(states, { _tag: "Branch", branches: [once, next] })
  }
  for (let required = min; required > 0 && !isFull(states); required--) {
    const once = build(states, node, start)
    if (once === start) break
    start = once
  }
  return start
}

const anyNumber = (states: Array<PatternState>, node: PatternNode, next: number): number => {
  const loop = add(states, { _tag: "Branch", branches: [] })
  states[loop] = { _tag: "Branch", branches: [build(states, node, loop), next] }
  return loop
}

/** The engine judges a single unit, which takes no time worth counting. */
const acceptor = (source: string): ((unit: string) => boolean) => {
  if (source.length === 1 && source !== ".") return (unit) => unit === source
  const pattern = new RegExp(`^${source}$`)
  return (unit) => pattern.test(unit)
}
