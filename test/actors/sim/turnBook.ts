/** The turns of a run: what was accepted, what the agents said in them, what whoever waits for them heard. */
import type { Event } from "../../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../../src/schema/prp/terminals.ts"
import type { TurnOutcome } from "../../../src/schema/turn.ts"
import type { FakeAgent } from "../../../src/testing/FakeLinks.ts"
import { deltas, isCancel, isPrompt, valueAt } from "../observe.ts"
import type { InvariantName } from "./invariants.ts"
import type { Problem } from "./problems.ts"

interface Awaited {
  awaiters: number
  readonly outcomes: Array<TurnOutcome>
}

export interface TurnBookOptions {
  readonly problem: Problem<InvariantName>
  readonly reached: Set<string>
  /** Whether a turn has a living actor. */
  readonly lives: (turnId: string) => boolean
  /** Events of a turn that some subscriber did not get; not a number when nobody knows. */
  readonly leftOutOf: (turnId: string) => number
  /** Something missed its deadline: what is above it goes on without it. */
  readonly isOverdue: () => boolean
}

export class TurnBook {
  private readonly options: TurnBookOptions
  private readonly words = new Map<string, number>()
  private readonly awaited = new Map<string, Awaited>()
  private readonly known = new Set<string>()
  /** Submitted, and without a terminal. */
  private readonly open = new Set<string>()

  constructor(options: TurnBookOptions) {
    this.options = options
  }

  readonly said = (turnId: string, times: number): void =>
    void this.words.set(turnId, (this.words.get(turnId) ?? 0) + times)

  readonly accepted = (turnId: string): void => {
    if (!this.known.has(turnId)) this.options.problem("accounted", `${turnId} is accepted, and not submitted`)
    this.awaited.set(turnId, { awaiters: 0, outcomes: [] })
  }

  readonly awaiting = (turnId: string): void => void this.awaited.get(turnId)!.awaiters++

  readonly heard = (turnId: string, outcome: TurnOutcome): void => {
    this.awaited.get(turnId)!.outcomes.push(outcome)
    this.options.reached.add(outcomeName(outcome))
    if (outcome.undeliveredEvents > 0) this.options.reached.add("undelivered events")
  }

  /** Once it is in the journal. */
  readonly submitted = (turnId: string): void => {
    this.known.add(turnId)
    this.open.add(turnId)
  }

  /** Before it is in the journal. */
  readonly recordingTerminal = (turnId: string): void => void this.open.delete(turnId)

  /** At any time: what has not ended is somebody's. */
  readonly checkOwned = (): void => {
    for (const turnId of this.open) {
      if (!this.options.lives(turnId)) this.options.problem("accounted", `${turnId} has not ended, and nobody owns it`)
    }
  }

  /** Once whoever prompted has closed its scope. */
  readonly nobodyHolds = (): void => {
    for (const turnId of this.open) this.options.problem("accounted", `${turnId} goes on although nobody holds it`)
  }

  readonly check = (events: ReadonlyArray<Event>, agents: ReadonlyArray<FakeAgent>): void => {
    for (const turnId of this.open) this.options.problem("accounted", `${turnId} was accepted and never ended`)
    const named = events.flatMap(({ turnId }) => (turnId === undefined ? [] : [turnId]))
    for (const turnId of new Set([...this.known, ...this.awaited.keys(), ...named])) {
      const own = events.filter((event) => event.turnId === turnId)
      this.checkTerminal(turnId, own)
      this.checkOutcomes(turnId, own)
      this.checkWords(turnId, own)
      this.checkCancels(turnId, agents)
    }
    for (const agent of agents) {
      const [cancel, prompt] = [agent.written.findIndex(isCancel), agent.written.findIndex(isPrompt)]
      if (cancel >= 0 && !(prompt >= 0 && prompt < cancel)) {
        this.options.problem("cancelInTime", "a cancel came before every prompt")
      }
    }
  }

  private checkTerminal(turnId: string, events: ReadonlyArray<Event>): void {
    const { problem, reached, isOverdue } = this.options
    const terminals = events.filter(isTurnTerminal)
    if (events[0]?.eventType !== "turn.submitted") {
      problem("submittedFirst", `${turnId} does not begin with its submission`)
    }
    if (terminals.length !== 1) problem("oneTerminal", `${turnId} has ${terminals.length} terminals`)
    if (terminals.length > 0 && events.at(-1) !== terminals[0] && !isOverdue()) {
      problem("terminalLast", `${turnId} has events behind its terminal`)
    }
    for (const event of terminals) reached.add(event.eventType)
    for (const event of events) {
      const category = event.eventType === "provider.notice.recorded" ? valueAt(event.payload, "category") : undefined
      if (category !== undefined) reached.add(`notice ${String(category)}`)
    }
  }

  private checkOutcomes(turnId: string, events: ReadonlyArray<Event>): void {
    const { problem } = this.options
    const { awaiters, outcomes } = this.outcomesOf(turnId)
    const recorded = events.find(isTurnTerminal)?.eventType
    if (outcomes.length !== awaiters) problem("accounted", `${awaiters} wait for ${turnId}, ${outcomes.length} heard`)
    for (const outcome of outcomes) {
      if (terminalOf(outcome) !== recorded) {
        problem("accounted", `${turnId}: ${recorded}, but ${outcomeName(outcome)}`)
      }
      if (outcome._tag === "Failed" && outcome.closeReason === "released") {
        problem("accounted", `${turnId} failed by our own close`)
      }
      const left = this.options.leftOutOf(turnId)
      const counts = outcome._tag === "Failed" && outcome.reason === "crashed" ? left : outcome.undeliveredEvents
      if (!Number.isNaN(left) && counts !== left) {
        problem("nothingLost", `${turnId} lacks ${left} events, and counts ${counts}`)
      }
      if (outcome !== outcomes[0]) problem("accounted", `${turnId} has two outcomes`)
    }
  }

  private checkWords(turnId: string, events: ReadonlyArray<Event>): void {
    const { problem } = this.options
    const said = this.words.get(turnId) ?? 0
    const words = deltas(events)
    let before = -1
    for (const one of words) {
      const number = numberIn(one, turnId)
      if (number === undefined) problem("nothingLost", `${turnId} has words that are not its own`)
      else if (number <= before) problem("nothingLost", `${turnId} has word ${number} behind word ${before}`)
      else before = number
    }
    if (words.length > said) problem("nothingLost", `${turnId} has ${words.length} of ${said} words`)
    const [outcome] = this.outcomesOf(turnId).outcomes
    if (outcome !== undefined && isWhole(outcome) && words.length !== said) {
      problem("nothingLost", `${turnId} has ${words.length} of ${said} words`)
    }
  }

  private checkCancels(turnId: string, agents: ReadonlyArray<FakeAgent>): void {
    const { problem } = this.options
    const cancels = agents.reduce((sum, agent) => sum + cancelsOf(agent, turnId), 0)
    if (cancels > 1) problem("oneCancel", `${turnId} was cancelled in ${cancels} frames`)
    if (cancels > 0 && this.outcomesOf(turnId).outcomes[0]?._tag === "Completed") {
      problem("cancelInTime", `${turnId} was cancelled and completed`)
    }
  }

  private outcomesOf(turnId: string): Awaited {
    return this.awaited.get(turnId) ?? { awaiters: 0, outcomes: [] }
  }
}

/** The words of an agent name their turn and count up. */
export const word = (turnId: string, number: number): string => `${turnId} ${number}`

const numberIn = (words: string, turnId: string): number | undefined => {
  const number = Number(words.slice(turnId.length + 1))
  return words === word(turnId, number) ? number : undefined
}

/** The agent has answered the prompt, and no subscriber was left out. */
const isWhole = (outcome: TurnOutcome): boolean => {
  if (outcome.undeliveredEvents > 0) return false
  if (outcome._tag === "Failed") return outcome.providerStopReason !== undefined
  return outcome._tag === "Completed" || outcome.acknowledged
}

/** Cancel frames between the prompt of this turn and the next one. */
const cancelsOf = (agent: FakeAgent, turnId: string): number => {
  let current: unknown
  let cancels = 0
  for (const frame of agent.written) {
    if (isPrompt(frame)) current = valueAt(frame, "params", "prompt", "0", "text")
    if (isCancel(frame) && current === turnId) cancels++
  }
  return cancels
}

const terminalOf = (outcome: TurnOutcome): string => {
  if (outcome._tag === "Completed") return "turn.completed"
  if (outcome._tag === "Failed") return "turn.failed"
  return outcome.by === "interrupt" ? "turn.interrupted" : "turn.cancelled"
}

export const outcomeName = (outcome: TurnOutcome): string => {
  if (outcome._tag === "Completed") return "Completed"
  if (outcome._tag === "Failed") return `Failed ${outcome.reason}`
  return `Cancelled ${outcome.by}${outcome.written ? " written" : ""}${outcome.acknowledged ? " acknowledged" : ""}`
}
