/**
 * One request of the agent: an actor below its turn that holds the one answer slot and runs the request machine.
 *
 * Guarantees: the agent gets one answer at most, and exactly one while its connection lives, whoever answers first and
 * however the turn ends; what is recorded as resolved was written before. When the actor is stopped, an open request is
 * answered `cancelled`; that is waited for, at most for the write deadline.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { AnswerRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import { requestCreated, requestEnded, requestResolved, requestUndelivered } from "../schema/prp/requestDrafts.ts"
import type { NativeAnswer, PermissionRequest, RequestAnswer } from "../schema/request.ts"
import type { Decision } from "../services/permissionPolicy.ts"
import type { AnswerResult, AnswerSlot, Reply } from "./answerSlot.ts"
import { forkOwned } from "./forkOwned.ts"
import * as Actor from "./kernel/Actor.ts"
import type { Ask, Handlers, Tell } from "./kernel/Message.ts"
import {
  isSettled,
  received,
  type RefusalReason,
  refusalIn,
  type RequestInput,
  type RequestOutput,
  step
} from "./requestState.ts"

export type RequestMessage =
  /** The first message, once the request can be found by its id: only then is it recorded, and somebody may answer. */
  | Tell<"Open">
  | Ask<"Answer", { readonly answer: RequestAnswer }, void, AnswerRefused>
  | Tell<"Withdraw">
  | Tell<"TurnOver", { readonly how: "cancelled" | "ended" }>

export type RuntimeRequest = Actor.ActorRef<RequestMessage>

export interface RequestOptions {
  readonly request: PermissionRequest
  readonly slot: AnswerSlot
  readonly decision: Decision
  /** The first draft opens the request and may wait for subscribers; those that end it never wait. */
  readonly record: (draft: EventDraft) => Effect.Effect<void>
  /** Called in the step that settles the request: why an answer comes too late from now on. */
  readonly settled: (tooLate: RefusalReason) => void
}

/** What the agent asked, its slot, and what the policy made of it. */
export type AdmittedRequest = Pick<RequestOptions, "request" | "slot" | "decision">

export const spawnRequest = (options: RequestOptions) =>
  Actor.spawn<RequestMessage, never, Scope.Scope | Actor.Self>({
    name: `request:${options.request.requestId}`,
    mailbox: { capacity: 16, policy: "suspend" },
    stopWithin: limits.writeMs * 2,
    behaviour: behaviour(options)
  })

const behaviour = Effect.fnUntraced(function* ({ request, slot, decision, record, settled }: RequestOptions) {
  const self = yield* Actor.Self
  const owner = yield* Effect.context<Actor.Self | Scope.Scope>()
  const winner = Deferred.makeUnsafe<void, AnswerRefused>()
  let state = received(request)
  let closing = false

  /** The transition is one synchronous step; its outputs are performed in order. */
  const input = (what: RequestInput): Effect.Effect<void, AnswerRefused> =>
    Effect.suspend(() => {
      const [next, outputs] = step(state, what)
      state = next
      return Effect.andThen(
        Effect.forEach(outputs, perform, { discard: true }),
        Effect.suspend(() => (isSettled(state) ? end : Effect.void))
      )
    })

  const end = Effect.suspend(() => {
    settled(refusalIn(state))
    return self.end()
  })

  const perform = (output: RequestOutput): Effect.Effect<void, AnswerRefused> => {
    switch (output._tag) {
      case "RecordCreated":
        return Effect.andThen(record(requestCreated(request)), internal({ _tag: "Persisted" }))
      case "Show":
        return Effect.void
      case "Write":
        return closing ? write(output.answer) : Effect.provideContext(forkOwned(write(output.answer)), owner)
      case "RecordResolved": {
        const resolution = output.resolution
        const isDecided = resolution.by === "answer" || resolution.by === "policy" || resolution.by === "headless"
        const draft = isDecided ? requestResolved(request, resolution) : requestEnded(request, resolution)
        return Effect.andThen(record(draft), internal({ _tag: "RecordAcknowledged" }))
      }
      case "RecordUndelivered":
        return record(requestUndelivered(request, output.reason, output.resolution))
      case "ConfirmAnswer":
        return Effect.sync(() => void Deferred.doneUnsafe(winner, Exit.void))
      case "FailAnswer":
        return Effect.sync(() => void Deferred.doneUnsafe(winner, Exit.fail(refused(output.reason))))
      case "RefuseAnswer":
        return Effect.fail(refused(output.reason))
    }
  }

  const refused = (reason: AnswerRefused["reason"]) => new AnswerRefused({ requestId: request.requestId, reason })

  /** Inputs of our own are never refused. */
  const internal = (what: RequestInput): Effect.Effect<void> => Effect.orDie(input(what))

  /** Finished even when the actor is being stopped: what was handed out is recorded for what it was. */
  const write = (answer: NativeAnswer): Effect.Effect<void> =>
    Effect.uninterruptible(Effect.flatMap(slot.answer(replyOf(answer)), (result) => internal(writeResult[result])))

  // Runs after the writers of this scope have ended; whatever is still open then is answered here.
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing = true
      return internal({ _tag: "TurnOver", how: "ended" })
    })
  )

  const handlers: Handlers<RequestMessage, Actor.Self | Scope.Scope> = {
    Open: () => internal({ _tag: "Decided", decision }),
    Answer: ({ answer }) => Effect.andThen(input({ _tag: "Answered", answer }), Actor.later(Deferred.await(winner))),
    Withdraw: () => internal({ _tag: "Withdrawn" }),
    TurnOver: ({ how }) => internal({ _tag: "TurnOver", how })
  }
  return handlers
})

const writeResult: Record<AnswerResult, RequestInput> = {
  written: { _tag: "WriteAcknowledged" },
  alreadyAnswered: { _tag: "WriteFailed", reason: "already_answered" },
  connectionDead: { _tag: "WriteFailed", reason: "connection_dead" }
}

const replyOf = (answer: NativeAnswer): Reply => {
  switch (answer._tag) {
    case "Selected":
      return { result: { outcome: { outcome: "selected", optionId: answer.optionId } } }
    case "Cancelled":
      return { result: { outcome: { outcome: "cancelled" } } }
    case "Error":
      return { error: { code: answer.code, message: answer.message } }
  }
}
