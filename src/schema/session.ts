/**
 * The protocol of a session, as an rpc group: the kernel calls its handlers directly, and the same group can be served at a
 * boundary. Events do not travel here: they come from the journal.
 */
import * as Schema from "effect/Schema"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import { PromptPart } from "./acp/prompt.ts"
import {
  AgentError,
  AnswerMalformed,
  AnswerRefused,
  ConnectionClosed,
  FrameTooLarge,
  PromptRefused,
  SessionClosed,
  SettingRefused
} from "./errors.ts"
import { RequestAnswer } from "./request.ts"
import { CancelledBy, TurnOutcome } from "./turn.ts"

/** What became of a cancel. `remembered`: no such turn yet; a prompt with this id will end unwritten. */
export const CancelReceipt = Schema.Literals(["cancelling", "ended", "remembered", "idle"])
export type CancelReceipt = typeof CancelReceipt.Type

/** Accepts a prompt: it will be written when the turns before it have ended. The id is minted by the caller. */
export const Prompt = Rpc.make("Prompt", {
  payload: {
    turnId: Schema.String,
    parts: Schema.Array(PromptPart),
    /** Fails the turn with `turn_timeout` this long after its prompt was handed to the agent. Absent: no deadline. */
    deadlineMs: Schema.optionalKey(Schema.Number)
  },
  error: Schema.Union([PromptRefused, SessionClosed])
})

/** The outcome of an accepted turn, once it has ended. */
export const Outcome = Rpc.make("Outcome", {
  payload: { turnId: Schema.String },
  success: TurnOutcome,
  error: SessionClosed
})

/** Cancels one turn, running or queued; without an id the running one. */
export const Cancel = Rpc.make("Cancel", {
  payload: { turnId: Schema.optionalKey(Schema.String), by: CancelledBy },
  success: CancelReceipt
})

/** Answers a request of the agent. Succeeds once the operating system took the answer. */
export const Answer = Rpc.make("Answer", {
  payload: { requestId: Schema.String, answer: RequestAnswer },
  error: AnswerRefused
})

export const SetMode = Rpc.make("SetMode", {
  payload: { modeId: Schema.String },
  error: Schema.Union([SettingRefused, AgentError, AnswerMalformed, FrameTooLarge, ConnectionClosed, SessionClosed])
})

export const SessionRpcs = RpcGroup.make(Prompt, Outcome, Cancel, Answer, SetMode)
