/** The connections of a run as their sessions use them: prompts, cancels and requests in the order of the calls. */
import * as Effect from "effect/Effect"
import type { Connection, Entry, Ticket } from "../../../src/actors/Connection.ts"
import type { Claim } from "../../../src/actors/Connections.ts"
import type { Batch } from "../../../src/actors/orderedQueue.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { FakeAgent } from "../../../src/testing/FakeLinks.ts"
import { valueAt } from "../observe.ts"
import type { InvariantName } from "./invariants.ts"
import type { Problem } from "./problems.ts"
import type { WatchedTable } from "./watchedTable.ts"

/** One connection, as its session used it. */
interface Wire {
  readonly sessionId: string
  readonly agent: FakeAgent
  readonly connection: Connection
  /** The prompt that the agent works on: from the step in which it goes to it to the take of its response. */
  prompted: { readonly ticket: Ticket; readonly turnId: string; cancels: number } | undefined
  isRetired: boolean
  /** Requests that were taken. */
  readonly slots: Array<Extract<Entry, { readonly _tag: "Request" }>["slot"]>
}

export interface WiresOptions {
  readonly problem: Problem<InvariantName>
  /** Between two operations of one stretch another fiber may run: moments within a stretch cannot be told apart. */
  readonly isSplit: boolean
  readonly table: () => WatchedTable | undefined
}

export class Wires {
  private readonly wires = new Map<string, Wire>()
  private readonly options: WiresOptions

  constructor(options: WiresOptions) {
    this.options = options
  }

  readonly agentOf = (sessionId: string): FakeAgent | undefined => this.wires.get(sessionId)?.agent

  /** The claim as its session gets it, watched. */
  readonly claimed = (name: string, agent: FakeAgent, claim: Claim): Claim => {
    const { connection, take } = claim
    const sessionId = name.replace(/^connection:/, "")
    const wire: Wire = { sessionId, agent, connection, prompted: undefined, isRetired: false, slots: [] }
    this.wires.set(sessionId, wire)
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

  /** After the end of a run. */
  readonly nothingLeft = (): void => {
    for (const { connection, slots } of this.wires.values()) {
      if (connection.openRequests() > 0 || slots.some((slot) => slot.isOpen())) {
        this.options.problem("nothingLeft", "a request is left open")
      }
    }
  }

  private taken(wire: Wire, batch: Batch<Entry> | undefined): void {
    const { problem } = this.options
    this.checkBounds(wire, batch)
    this.checkHeld(wire)
    for (const entry of batch?.entries ?? []) {
      if (entry._tag === "Response" && entry.ticket === wire.prompted?.ticket) wire.prompted = undefined
      if (entry._tag === "Request") wire.slots.push(entry.slot)
      if (entry._tag !== "Closed") continue
      wire.isRetired = true
      if (entry.cause.reason === "crashed") problem("noDefect", "a connection died of a defect")
    }
  }

  private checkBounds({ connection }: Wire, batch: Batch<Entry> | undefined): void {
    const { problem } = this.options
    const frames = batch?.entries.length ?? 0
    if (frames > limits.queueFramesMax + pieceFramesMax) problem("bounded", "more frames than the queue may hold")
    if ((batch?.bytes ?? 0) > limits.queueBytesMax + pieceBytesMax) {
      problem("bounded", "more bytes than the queue may hold")
    }
    if (connection.openRequests() > limits.pendingInboundRequestsMax) {
      problem("bounded", "more requests than may be open")
    }
  }

  /** What came before has been handed on: each request that is still open has its actor. */
  private checkHeld({ sessionId, slots }: Wire): void {
    const { isSplit, problem, table } = this.options
    if (isSplit) return
    const open = slots.filter((slot) => slot.isOpen()).length
    const held = table()?.requestsOf(sessionId) ?? 0
    if (open > held) problem("answeredOnce", `${open} requests are open, and ${held} are held`)
  }

  private begun(wire: Wire, ticket: Ticket, params: object): void {
    const { isSplit, problem } = this.options
    if (ticket.method !== "session/prompt") return
    const turnId = String(valueAt(params, "prompt", "0", "text"))
    if (wire.isRetired && !isSplit) problem("onePrompt", `the prompt of ${turnId} went to a retired connection`)
    if (wire.prompted !== undefined) {
      problem("onePrompt", `the prompt of ${turnId} came while ${wire.prompted.turnId} was at work`)
    }
    wire.prompted = { ticket, turnId, cancels: 0 }
  }

  private notified(wire: Wire, method: string): void {
    const { isSplit, problem } = this.options
    if (method !== "session/cancel") return
    if (wire.prompted === undefined) {
      if (!isSplit) problem("cancelInTime", "a cancel without a prompt that is at work")
    } else if (++wire.prompted.cancels > 1) problem("oneCancel", `two cancels of ${wire.prompted.turnId}`)
  }
}

/** What always fits takes in what waits: the frames of one piece, and two entries of our own. */
const pieceFramesMax = 10
/** Likewise, a pipe. */
const pieceBytesMax = 64 * 1024
