/**
 * A turn: one prompt from acceptance to its one terminal. It is fed by its session, runs the turn machine, and owns the
 * requests that the agent makes meanwhile.
 *
 * Guarantees: exactly one terminal event, behind every event of the turn, however the turn ends, a stop of the actor included;
 * at most one cancel frame, never before the prompt, never after a response was taken; every request is settled before the
 * terminal. While it drains, the turn does not wait for subscribers: what does not fit is counted. Bounds: the deadline of
 * the cancel, the caller's deadline. A turn without frames for a while is reported as stalled, and never ended for it.
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
import type { EventDraft } from "../schema/prp/event.ts"
import type { CancelledBy, TurnOutcome } from "../schema/turn.ts"
import type { Connection, Ticket } from "./Connection.ts"
import { Journal } from "./Journal.ts"
import { forkOwned } from "./forkOwned.ts"
import * as Actor from "./kernel/Actor.ts"
import type { Ask, Handlers, Tell } from "./kernel/Message.ts"
import { Registry } from "./kernel/Registry.ts"
import { type AdmittedRequest, type RuntimeRequest, spawnRequest } from "./RuntimeRequest.ts"
import type { SessionRequests } from "./sessionRequests.ts"
import { makeTurnEvents, type TurnIdentity } from "./turnEvents.ts"
import { makeSilence } from "./turnSilence.ts"
import { type PromptResponse, queued, step, type TurnInput, type TurnOutput } from "./turnState.ts"

type CancelBy = Exclude<CancelledBy, "agent">

type TurnMessage =
  | Tell<"Start">
  | Tell<"Prompted">
  | Ask<"Feed", { readonly updates: ReadonlyArray<unknown>; readonly bytes: number }, void>
  | Ask<"Note", { readonly drafts: ReadonlyArray<EventDraft>; readonly bytes: number }, void>
  | Ask<"Request", { readonly options: AdmittedRequest; readonly bytes: number }, void>
  | Ask<"Respond", { readonly response: PromptResponse; readonly result: unknown }, void>
  | Ask<"Died", { readonly cause: ConnectionClosed }, void>
  | Tell<"Cancel", { readonly by: CancelBy }>
  | Tell<"Deadline">
  | Tell<"Stalled">
  | Tell<"CancelDeadline">

export interface TurnOptions extends TurnIdentity {
  readonly agentSessionId: string
  readonly connection: Connection
  readonly prompt: ReadonlyArray<ContentBlock>
  readonly deadlineMs: number | undefined
  /** What the agent has to answer a cancel. */
  readonly cancelMs: number
  /** Where the session finds the open requests of its turns. */
  readonly requests: SessionRequests
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
  readonly request: (options: AdmittedRequest, bytes: number) => Effect.Effect<boolean>
  /** `result` as it came; `undefined`: there is none. */
  readonly respond: (response: PromptResponse, result: unknown) => Effect.Effect<boolean>
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
    control: ["Cancel", "Deadline", "CancelDeadline", "Stalled"],
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
    request: (request, bytes) => taken({ _tag: "Request", options: request, bytes }),
    respond: (response, result) => taken({ _tag: "Respond", response, result }),
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
  const { connection, turnId } = options
  const registry = yield* Registry
  const self = yield* Actor.Self
  const owner = yield* Effect.context<Actor.Self | Scope.Scope>()
  const events = makeTurnEvents(yield* Journal, options, shared.draining)
  const silence = makeSilence(turnId, events.force, yield* Clock.currentTimeMillis)
  const open = new Set<RuntimeRequest>()
  let machine = queued
  let isOver = false
  let closing = false

  const fork = (work: Effect.Effect<void>) => Effect.provideContext(forkOwned(work), owner)

  /** The transition is one synchronous step; its outputs are performed in order. */
  const input = (what: TurnInput): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [next, outputs] = step(machine, what)
      machine = next
      const [only] = outputs
      return only !== undefined && outputs.length === 1
        ? perform(only)
        : Effect.forEach(outputs, perform, { discard: true })
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

  /** The one point from which a cancel needs a frame: before it, a turn that is over has its prompt left unwritten. */
  const begin = (): boolean => {
    if (machine._tag !== "Dispatching") return false
    const [next] = step(machine, { _tag: "PromptWritten", stage: "handed" })
    machine = next
    shared.isPrompted = true
    return true
  }

  const writePrompt = Effect.gen(function* () {
    if (options.deadlineMs !== undefined) yield* fork(Effect.andThen(Effect.sleep(options.deadlineMs), deadlinePassed))
    const params = { sessionId: options.agentSessionId, prompt: options.prompt }
    yield* Effect.flatten(connection.request(shared.ticket, params, begin))
    yield* tell({ _tag: "Prompted" })
  }).pipe(
    Effect.catchTag("FrameTooLarge", ({ bytes, limitBytes }) => input({ _tag: "PromptTooLarge", bytes, limitBytes })),
    // The last entry of the connection says so too, in its place.
    Effect.catchTag("ConnectionClosed", () => Effect.void)
  )

  /** Takes effect at once, like a cancel: a subscriber that stands still does not hold up a deadline. */
  const deadlinePassed = Effect.suspend(() => {
    if (!shared.isAnswered) shared.draining.openUnsafe()
    return tell({ _tag: "Deadline" })
  })

  const writeCancel = Effect.gen(function* () {
    yield* fork(Effect.andThen(Effect.sleep(options.cancelMs), tell({ _tag: "CancelDeadline" })))
    yield* Effect.flatten(connection.notify(agentMethods.sessionCancel, { sessionId: options.agentSessionId }))
  }).pipe(Effect.ignore)

  const endRequests = (how: "cancelled" | "ended") =>
    Effect.forEach(open, (request) => Effect.ignore(request.tell({ _tag: "TurnOver", how })), { discard: true })

  /** If interrupted before it is said, the finalizer says it. */
  const terminal = (outcome: TurnOutcome) =>
    Effect.andThen(
      Effect.forEach(open, (request) => request.watch, { discard: true }),
      Effect.uninterruptible(Effect.andThen(events.terminal(outcome), over(outcome)))
    )

  const over = (outcome: TurnOutcome) =>
    Effect.suspend(() => {
      isOver = true
      Deferred.doneUnsafe(shared.outcome, Exit.succeed(outcome))
      return self.end()
    })

  const undelivered = (count: number) => (count === 0 ? Effect.void : input({ _tag: "EventsUndelivered", count }))

  const feed = Effect.fnUntraced(function* (updates: ReadonlyArray<unknown>, bytes: number) {
    silence.broken(yield* Clock.currentTimeMillis)
    const fed = yield* events.feed(updates, bytes)
    for (const fact of fed.facts) yield* input({ _tag: "Observed", fact })
    yield* undelivered(fed.undelivered)
  })

  const request = Effect.fnUntraced(function* (what: AdmittedRequest, bytes: number) {
    const { requestId } = what.request
    const made = spawnRequest({
      ...what,
      record: (draft) =>
        draft.eventType === "runtime_request.created"
          ? Effect.flatMap(events.append([draft], bytes), undelivered)
          : events.force(draft),
      settled: (tooLate) => options.requests.ended(requestId, what.slot.key, tooLate)
    })
    const ref = yield* Effect.orDie(Effect.provideService(made, Registry, registry))
    open.add(ref)
    options.requests.opened(what.request, what.slot.key, ref)
    const ended = Effect.map(Clock.currentTimeMillis, (now) => {
      silence.broken(now)
      open.delete(ref)
    })
    yield* fork(Effect.andThen(ref.watch, ended))
    yield* Effect.ignore(ref.ask({ _tag: "Open" }))
    if (machine._tag !== "Prompting") yield* endRequests("cancelled")
  })

  /** By a crash; else cancelled by the shutdown that tears it down. Its agent must not go on for nobody. */
  const tornDown = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    if (machine._tag === "Settled") return terminal(machine.outcome)
    if (Exit.isFailure(exit) && Exit.hasDies(exit)) {
      const retired = shared.isPrompted ? connection.retire("retired") : Effect.void
      return Effect.andThen(retired, Effect.ensuring(terminal(crashed), over(crashed)))
    }
    return Effect.andThen(input({ _tag: "CancelRequested", by: "shutdown" }), input({ _tag: "CancelDeadlineFired" }))
  }

  yield* Effect.acquireRelease(events.submitted, (_, exit) =>
    Effect.suspend(() => {
      if (isOver) return Effect.void
      closing = true
      shared.draining.openUnsafe()
      return tornDown(exit)
    })
  )
  yield* fork(silence.watch(() => shared.isPrompted && open.size === 0, tell({ _tag: "Stalled" })))

  const afterStart = <R>(handled: Effect.Effect<void, never, R>) =>
    Effect.suspend(() => (shared.isPrompted ? Effect.andThen(events.started, handled) : handled))
  const answered = (result: unknown) => (result === undefined ? Effect.void : events.answered(result))
  // A response that was taken already decides; its updates and itself are behind us in the queue.
  const unlessAnswered = (what: TurnInput) => Effect.suspend(() => (shared.isAnswered ? Effect.void : input(what)))

  const handlers: Handlers<TurnMessage, Actor.Self | Scope.Scope> = {
    Start: () => input({ _tag: "Submitted" }),
    // The agent's time begins here, however long the turn waited before.
    Prompted: () => afterStart(Effect.map(Clock.currentTimeMillis, silence.broken)),
    Feed: ({ updates, bytes }) => afterStart(feed(updates, bytes)),
    Note: ({ drafts, bytes }) => afterStart(Effect.flatMap(events.append(drafts, bytes), undelivered)),
    Request: (message) => afterStart(request(message.options, message.bytes)),
    Respond: ({ response, result }) =>
      afterStart(Effect.andThen(answered(result), input({ _tag: "ResponseTaken", response }))),
    Died: ({ cause }) => afterStart(input(closedInput(cause))),
    Cancel: ({ by }) => unlessAnswered({ _tag: "CancelRequested", by }),
    Stalled: () => silence.report,
    Deadline: () => unlessAnswered({ _tag: "DeadlineFired" }),
    CancelDeadline: () => unlessAnswered({ _tag: "CancelDeadlineFired" })
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
