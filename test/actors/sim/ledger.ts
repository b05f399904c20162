/**
 * What each side of a simulated run saw: frames as the agents got them, calls on each connection in order, every event, every
 * outcome. And what must hold of it, at once where a moment counts, else at the end.
 */
import * as Effect from "effect/Effect"
import type { Connection, Ticket } from "../../../src/actors/Connection.ts"
import type { Claim, Connections } from "../../../src/actors/Connections.ts"
import type { Entry as JournalEntry } from "../../../src/actors/Journal.ts"
import type { ActorTable } from "../../../src/actors/kernel/Registry.ts"
import type { Batch } from "../../../src/actors/orderedQueue.ts"
import type { Entry } from "../../../src/actors/Connection.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { Event, EventDraft } from "../../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../../src/schema/prp/terminals.ts"
import type { TurnOutcome } from "../../../src/schema/turn.ts"
import type { FakeAgent, Json } from "../../../src/testing/FakeLinks.ts"
import type { RunOptions } from "../../../src/testing/index.ts"
import { deltas, isCancel, isPrompt, valueAt } from "../observe.ts"

/** One connection, as its session used it. */
interface Wire {
  readonly agent: FakeAgent
  readonly connection: Connection
  readonly take: Claim["take"]
  /** The prompt that the agent works on: from the step in which it goes to it to the take of its response. */
  prompted: { readonly ticket: Ticket; readonly turnId: string; cancels: number } | undefined
  isRetired: boolean
  /** Requests that were taken. */
  readonly slots: Array<Extract<Entry, { readonly _tag: "Request" }>["slot"]>
}

interface Prompted {
  awaiters: number
  readonly outcomes: Array<TurnOutcome>
}

export class Ledger {
  /** Between two operations of one stretch another fiber may run: moments within a stretch cannot be told apart. */
  readonly isSplit: boolean
  /** Deadlines may pass although there was time. */
  readonly isHurried: boolean
  agents: ReadonlyArray<FakeAgent> = []
  registry: ActorTable | undefined
  connections: Connections["Service"] | undefined
  readonly events: Array<Event> = []
  /** Ends the reading of events. */
  runEnded = (): void => {}
  /** Private folders of launches. */
  folders = 0
  /** What was seen that somebody wants to be seen at least once. */
  readonly reached = new Set<string>()
  private readonly problems: Array<string> = []
  private readonly wires = new Map<string, Wire>()
  private readonly requests = new Map<FakeAgent, Array<unknown>>()
  private readonly words = new Map<string, number>()
  private readonly accepted = new Map<string, Prompted>()
  private readonly openTurns = new Set<string>()
  /** Requests of a turn that have no end yet, by our id. */
  private readonly open = new Map<string, { readonly turnId: string; readonly nativeId: string }>()

  constructor(options: RunOptions) {
    this.isSplit = (options.yieldProbability ?? 0) > 0
    this.isHurried = (options.timeProbability ?? 1) > 0
  }

  /** What a world knows beside the invariants. */
  readonly expect = (what: string, holds: boolean): void => {
    if (!holds) this.problem(what)
  }

  private problem(what: string): void {
    if (!this.problems.includes(what)) this.problems.push(what)
  }

  // What is told as it happens

  readonly asked = (agent: FakeAgent, id: unknown): void => {
    this.requests.set(agent, [...(this.requests.get(agent) ?? []), id])
  }

  readonly said = (turnId: string, times: number): void =>
    void this.words.set(turnId, (this.words.get(turnId) ?? 0) + times)

  readonly turnAccepted = (turnId: string): void => void this.accepted.set(turnId, { awaiters: 0, outcomes: [] })
  readonly awaiting = (turnId: string): void => void this.accepted.get(turnId)!.awaiters++
  readonly heard = (turnId: string, outcome: TurnOutcome): void => {
    this.accepted.get(turnId)!.outcomes.push(outcome)
    this.reached.add(outcomeName(outcome))
    if (outcome.undeliveredEvents > 0) this.reached.add("undelivered events")
  }

  /** The claim as its session gets it, watched. */
  readonly claimed = (name: string, agent: FakeAgent, claim: Claim): Claim => {
    const { connection, take } = claim
    const wire: Wire = { agent, connection, take, prompted: undefined, isRetired: false, slots: [] }
    this.wires.set(name.replace(/^connection:/, ""), wire)
    return {
      ...claim,
      take: Effect.tap(take, (batch) => Effect.sync(() => this.taken(wire, batch))),
      connection: {
        ...connection,
        request: (ticket, params, begin) =>
          connection.request(ticket, params, () => {
            if (begin?.() === false) return false
            this.begun(wire, ticket, params)
            return true
          }),
        notify: (method, params) =>
          Effect.andThen(
            Effect.sync(() => this.notified(wire, method)),
            connection.notify(method, params)
          ),
        retire: (reason) =>
          Effect.andThen(
            Effect.sync(() => void (wire.isRetired = true)),
            connection.retire(reason)
          )
      }
    }
  }

  private taken(wire: Wire, batch: Batch<Entry> | undefined): void {
    if ((batch?.entries.length ?? 0) > limits.queueFramesMax + pieceFramesMax) {
      this.problem("more frames than the queue may hold")
    }
    for (const entry of batch?.entries ?? []) {
      if (entry._tag === "Response" && entry.ticket === wire.prompted?.ticket) wire.prompted = undefined
      if (entry._tag === "Request") wire.slots.push(entry.slot)
      if (entry._tag === "Closed") wire.isRetired = true
    }
    for (const { path, depth } of this.registry?.snapshot() ?? []) {
      const most = path.includes("/connection:")
        ? limits.pendingInboundRequestsMax * 2 + 64
        : 2 * Math.max(limits.queuedPromptsMax, 16)
      if (depth > most) this.problem(`${depth} messages wait at ${path}`)
    }
  }

  private begun(wire: Wire, ticket: Ticket, params: object): void {
    if (ticket.method !== "session/prompt") return
    const turnId = String(valueAt(params, "prompt", "0", "text"))
    if (wire.isRetired && !this.isSplit) this.problem(`the prompt of ${turnId} went to a retired connection`)
    if (wire.prompted !== undefined)
      this.problem(`the prompt of ${turnId} came while ${wire.prompted.turnId} was at work`)
    wire.prompted = { ticket, turnId, cancels: 0 }
  }

  private notified(wire: Wire, method: string): void {
    if (method !== "session/cancel") return
    if (wire.prompted === undefined) {
      if (!this.isSplit) this.problem("a cancel without a prompt that is at work")
    } else if (++wire.prompted.cancels > 1) this.problem(`two cancels of ${wire.prompted.turnId}`)
  }

  /** What goes into the journal, before it is there. */
  readonly recording = ({ sessionId, drafts }: JournalEntry): void => {
    const agent = this.wires.get(sessionId)?.agent
    for (const draft of drafts) {
      if (draft.eventType.startsWith("runtime_request.")) this.requestRecorded(draft, agent)
      if (draft.eventType === "turn.submitted") this.openTurns.add(String(draft.turnId))
      if (isTurnTerminal(draft)) {
        this.openTurns.delete(String(draft.turnId))
        for (const [requestId, { turnId }] of this.open) {
          if (turnId === draft.turnId && !this.isOverdue)
            this.problem(`${requestId} is open at the terminal of ${turnId}`)
        }
      }
    }
  }

  private requestRecorded(draft: EventDraft, agent: FakeAgent | undefined): void {
    const { payload, eventType, turnId = "" } = draft
    const pending = valueAt(payload, "request")
    if (pending !== undefined) {
      const requestId = String(valueAt(pending, "requestId"))
      return void this.open.set(requestId, { turnId, nativeId: String(valueAt(pending, "toolCallId")) })
    }
    const requestId = String(valueAt(payload, "requestId"))
    const found = this.open.get(requestId)
    if (found === undefined) return this.problem(`${requestId} is recorded as ended, and is not open`)
    this.open.delete(requestId)
    const action = String(valueAt(payload, "action"))
    this.reached.add(`${eventType} ${String(valueAt(payload, "by"))} ${action}`)
    if (action === "undelivered") return
    const written = agent === undefined ? [] : answersTo(agent, found.nativeId)
    if (!written.some((frame) => actionOf(frame) === action)) {
      this.problem(`${eventType} (${action}) is recorded before its write`)
    }
  }

  // What must hold at an end

  /** Once whoever prompted has closed its scope. */
  readonly promptsClosed = Effect.sync(() => {
    for (const turnId of this.openTurns) this.problem(`${turnId} goes on although nobody holds it`)
  })

  /** Once the scope of the host has closed. Only what missed its deadline, and was reported for it, may still be closing. */
  readonly hostClosed = (): void => {
    if (this.isOverdue && !this.isHurried) this.problem("an actor missed its deadline")
    if (!this.isOverdue) this.nothingLeft()
  }

  /** An actor is unreleased: those above it go on without it. */
  private get isOverdue(): boolean {
    return (this.registry?.counters().unreleased ?? 0) > 0
  }

  private nothingLeft(): void {
    for (const { path, state } of this.registry?.snapshot() ?? []) this.problem(`${path} is left, ${state}`)
    if ((this.connections?.live() ?? 0) > 0) this.problem("a connection is left in the pool")
    if (this.agents.some((agent) => !agent.isEnded())) this.problem("an agent is left")
    if (this.folders !== 0) this.problem(`${this.folders} folders are left`)
    for (const { connection, slots } of this.wires.values()) {
      if (connection.openRequests() > 0 || slots.some((slot) => slot.isOpen())) this.problem("a request is left open")
    }
    if (this.open.size > 0) this.problem("a request is recorded as open for ever")
  }

  readonly violations = (): ReadonlyArray<string> => {
    const { events } = this
    this.checkSequence()
    this.checkClosed()
    for (const turnId of this.turnIds(events)) {
      this.checkTurn(
        turnId,
        events.filter((event) => event.turnId === turnId)
      )
    }
    for (const agent of this.agents) this.checkFrames(agent)
    this.nothingLeft()
    return this.problems
  }

  /** A subscriber that is held up may be left out while a turn drains, this one too. */
  private checkSequence(): void {
    this.events.forEach(({ sourceSeq }, index) => {
      const before = this.events[index - 1]?.sourceSeq ?? 0
      const isNext = this.isSplit ? sourceSeq > before : sourceSeq === before + 1
      if (!isNext) this.problem(`event ${sourceSeq} comes after ${before}`)
    })
  }

  /** What a session says last is that it is closed. */
  private checkClosed(): void {
    const closed = new Set<unknown>()
    for (const { eventType, normalizedSessionId, payload } of this.events) {
      if (eventType === "session.failed") this.reached.add(`session.failed ${String(valueAt(payload, "reason"))}`)
      if (closed.has(normalizedSessionId)) this.problem(`${eventType} comes after its session is closed`)
      if (eventType === "session.closed") closed.add(normalizedSessionId)
    }
  }

  private turnIds(events: ReadonlyArray<Event>): ReadonlySet<string> {
    return new Set([...this.accepted.keys(), ...events.flatMap(({ turnId }) => (turnId === undefined ? [] : [turnId]))])
  }

  private checkTurn(turnId: string, events: ReadonlyArray<Event>): void {
    const terminals = events.filter(isTurnTerminal)
    if (events[0]?.eventType !== "turn.submitted") this.problem(`${turnId} does not begin with its submission`)
    if (terminals.length !== 1) this.problem(`${turnId} has ${terminals.length} terminals`)
    if (terminals.length > 0 && events.at(-1) !== terminals[0] && !this.isOverdue)
      this.problem(`${turnId} has events behind its terminal`)
    for (const event of terminals) this.reached.add(event.eventType)
    for (const event of events) {
      const category = event.eventType === "provider.notice.recorded" ? valueAt(event.payload, "category") : undefined
      if (category !== undefined) this.reached.add(`notice ${String(category)}`)
    }
    if (deltas(events).some((words) => words !== turnId)) this.problem(`${turnId} has words that are not its own`)
    const said = this.words.get(turnId)
    const { awaiters, outcomes } = this.accepted.get(turnId) ?? { awaiters: 0, outcomes: [] }
    if (outcomes.length !== awaiters) this.problem(`${awaiters} wait for ${turnId}, ${outcomes.length} heard`)
    const expected = terminals[0]?.eventType
    for (const outcome of outcomes) {
      if (terminalOf(outcome) !== expected) this.problem(`${turnId}: ${expected}, but ${outcomeName(outcome)}`)
      if (outcome._tag === "Failed" && outcome.closeReason === "released")
        this.problem(`${turnId} failed by our own close`)
      if (outcome !== outcomes[0]) this.problem(`${turnId} has two outcomes`)
    }
    const [outcome] = outcomes
    if (outcome?._tag === "Completed" && outcome.undeliveredEvents === 0 && deltas(events).length !== said) {
      this.problem(`${turnId} has ${deltas(events).length} of ${said} words`)
    }
    const cancels = this.agents.reduce((sum, agent) => sum + cancelsOf(agent, turnId), 0)
    if (cancels > 1) this.problem(`${turnId} was cancelled in ${cancels} frames`)
    if (cancels > 0 && outcomes[0]?._tag === "Completed") this.problem(`${turnId} was cancelled and completed`)
  }

  private checkFrames(agent: FakeAgent): void {
    if (
      agent.written.findIndex(isCancel) >= 0 &&
      agent.written.findIndex(isCancel) < agent.written.findIndex(isPrompt)
    ) {
      this.problem("a cancel came before every prompt")
    }
    const asked = this.requests.get(agent) ?? []
    const given = agent.written.filter((frame) => frame["method"] === undefined)
    for (const { id } of given) {
      const times = given.filter((frame) => frame["id"] === id).length
      if (times > asked.filter((one) => one === id).length)
        this.problem(`request ${JSON.stringify(id)} was answered twice`)
    }
  }
}

/** What always fits takes in what waits: the frames of one piece, and two entries of our own. */
const pieceFramesMax = 10

const answersTo = (agent: FakeAgent, id: string): ReadonlyArray<Json> =>
  agent.written.filter((frame) => frame["method"] === undefined && JSON.stringify(frame["id"]) === id)

/** In the words of the events. */
const actionOf = (frame: Json): string => {
  const optionId = valueAt(frame, "result", "outcome", "optionId")
  if (optionId === undefined) return "cancel"
  return optionId === "yes" ? "accept" : "decline"
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
