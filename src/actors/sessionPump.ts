/**
 * The pump of a session: takes entries from the connection's ordered queue and hands each to whom it belongs, in order.
 *
 * Guarantees: nothing that was taken is lost; what belongs to no turn becomes an event of the session; the response of the
 * prompt is noted in the step that takes it from the queue, which is the one point that decides between it and a cancel; every
 * request that nobody can hold is answered here. Bounds: what is kept for a session id that is not known yet.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as Exit from "effect/Exit"
import { PromptResult, rpcErrorCodes } from "../schema/acp/protocol.ts"
import { displayLine } from "../schema/displayText.ts"
import type { ConnectionClosed, RequestMalformed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import { noticeDraft } from "../schema/prp/notices.ts"
import { initialState, project } from "../schema/prp/projection.ts"
import type { AgentCalls, Response } from "./agentCalls.ts"
import type { Entry, Ticket } from "./Connection.ts"
import type { Claim } from "./Connections.ts"
import type { Turn } from "./Turn.ts"
import type { PromptResponse } from "./turnState.ts"

type UpdateEntry = Extract<Entry, { readonly _tag: "Update" }>
type RequestEntry = Extract<Entry, { readonly _tag: "Request" }>

/** What the session is to its pump. */
export interface PumpHost {
  readonly sessionId: string
  readonly workspace: string
  readonly agent: { readonly provider: string; readonly model: string | null }
  readonly claim: Claim
  readonly calls: AgentCalls
  /** The agent's id of the session, once known. */
  readonly agentSessionId: () => string | undefined
  readonly running: () => Turn | undefined
  /** The running turn is settled; another may start once the batch is through. */
  readonly turnSettled: (turn: Turn) => void
  /** Everything that was taken has been handed on. */
  readonly batchDone: Effect.Effect<void>
  readonly request: (
    turn: Turn,
    entry: RequestEntry
  ) => Effect.Effect<
    | { readonly _tag: "Taken" | "TurnOver" | "Unsupported" }
    | { readonly _tag: "Malformed"; readonly error: RequestMalformed }
  >
  readonly withdrawn: (slotKey: string) => Effect.Effect<void>
  readonly died: (cause: ConnectionClosed) => Effect.Effect<void>
  readonly append: (
    drafts: ReadonlyArray<EventDraft>,
    bytes: number,
    draining: Latch.Latch | undefined
  ) => Effect.Effect<void>
}

export interface Pump {
  readonly run: Effect.Effect<void>
  readonly lastFrameMs: () => number
}

export const makePump = Effect.fnUntraced(function* (host: PumpHost): Effect.fn.Return<Pump> {
  let lastFrameMs = yield* Clock.currentTimeMillis
  let notices = 0
  // Outside its turns a session has no text, tools or plans of its own: those are late.
  let [outside] = project(initialState({ _tag: "Session", sessionId: host.sessionId }, host.agent), {
    _tag: "TurnEnded",
    how: "completed"
  })
  let asked: Ticket | undefined
  let early: Array<UpdateEntry> = []
  let earlyBytes = 0
  let earlyDropped = 0

  const notice = (category: string, summary: string, native: unknown, turn: Turn | undefined): EventDraft =>
    noticeDraft({
      id: `${host.sessionId} ${category} ${++notices}`,
      category,
      severity: "warning",
      summary: displayLine(summary, limits.shortTextCharactersMax),
      ...(native === undefined ? {} : { native }),
      ...(turn === undefined ? {} : { turnId: turn.turnId })
    })

  /** The turn that an entry belongs to: its prompt went to the writer before the entry was read. */
  const prompted = (): Turn | undefined => {
    const turn = host.running()
    return turn?.isPrompted() === true && turn.ticket === asked ? turn : undefined
  }

  const note = Effect.fnUntraced(function* (category: string, summary: string, native: unknown, bytes: number) {
    const turn = prompted()
    const noted = turn !== undefined && (yield* turn.note([notice(category, summary, native, turn)], bytes))
    if (!noted) yield* host.append([notice(category, summary, native, undefined)], bytes, host.running()?.draining)
  })

  const outsideTurns = Effect.fnUntraced(function* (entries: ReadonlyArray<UpdateEntry>) {
    const drafts: Array<EventDraft> = []
    let bytes = 0
    for (const entry of entries) {
      bytes += entry.bytes
      if (entry.sessionId !== host.agentSessionId()) {
        drafts.push(
          notice("unknown_session", "an update names a session that is not this one", entry.update, undefined)
        )
        continue
      }
      const [next, made] = project(outside, { _tag: "Update", update: entry.update, workspace: host.workspace })
      outside = next
      for (const draft of made) drafts.push(draft)
    }
    yield* host.append(drafts, bytes, host.running()?.draining)
  })

  const keepEarly = (entry: UpdateEntry) => {
    const isFull =
      early.length >= limits.unknownSessionFramesMax || earlyBytes + entry.bytes > limits.unknownSessionBytesMax
    if (isFull) return void earlyDropped++
    early.push(entry)
    earlyBytes += entry.bytes
  }

  const hasEarly = () => host.agentSessionId() !== undefined && (early.length > 0 || earlyDropped > 0)

  const flushEarly = Effect.fnUntraced(function* () {
    const kept = early
    early = []
    earlyBytes = 0
    yield* outsideTurns(kept)
    if (earlyDropped > 0) {
      yield* note(
        "early_updates_dropped",
        `${earlyDropped} updates came before the session was known and did not fit`,
        undefined,
        0
      )
      earlyDropped = 0
    }
  })

  const updates = Effect.fnUntraced(function* (entries: ReadonlyArray<UpdateEntry>) {
    if (host.agentSessionId() === undefined) return entries.forEach(keepEarly)
    if (hasEarly()) yield* flushEarly()
    const turn = prompted()
    const own = turn === undefined ? [] : entries.filter((entry) => entry.sessionId === host.agentSessionId())
    const isFed =
      turn !== undefined &&
      own.length > 0 &&
      (yield* turn.feed(
        own.map((entry) => entry.update),
        sumOf(own)
      ))
    const rest = isFed ? entries.filter((entry) => entry.sessionId !== host.agentSessionId()) : entries
    if (rest.length > 0) yield* outsideTurns(rest)
  })

  const response = Effect.fnUntraced(function* (entry: Response) {
    if (host.calls.settle(entry)) return
    const turn = host.running()
    if (turn === undefined || turn.ticket !== entry.ticket) {
      const { error, result } = entry
      const summary = `a response of ${entry.ticket.method} came too late`
      return yield* note("late_response", summary, error === undefined ? { result } : { error }, entry.bytes)
    }
    yield* turn.respond(promptResponseOf(entry), entry.result)
    host.turnSettled(turn)
  })

  /** Who names no session is judged by what else it says. */
  const isForeign = (params: unknown) => isAddressed(params) && params.sessionId !== host.agentSessionId()

  /** What nobody can hold is answered at once. The answer does not wait for a slow stdin, and the pump does not wait for it. */
  const request = Effect.fnUntraced(function* (entry: RequestEntry) {
    const turn = prompted()
    const { method, answer, answerSafely } = entry.slot
    const held = isForeign(entry.params)
      ? ({ _tag: "OtherSession" } as const)
      : turn === undefined
        ? ({ _tag: "TurnOver" } as const)
        : yield* host.request(turn, entry)
    if (held._tag === "Taken") return
    const reply =
      held._tag === "Malformed"
        ? answer({ error: { code: rpcErrorCodes.invalidParams, message: "Invalid params" } })
        : answerSafely
    yield* Effect.forkChild(reply, { startImmediately: true })
    const [category, what] = refusals[held._tag]
    const summary = held._tag === "Malformed" ? `${method} ${what}: ${held.error.issue}` : `${method} ${what}`
    yield* note(category, summary, entry.params, entry.bytes)
  })

  const handle = (entry: Exclude<Entry, UpdateEntry>): Effect.Effect<void> => {
    switch (entry._tag) {
      case "Response":
        return response(entry)
      case "Request":
        return request(entry)
      case "Withdrawn":
        return host.withdrawn(entry.slot.key)
      case "Notification":
        return note(
          "notification",
          `the agent sent ${entry.method}`,
          { method: entry.method, params: entry.params },
          entry.bytes
        )
      case "Anomaly":
        return note(
          entry.anomaly,
          `the agent broke the protocol: ${entry.anomaly} (${entry.detail})`,
          undefined,
          entry.bytes
        )
      case "Asked":
        asked = entry.ticket
        return Effect.void
      case "Closed":
        return host.died(entry.cause)
    }
  }

  const handOn = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
    let run: Array<UpdateEntry> = []
    for (const entry of entries) {
      if (entry._tag === "Update") {
        run.push(entry)
        continue
      }
      if (run.length > 0) yield* updates(run)
      run = []
      yield* handle(entry)
    }
    if (run.length > 0) yield* updates(run)
  })

  const noteResponse = (entries: ReadonlyArray<Entry>) => {
    const turn = host.running()
    if (turn !== undefined && entries.some((entry) => entry._tag === "Response" && entry.ticket === turn.ticket)) {
      turn.responseTaken()
    }
  }

  const run = Effect.gen(function* () {
    for (;;) {
      const batch = yield* Effect.tap(host.claim.take, (taken) => Effect.sync(() => noteResponse(taken?.entries ?? [])))
      if (batch === undefined) return
      lastFrameMs = yield* Clock.currentTimeMillis
      yield* handOn(batch.entries)
      // Maybe nothing follows that would take them along.
      if (hasEarly()) yield* flushEarly()
      yield* host.batchDone
    }
  })

  return { run, lastFrameMs: () => lastFrameMs }
})

/** Why a request was not put to anybody, and what became of it. */
const refusals = {
  Malformed: ["request_malformed", "was refused"],
  Unsupported: ["request_unsupported", "was answered cancelled: nobody is asked that here"],
  TurnOver: ["request_outside_turn", "was answered cancelled: it came outside a turn"],
  OtherSession: ["request_unknown_session", "was answered cancelled: it names a session that is not this one"]
} as const

const isAddressed = Schema.is(Schema.Struct({ sessionId: Schema.String }))

const sumOf = (entries: ReadonlyArray<UpdateEntry>): number => entries.reduce((sum, entry) => sum + entry.bytes, 0)

const decodePromptResult = Schema.decodeUnknownExit(PromptResult)

const promptResponseOf = ({ result, error, malformed }: Response): PromptResponse => {
  if (malformed !== undefined) return { _tag: "Malformed", issue: malformed }
  if (error !== undefined) {
    const { code, message, data } = error
    return {
      _tag: "Error",
      error: { rpcCode: code, rpcMessage: message, ...(data === undefined ? {} : { data }) },
      authRequired: code === rpcErrorCodes.authRequired
    }
  }
  const decoded = decodePromptResult(result)
  if (Exit.isFailure(decoded)) return { _tag: "Malformed", issue: "no stopReason" }
  const { stopReason, usage } = decoded.value
  return { _tag: "Success", stopReason, ...(usage === undefined ? {} : { usage }) }
}
