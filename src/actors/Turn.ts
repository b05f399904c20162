/**
 * A turn: one prompt from acceptance to its one terminal. It is fed by its session, runs the turn machine, and owns the
 * requests that the agent makes meanwhile.
 *
 * Guarantees: exactly one terminal event, behind every event of the turn, however the turn ends, a stop of the actor included;
 * at most one cancel frame, never before the prompt, never after a response was taken; every request is settled before the
 * terminal. While it drains, the turn does not wait for subscribers: what does not fit is counted. Bounds: the deadline of
 * the cancel, the caller's deadline. A turn without frames for a while is reported as stalled, and never ended for it.
 * Source: DESIGN 3, rules 2 and 3.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { agentMethods } from "../schema/acp/protocol.ts"
import type { ContentBlock } from "../schema/acp/prompt.ts"
import type { ConnectionClosed, ResourceUnreleased } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { draftOf, type EventDraft } from "../schema/prp/event.ts"
import { noticeDraft } from "../schema/prp/notices.ts"
import { initialState, project, type ProjectionState, turnTerminal } from "../schema/prp/projection.ts"
import type { CancelledBy, TurnOutcome } from "../schema/turn.ts"
import type { Connection, Ticket } from "./Connection.ts"
import { Journal } from "./Journal.ts"
import { forkOwned } from "./forkOwned.ts"
import * as Actor from "./kernel/Actor.ts"
import type { Ask, Handlers, Tell } from "./kernel/Message.ts"
import { Registry } from "./kernel/Registry.ts"
import { type RequestOptions, type RuntimeRequest, spawnRequest } from "./RuntimeRequest.ts"
import { type PromptResponse, queued, step, type TurnFact, type TurnInput, type TurnOutput } from "./turnState.ts"

type CancelBy = Exclude<CancelledBy, "agent">

type TurnMessage =
  | Tell<"Start">
  | Tell<"Prompted">
  | Ask<"Feed", { readonly updates: ReadonlyArray<unknown>; readonly bytes: number }, void>
  | Ask<"Note", { readonly drafts: ReadonlyArray<EventDraft>; readonly bytes: number }, void>
  | Ask<"Request", { readonly options: Omit<RequestOptions, "record"> }, void>
  | Ask<"Respond", { readonly response: PromptResponse }, void>
  | Ask<"Died", { readonly cause: ConnectionClosed }, void>
  | Tell<"Cancel", { readonly by: CancelBy }>
  | Tell<"Deadline">
  | Tell<"CancelDeadline">

export interface TurnOptions {
  readonly turnId: string
  readonly runId: string
  readonly sessionId: string
  readonly agentSessionId: string
  readonly connection: Connection
  readonly prompt: ReadonlyArray<ContentBlock>
  readonly deadlineMs: number | undefined
  readonly workspace: string
  readonly agent: { readonly provider: string; readonly model: string | null }
  /** Where the session finds the open requests of its turns. */
  readonly requests: Map<string, RuntimeRequest>
}

export interface Turn {
  readonly turnId: string
  /** Names the response that ends the turn. */
  readonly ticket: Ticket
  readonly start: Effect.Effect<void>
  /** Whether the prompt went to the writer: updates taken before belong to nobody. */
  readonly isPrompted: () => boolean
  /** The response was taken from the queue: from now on no cancel frame is written. Its updates may still be on their way. */
  readonly responseTaken: () => void
  /** These wait for subscribers, unless the turn drains. `false`: the turn is over, nothing was taken. */
  readonly feed: (updates: ReadonlyArray<unknown>, bytes: number) => Effect.Effect<boolean>
  readonly note: (drafts: ReadonlyArray<EventDraft>, bytes: number) => Effect.Effect<boolean>
  readonly request: (options: Omit<RequestOptions, "record">) => Effect.Effect<boolean>
  readonly respond: (response: PromptResponse) => Effect.Effect<boolean>
  readonly died: (cause: ConnectionClosed) => Effect.Effect<boolean>
  /** Takes effect at once; the outcome tells what came of it. Idempotent: the first one counts. */
  readonly cancel: (by: CancelBy) => Effect.Effect<void>
  readonly outcome: Effect.Effect<TurnOutcome>
  /** Completes once the actor is gone too. */
  readonly over: Effect.Effect<void>
  readonly draining: Latch.Latch
}

/**
 * Room for what its session tells it, one at a time, and for its own timers, each of which tells it one thing once. It
 * rejects, because a timer must not wait for its own actor.
 */
const mailbox = { capacity: 16, policy: "reject" } as const

const stopWithin = limits.writeMs * 3

/** Below the caller's `Self`. If interrupted before it runs: nothing was accepted. */
export const spawnTurn = Effect.fnUntraced(function* (
  options: TurnOptions
): Effect.fn.Return<Turn, ResourceUnreleased, Journal | Registry | Scope.Scope> {
  const shared: Shared = {
    ticket: options.connection.ticket(agentMethods.sessionPrompt),
    draining: Latch.makeUnsafe(false),
    outcome: Deferred.makeUnsafe<TurnOutcome>(),
    isPrompted: false,
    isAnswered: false,
    isCancelled: false
  }
  const self = Deferred.makeUnsafe<Actor.ActorRef<TurnMessage>>()
  const tell = (message: TurnMessage) => Effect.flatMap(Deferred.await(self), (own) => Effect.ignore(own.tell(message)))
  const ref = yield* Actor.spawn<TurnMessage, never, Actor.Self | Journal | Registry | Scope.Scope>({
    name: `turn:${options.turnId}`,
    mailbox,
    control: ["Cancel", "CancelDeadline"],
    stopWithin,
    behaviour: behaviour(options, shared, tell)
  })
  Deferred.doneUnsafe(self, Exit.succeed(ref))

  const taken = (message: TurnMessage): Effect.Effect<boolean> =>
    ref.ask(message).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )

  return {
    turnId: options.turnId,
    ticket: shared.ticket,
    start: Effect.ignore(ref.tell({ _tag: "Start" })),
    isPrompted: () => shared.isPrompted,
    responseTaken: () => void (shared.isAnswered = true),
    feed: (updates, bytes) => taken({ _tag: "Feed", updates, bytes }),
    note: (drafts, bytes) => taken({ _tag: "Note", drafts, bytes }),
    request: (request) => taken({ _tag: "Request", options: request }),
    respond: (response) => taken({ _tag: "Respond", response }),
    died: (cause) => taken({ _tag: "Died", cause }),
    cancel: (by) =>
      Effect.suspend(() => {
        if (shared.isCancelled) return Effect.void
        shared.isCancelled = true
        shared.draining.openUnsafe()
        return Effect.ignore(ref.tell({ _tag: "Cancel", by }))
      }),
    outcome: Deferred.await(shared.outcome),
    over: Effect.asVoid(ref.watch),
    draining: shared.draining
  }
})

/** What the session reads, and the actor writes. */
interface Shared {
  readonly ticket: Ticket
  readonly draining: Latch.Latch
  readonly outcome: Deferred.Deferred<TurnOutcome>
  isPrompted: boolean
  isAnswered: boolean
  isCancelled: boolean
}

const behaviour = Effect.fnUntraced(function* (
  options: TurnOptions,
  shared: Shared,
  tell: (message: TurnMessage) => Effect.Effect<void>
) {
  const { connection, turnId, runId, sessionId } = options
  const journal = yield* Journal
  const registry = yield* Registry
  const self = yield* Actor.Self
  const owner = yield* Effect.context<Actor.Self | Scope.Scope>()
  const open = new Set<RuntimeRequest>()
  let machine = queued
  let projection = initialState({ _tag: "Turn", turnId }, options.agent)
  let isAnnounced = false
  let lastFrameMs = yield* Clock.currentTimeMillis
  let closing = false

  const entry = (drafts: ReadonlyArray<EventDraft>, bytes: number) => ({ runId, sessionId, turnId, drafts, bytes })
  const force = (...drafts: ReadonlyArray<EventDraft>) => journal.force(entry(drafts, 0))
  const fork = (work: Effect.Effect<void>) => Effect.provideContext(forkOwned(work), owner)

  /** The transition is one synchronous step; its outputs are performed in order. */
  const input = (what: TurnInput): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [next, outputs] = step(machine, what)
      machine = next
      return outputs.length === 0 ? Effect.void : Effect.forEach(outputs, perform, { discard: true })
    })

  const perform = (output: TurnOutput): Effect.Effect<void> => {
    switch (output._tag) {
      case "WritePrompt":
        return fork(writePrompt)
      case "WriteCancel":
        return closing ? Effect.void : fork(writeCancel)
      case "AnswerOpenRequestsCancelled":
        return endRequests(output.how)
      case "RetireConnection":
        return connection.retire(output.reason)
      case "Terminal":
        return terminal(output.outcome)
    }
  }

  /** Handing over and saying so are one step for the machine: no cancel frame can come between. */
  const writePrompt = Effect.gen(function* () {
    if (options.deadlineMs !== undefined)
      yield* fork(Effect.andThen(Effect.sleep(options.deadlineMs), tell({ _tag: "Deadline" })))
    const params = { sessionId: options.agentSessionId, prompt: options.prompt }
    const written = yield* Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(connection.request(shared.ticket, params)), () => {
        shared.isPrompted = true
        return Effect.andThen(input({ _tag: "PromptWritten", stage: "handed" }), tell({ _tag: "Prompted" }))
      })
    )
    yield* written
  }).pipe(
    Effect.catchTag("FrameTooLarge", ({ bytes, limitBytes }) => input({ _tag: "PromptTooLarge", bytes, limitBytes })),
    // The last entry of the connection says so too, in its place.
    Effect.catchTag("ConnectionClosed", () => Effect.void)
  )

  /** Before anything else that comes of the prompt. */
  const announce = Effect.suspend(() => {
    if (isAnnounced || !shared.isPrompted) return Effect.void
    isAnnounced = true
    return force(draftOf("turn.started", {}, { turnId }))
  })

  const writeCancel = Effect.gen(function* () {
    yield* fork(Effect.andThen(Effect.sleep(limits.cancelMs), tell({ _tag: "CancelDeadline" })))
    yield* Effect.flatten(connection.notify(agentMethods.sessionCancel, { sessionId: options.agentSessionId }))
  }).pipe(Effect.ignore)

  const endRequests = (how: "cancelled" | "ended") =>
    Effect.forEach(open, (request) => Effect.ignore(request.tell({ _tag: "TurnOver", how })), { discard: true })

  const terminal = Effect.fnUntraced(function* (outcome: TurnOutcome) {
    yield* Effect.forEach(open, (request) => request.watch, { discard: true })
    const [ended, closed] = project(projection, { _tag: "TurnEnded", how: endOf(outcome) })
    projection = ended
    yield* force(...closed, turnTerminal(turnId, outcome))
    Deferred.doneUnsafe(shared.outcome, Exit.succeed(outcome))
    yield* self.end()
  })

  const append = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>, bytes: number) {
    if (drafts.length === 0) return
    const count = yield* journal.append(entry(drafts, bytes), shared.draining)
    if (count > 0) yield* input({ _tag: "EventsUndelivered", count })
  })

  const feed = Effect.fnUntraced(function* (updates: ReadonlyArray<unknown>, bytes: number) {
    lastFrameMs = yield* Clock.currentTimeMillis
    const before = projection
    const drafts: Array<EventDraft> = []
    for (const update of updates) {
      const [next, made] = project(projection, { _tag: "Update", update, workspace: options.workspace })
      projection = next
      for (const draft of made) drafts.push(draft)
    }
    for (const fact of factsSince(before, projection)) yield* input({ _tag: "Observed", fact })
    yield* append(drafts, bytes)
  })

  const request = Effect.fnUntraced(function* (what: Omit<RequestOptions, "record">) {
    const { requestId } = what.request
    const ref = yield* spawnRequest({ ...what, record: (draft) => force(draft) }).pipe(
      Effect.provideService(Registry, registry),
      Effect.orDie
    )
    open.add(ref)
    options.requests.set(requestId, ref)
    yield* fork(
      Effect.andThen(
        ref.watch,
        Effect.map(Clock.currentTimeMillis, (now) => {
          lastFrameMs = now
          open.delete(ref)
          options.requests.delete(requestId)
        })
      )
    )
    if (machine._tag !== "Prompting") yield* endRequests("cancelled")
  })

  /** Says once per quiet spell that nothing came; a person's time to answer is not the agent's silence. */
  const watchSilence = Effect.gen(function* () {
    let reportedMs: number | undefined
    for (;;) {
      const quietMs = (yield* Clock.currentTimeMillis) - lastFrameMs
      if (quietMs >= limits.stalledMs && shared.isPrompted && open.size === 0 && reportedMs !== lastFrameMs) {
        reportedMs = lastFrameMs
        const summary = `nothing came from the agent for ${limits.stalledMs} ms`
        const id = `${turnId} stalled ${reportedMs}`
        yield* force(noticeDraft({ id, category: "stalled", severity: "warning", summary, turnId }))
      }
      yield* Effect.sleep(quietMs < limits.stalledMs ? limits.stalledMs - quietMs : limits.stalledMs)
    }
  })

  // A turn that is torn down still ends: cancelled by the shutdown that tore it down.
  yield* Effect.addFinalizer((exit) =>
    Effect.suspend(() => {
      if (machine._tag === "Settled") return Effect.void
      closing = true
      shared.draining.openUnsafe()
      if (Exit.isFailure(exit) && Exit.hasDies(exit)) return terminal(crashed)
      return Effect.andThen(input({ _tag: "CancelRequested", by: "shutdown" }), input({ _tag: "CancelDeadlineFired" }))
    })
  )
  yield* force(draftOf("turn.submitted", {}, { turnId }))
  yield* fork(watchSilence)

  const handlers: Handlers<TurnMessage, Actor.Self | Scope.Scope> = {
    Start: () => input({ _tag: "Submitted" }),
    Prompted: () => announce,
    Feed: ({ updates, bytes }) => Effect.andThen(announce, feed(updates, bytes)),
    Note: ({ drafts, bytes }) => Effect.andThen(announce, append(drafts, bytes)),
    Request: (message) => Effect.andThen(announce, request(message.options)),
    Respond: ({ response }) => Effect.andThen(announce, input({ _tag: "ResponseTaken", response })),
    Died: ({ cause }) => Effect.andThen(announce, input(closedInput(cause))),
    // A response that was taken already decides; its updates and itself are behind us in the queue.
    Cancel: ({ by }) => (shared.isAnswered ? Effect.void : input({ _tag: "CancelRequested", by })),
    Deadline: () => {
      if (shared.isAnswered) return Effect.void
      shared.draining.openUnsafe()
      return input({ _tag: "DeadlineFired" })
    },
    CancelDeadline: () => (shared.isAnswered ? Effect.void : input({ _tag: "CancelDeadlineFired" }))
  }
  return handlers
})

const closedInput = ({ reason, stderrTail, exit }: ConnectionClosed): TurnInput => ({
  _tag: "ConnectionClosed",
  reason,
  stderrTail,
  ...(exit === undefined ? {} : { exit })
})

const crashed: TurnOutcome = {
  _tag: "Failed",
  reason: "crashed",
  detail: "a defect of the runner ended the turn",
  undeliveredEvents: 0
}

const endOf = (outcome: TurnOutcome): "completed" | "failed" | "cancelled" => {
  switch (outcome._tag) {
    case "Completed":
      return "completed"
    case "Failed":
      return "failed"
    case "Cancelled":
      return "cancelled"
  }
}

const factsSince = (before: ProjectionState, now: ProjectionState): ReadonlyArray<TurnFact> => {
  const facts: Array<TurnFact> = []
  if (now.sawMessage && !before.sawMessage) facts.push("message")
  if (now.sawThought && !before.sawThought) facts.push("thought")
  if (now.sawTool && !before.sawTool) facts.push("tool")
  if (now.sawPlan && !before.sawPlan) facts.push("plan")
  return facts
}
