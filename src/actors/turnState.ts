/**
 * The life of one turn, as a reducer. The actor around it performs the outputs in order, at once, before the next input.
 *
 * Guarantees, for any order of inputs: one `Terminal`, at most one `WriteCancel`, neither after the turn settled, and none of
 * them for a turn that was never submitted but the terminal. One point decides between a response and a cancel: whichever
 * input comes first. Open requests are closed before the terminal. Late text never joins: what comes after it changes nothing.
 *
 *
 * | state \ input | Submitted | PromptWritten | CancelRequested | ResponseTaken | ConnectionClosed | DeadlineFired | CancelDeadlineFired |
 * |---|---|---|---|---|---|---|---|
 * | Queued | Dispatching | - | cancelled, unwritten | - | connection_closed | turn_timeout | - |
 * | Dispatching | - | Prompting | cancelled, unwritten | by the response | connection_closed | turn_timeout | - |
 * | Prompting | - | - | Draining | by the response | connection_closed | Draining | - |
 * | Draining | - | - | - | cancelled (or turn_timeout) | cancelled (or turn_timeout) | - | the same, and retire |
 * | Settled (end) | - | retire if settled unwritten, once | - | - | - | - | - |
 *
 * `Dispatching`: a prompt is on its way to the writer. The actor hands a frame over only while the state is `Dispatching` and
 * feeds `PromptWritten` in that same step; should a frame slip out after the turn settled unwritten, its connection is retired,
 * for an agent is then at work for nobody.
 */
import type { CloseReason, ExitFact } from "../schema/errors.ts"
import {
  type AgentErrorFact,
  type CancelledBy,
  stopReasonOf,
  type TurnCancelled,
  type TurnFailed,
  type TurnFailureReason,
  type TurnOutcome
} from "../schema/turn.ts"

/** What the agent did in this turn. Usage and session-level updates are none of them. */
export type TurnFact = "message" | "thought" | "tool" | "plan"

/** Why a turn drains: somebody cancelled it, or its deadline passed. */
export type DrainCause =
  | { readonly _tag: "Cancel"; readonly by: Exclude<CancelledBy, "agent"> }
  | { readonly _tag: "Timeout" }

export type TurnState =
  | { readonly _tag: "Queued" }
  | { readonly _tag: "Dispatching" }
  | { readonly _tag: "Prompting"; readonly facts: ReadonlySet<TurnFact>; readonly undeliveredEvents: number }
  /** The cancel frame went to the writer; nothing but the outcome's details can change any more. */
  | { readonly _tag: "Draining"; readonly cause: DrainCause; readonly undeliveredEvents: number }
  | { readonly _tag: "Settled"; readonly outcome: TurnOutcome; readonly promptWritten: boolean }

/** The response of the prompt, as decoded by the connection. */
export type PromptResponse =
  | { readonly _tag: "Success"; readonly stopReason: string; readonly usage?: unknown }
  | {
      readonly _tag: "Error"
      readonly error: AgentErrorFact
      readonly authRequired: boolean
      readonly classification?: string
    }
  | { readonly _tag: "Malformed"; readonly issue: string }

export type TurnInput =
  | { readonly _tag: "Submitted" }
  /** `handed`: the frame went to the writer. `acknowledged`: the operating system took it, so it was handed before. */
  | { readonly _tag: "PromptWritten"; readonly stage: "handed" | "acknowledged" }
  /** The prompt does not fit into a frame; nothing was written. */
  | { readonly _tag: "PromptTooLarge"; readonly bytes: number; readonly limitBytes: number }
  | { readonly _tag: "Observed"; readonly fact: TurnFact }
  /** Events that the subscriber of a draining turn had no room for. */
  | { readonly _tag: "EventsUndelivered"; readonly count: number }
  | { readonly _tag: "CancelRequested"; readonly by: Exclude<CancelledBy, "agent"> }
  /** Taken from the ordered queue, so all its updates were observed. */
  | { readonly _tag: "ResponseTaken"; readonly response: PromptResponse }
  | {
      readonly _tag: "ConnectionClosed"
      readonly reason: CloseReason
      readonly exit?: ExitFact
      readonly stderrTail?: ReadonlyArray<string>
    }
  | { readonly _tag: "DeadlineFired" }
  | { readonly _tag: "CancelDeadlineFired" }

export type TurnOutput =
  | { readonly _tag: "WritePrompt" }
  /** One `session/cancel` notification. Starts the deadline that ends in `CancelDeadlineFired`. */
  | { readonly _tag: "WriteCancel" }
  /** `TurnOver` for every request of the turn that is open, those that come while it drains included. */
  | { readonly _tag: "AnswerOpenRequestsCancelled"; readonly how: "cancelled" | "ended" }
  | { readonly _tag: "RetireConnection"; readonly reason: "cancel_unacknowledged" }
  | { readonly _tag: "Terminal"; readonly outcome: TurnOutcome }

export type TurnStep = readonly [TurnState, ReadonlyArray<TurnOutput>]

export const queued: TurnState = { _tag: "Queued" }

export const step = (state: TurnState, input: TurnInput): TurnStep => {
  switch (state._tag) {
    case "Queued":
      return input._tag === "Submitted" ? [{ _tag: "Dispatching" }, [{ _tag: "WritePrompt" }]] : unwritten(state, input)
    case "Dispatching":
      if (input._tag === "PromptWritten") return [prompting, []]
      return input._tag === "ResponseTaken" ? whilePrompting(prompting, input) : unwritten(state, input)
    case "Prompting":
      return whilePrompting(state, input)
    case "Draining":
      return whileDraining(state, input)
    case "Settled":
      return input._tag === "PromptWritten" && !state.promptWritten
        ? [{ ...state, promptWritten: true }, [retire]]
        : [state, []]
  }
}

type Prompting = Extract<TurnState, { readonly _tag: "Prompting" }>
type Draining = Extract<TurnState, { readonly _tag: "Draining" }>
type Closed = Extract<TurnInput, { readonly _tag: "ConnectionClosed" }>

const prompting: Prompting = { _tag: "Prompting", facts: new Set(), undeliveredEvents: 0 }
const retire: TurnOutput = { _tag: "RetireConnection", reason: "cancel_unacknowledged" }

/** Nothing of the turn reached the writer, so nothing has to be told to the agent. */
const unwritten = (state: TurnState, input: TurnInput): TurnStep => {
  switch (input._tag) {
    case "CancelRequested":
      return settled(
        { _tag: "Cancelled", by: input.by, acknowledged: false, written: false, undeliveredEvents: 0 },
        false
      )
    case "DeadlineFired":
      return settled(failed("turn_timeout", "the deadline passed before the prompt was written", 0), false)
    case "ConnectionClosed":
      return settled(closedBeforeResponse(input, 0), false)
    case "PromptTooLarge":
      return state._tag === "Dispatching" ? settled(tooLarge(input), false) : [state, []]
    default:
      return [state, []]
  }
}

const whilePrompting = (state: Prompting, input: TurnInput): TurnStep => {
  switch (input._tag) {
    case "Observed":
      return [{ ...state, facts: new Set(state.facts).add(input.fact) }, []]
    case "EventsUndelivered":
      return [counted(state, input.count), []]
    case "CancelRequested":
      return drain(state, { _tag: "Cancel", by: input.by })
    case "DeadlineFired":
      return drain(state, { _tag: "Timeout" })
    case "ResponseTaken":
      return over("ended", responseOutcome(state, input.response))
    case "ConnectionClosed":
      return over("ended", closedBeforeResponse(input, state.undeliveredEvents))
    case "PromptTooLarge":
      return over("ended", tooLarge(input))
    default:
      return [state, []]
  }
}

const whileDraining = (state: Draining, input: TurnInput): TurnStep => {
  switch (input._tag) {
    case "EventsUndelivered":
      return [counted(state, input.count), []]
    case "ResponseTaken":
      return over("cancelled", drained(state, { acknowledged: true, ...answerFacts(input.response) }))
    case "ConnectionClosed":
      return over("cancelled", drained(state, { acknowledged: false, closed: input }))
    case "PromptTooLarge":
      return over("cancelled", drained(state, { acknowledged: false, written: false }))
    case "CancelDeadlineFired":
      return over("cancelled", drained(state, { acknowledged: false }), retire)
    default:
      return [state, []]
  }
}

const counted = <S extends Prompting | Draining>(state: S, count: number): S => ({
  ...state,
  undeliveredEvents: state.undeliveredEvents + count
})

const drain = (state: Prompting, cause: DrainCause): TurnStep => [
  { _tag: "Draining", cause, undeliveredEvents: state.undeliveredEvents },
  [{ _tag: "WriteCancel" }, { _tag: "AnswerOpenRequestsCancelled", how: "cancelled" }]
]

const settled = (outcome: TurnOutcome, promptWritten: boolean): TurnStep => [
  { _tag: "Settled", outcome, promptWritten },
  [{ _tag: "Terminal", outcome }]
]

/** The connection is retired before the terminal lets anybody write the next prompt. */
const over = (how: "cancelled" | "ended", outcome: TurnOutcome, ...before: ReadonlyArray<TurnOutput>): TurnStep => [
  { _tag: "Settled", outcome, promptWritten: true },
  [{ _tag: "AnswerOpenRequestsCancelled", how }, ...before, { _tag: "Terminal", outcome }]
]

const responseOutcome = (state: Prompting, response: PromptResponse): TurnOutcome => {
  const { facts, undeliveredEvents } = state
  switch (response._tag) {
    case "Malformed":
      return failed("answer_malformed", `the answer of the prompt is malformed: ${response.issue}`, undeliveredEvents)
    case "Error": {
      const reason = response.authRequired ? "auth_required" : "agent_error"
      return {
        ...failed(reason, `the agent answered with error ${response.error.rpcCode}`, undeliveredEvents),
        agentError: response.error,
        ...(response.classification === undefined ? {} : { classification: response.classification })
      }
    }
    case "Success": {
      const word = response.stopReason
      const stopReason = stopReasonOf(word)
      if (stopReason === "cancelled") {
        const facts = { acknowledged: true, providerStopReason: word, written: true, undeliveredEvents }
        return { _tag: "Cancelled", by: "agent", ...facts }
      }
      if (stopReason === "refusal") {
        return { ...failed("refused", "the agent refused the prompt", undeliveredEvents), providerStopReason: word }
      }
      if (facts.size === 0) {
        const detail = "the agent reported success without any output"
        return { ...failed("empty_completion", detail, undeliveredEvents), providerStopReason: word }
      }
      return {
        _tag: "Completed",
        stopReason,
        ...(stopReason === "unknown" ? { providerStopReason: word } : {}),
        reply: facts.has("message") ? "message" : "none",
        undeliveredEvents,
        ...(response.usage === undefined ? {} : { usage: response.usage })
      }
    }
  }
}

interface DrainEnd extends Partial<Pick<TurnCancelled, "providerStopReason" | "agentError" | "written">> {
  readonly acknowledged: boolean
  readonly closed?: Closed
}

/** What came back is kept beside our own fact and never changes it. */
const drained = ({ cause, undeliveredEvents }: Draining, end: DrainEnd): TurnOutcome => {
  const { acknowledged, closed, written = true, ...answer } = end
  if (cause._tag === "Timeout") {
    const detail = acknowledged
      ? "the deadline of the turn passed"
      : "the deadline of the turn passed, and no answer came"
    return { ...failed("turn_timeout", detail, undeliveredEvents), ...answer, ...(closed ? closedFacts(closed) : {}) }
  }
  const exit = closed?.exit === undefined ? {} : { exit: closed.exit }
  return { _tag: "Cancelled", by: cause.by, acknowledged, written, undeliveredEvents, ...answer, ...exit }
}

const answerFacts = (response: PromptResponse): Pick<DrainEnd, "providerStopReason" | "agentError"> => {
  switch (response._tag) {
    case "Success":
      return { providerStopReason: response.stopReason }
    case "Error":
      return { agentError: response.error }
    case "Malformed":
      return {}
  }
}

const closedBeforeResponse = (closed: Closed, undeliveredEvents: number): TurnFailed => ({
  ...failed("connection_closed", "the connection ended before the answer of the prompt", undeliveredEvents),
  ...closedFacts(closed)
})

const closedFacts = (closed: Closed): Pick<TurnFailed, "closeReason" | "exit" | "stderrTail"> => ({
  closeReason: closed.reason,
  ...(closed.exit === undefined ? {} : { exit: closed.exit }),
  ...(closed.stderrTail === undefined ? {} : { stderrTail: closed.stderrTail })
})

const tooLarge = (input: Extract<TurnInput, { readonly _tag: "PromptTooLarge" }>): TurnFailed =>
  failed("frame_too_large", `the prompt has ${input.bytes} bytes, a frame at most ${input.limitBytes}`, 0)

const failed = (reason: TurnFailureReason, detail: string, undeliveredEvents: number): TurnFailed => ({
  _tag: "Failed",
  reason,
  detail,
  undeliveredEvents
})
