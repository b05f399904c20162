/**
 * What each side of a simulated run saw: frames as the agents got them, calls on each connection in order, every event, every
 * outcome. And whether the invariants hold of it, at once where a moment counts, else at the end.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Claim, Connections } from "../../../src/actors/Connections.ts"
import type { Entry } from "../../../src/actors/Journal.ts"
import { InvariantViolated } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import { isTurnTerminal } from "../../../src/schema/prp/terminals.ts"
import type { FakeAgent } from "../../../src/testing/FakeLinks.ts"
import type { RunOptions } from "../../../src/testing/index.ts"
import { agentSession } from "../host.ts"
import { isCancel, isPrompt, valueAt } from "../observe.ts"
import { type InvariantName, waitUpwards } from "./invariants.ts"
import { JournalBook } from "./journalBook.ts"
import { Problems } from "./problems.ts"
import { RequestBook } from "./requestBook.ts"
import { TurnBook } from "./turnBook.ts"
import type { WatchedTable } from "./watchedTable.ts"
import { Wires } from "./wires.ts"

export class Ledger {
  /** Between two operations of one stretch another fiber may run: moments within a stretch cannot be told apart. */
  readonly isSplit: boolean
  /** Deadlines may pass although there was time. */
  readonly isHurried: boolean
  agents: ReadonlyArray<FakeAgent> = []
  registry: WatchedTable | undefined
  connections: Connections["Service"] | undefined
  /** Ends the reading of events. */
  runEnded = (): void => {}
  /** Private folders of launches. */
  folders = 0
  /** What was seen that somebody wants to be seen at least once. */
  readonly reached = new Set<string>()
  readonly turns: TurnBook
  readonly journal: JournalBook
  readonly requests: RequestBook
  private readonly wires: Wires
  private readonly problems = new Problems<InvariantName>()

  constructor(options: RunOptions) {
    this.isSplit = (options.yieldProbability ?? 0) > 0
    this.isHurried = (options.timeProbability ?? 1) > 0
    const { isSplit, reached } = this
    const problem = this.problems.add
    this.turns = new TurnBook({
      problem,
      reached,
      lives: (turnId) => this.registry?.lives(`/turn:${turnId}`) === true,
      leftOutOf: (turnId) => this.journal.leftOutOf(turnId),
      isOverdue: () => this.isOverdue
    })
    this.journal = new JournalBook({ problem, isSplit, reached })
    this.requests = new RequestBook(problem, reached)
    this.wires = new Wires({ problem, isSplit, table: () => this.registry })
  }

  /** What a world knows beside what holds of every run. */
  readonly expect = (name: InvariantName, detail: string, holds: boolean): void => {
    if (!holds) this.problems.add(name, detail)
  }

  // What is told as it happens

  readonly asked = (agent: FakeAgent, id: unknown): void => this.requests.asked(agent, id)
  readonly said = (turnId: string, times: number): void => this.turns.said(turnId, times)

  /** The claim as its session gets it, watched. */
  readonly claimed = (name: string, agent: FakeAgent, claim: Claim): Claim => {
    const watched = this.wires.claimed(name, agent, claim)
    return { ...watched, take: Effect.tap(watched.take, () => Effect.sync(this.checkNow)) }
  }

  /** What goes into the journal, before it is there. */
  readonly recording = ({ sessionId, drafts }: Entry): void => {
    const agent = this.wires.agentOf(sessionId)
    for (const draft of drafts) {
      const turnId = String(draft.turnId)
      if (draft.eventType.startsWith("runtime_request.")) this.requests.recording(draft, agent)
      if (!isTurnTerminal(draft)) continue
      this.turns.recordingTerminal(turnId)
      if (!this.isOverdue) this.requests.atTerminal(turnId)
    }
    this.checkNow()
  }

  /** A turn whose submission is not recorded is not accepted. */
  readonly recorded = ({ drafts }: Entry): void => {
    for (const { eventType, turnId } of drafts) if (eventType === "turn.submitted") this.turns.submitted(String(turnId))
  }

  /** What must hold at any time. */
  private readonly checkNow = (): void => {
    this.turns.checkOwned()
    for (const over of this.registry?.overfull() ?? []) this.problems.add("bounded", over)
    for (const { path, depth } of this.registry?.snapshot() ?? []) {
      const most = path.includes("/connection:")
        ? limits.pendingInboundRequestsMax * 2 + 64
        : 2 * Math.max(limits.queuedPromptsMax, 16)
      if (depth > most) this.problems.add("bounded", `${depth} messages wait at ${path}`)
    }
  }

  // What must hold at an end

  /** Once whoever prompted has closed its scope. */
  readonly promptsClosed = Effect.sync(() => this.turns.nobodyHolds())

  /** Once the scope of the host has closed. Only what missed its deadline, and was reported for it, may still be closing. */
  readonly hostClosed = (): void => {
    if (this.isOverdue && !this.isHurried) this.problems.add("nothingLeft", "an actor missed its deadline")
    if (!this.isOverdue) this.nothingLeft()
  }

  /** An actor is unreleased: those above it go on without it. */
  private get isOverdue(): boolean {
    return (this.registry?.counters().unreleased ?? 0) > 0
  }

  private nothingLeft(): void {
    const left = (detail: string) => this.problems.add("nothingLeft", detail)
    for (const { path, state } of this.registry?.snapshot() ?? []) left(`${path} is left, ${state}`)
    if ((this.connections?.live() ?? 0) > 0) left("a connection is left in the pool")
    if (this.agents.some((agent) => !agent.isEnded())) left("an agent is left")
    if (this.folders !== 0) left(`${this.folders} folders are left`)
    this.wires.nothingLeft()
    this.requests.nothingLeft()
  }

  readonly violations = (): ReadonlyArray<string> => {
    this.journal.check()
    this.turns.check(this.journal.events, this.agents)
    for (const agent of this.agents) {
      this.requests.checkAnswers(agent)
      this.checkAddressed(agent)
    }
    this.checkCrashes()
    this.nothingLeft()
    return this.problems.found
  }

  private checkAddressed({ written }: FakeAgent): void {
    for (const frame of written.filter((one) => isPrompt(one) || isCancel(one))) {
      const sessionId = String(valueAt(frame, "params", "sessionId"))
      if (sessionId !== agentSession) this.problems.add("addressed", `${String(frame["method"])} for ${sessionId}`)
    }
  }

  private checkCrashes(): void {
    for (const { path, defect } of this.registry?.crashes ?? []) {
      const isWait = defect instanceof InvariantViolated && defect.invariant === waitUpwards
      const detail = isWait ? defect.detail : `${path}: ${Cause.pretty(Cause.die(defect))}`
      this.problems.add(isWait ? "noWaitUpwards" : "noDefect", detail)
    }
  }
}
