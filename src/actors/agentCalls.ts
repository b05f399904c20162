/**
 * Requests of ours other than the prompt: each waits for its response, which the pump of the session routes here.
 *
 * Guarantees: a call ends with its response, or with the cause of the connection's end. If a call is interrupted, its response
 * is dropped when it comes.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { AgentError, AnswerMalformed, type ConnectionClosed, type FrameTooLarge } from "../schema/errors.ts"
import type { RpcError } from "../schema/acp/frame.ts"
import type { Connection, Entry, Ticket } from "./Connection.ts"

export type Response = Extract<Entry, { readonly _tag: "Response" }>

export type CallError = AgentError | AnswerMalformed | ConnectionClosed | FrameTooLarge

export interface AgentCalls {
  /**
   * Asks the agent and decodes its answer. `atOnce` runs in the step that takes the answer from the queue, before any entry
   * behind it.
   */
  readonly call: <A, I>(
    method: string,
    params: object,
    answer: Schema.Codec<A, I>,
    atOnce?: (value: A) => void
  ) => Effect.Effect<A, CallError>
  /** `false`: no call of ours waits for it. */
  readonly settle: (response: Response) => boolean
  readonly fail: (cause: ConnectionClosed) => void
}

interface Waiting {
  readonly settle: (response: Response) => void
  readonly fail: (cause: ConnectionClosed) => void
}

export const makeAgentCalls = (connection: Connection): AgentCalls => {
  const waiting = new Map<Ticket, Waiting>()

  const call = <A, I>(method: string, params: object, answer: Schema.Codec<A, I>, atOnce?: (value: A) => void) =>
    Effect.suspend(() => {
      const ticket = connection.ticket(method)
      const reply = Deferred.makeUnsafe<A, CallError>()
      const decode = decoded(method, answer)
      waiting.set(ticket, {
        settle: (response) => {
          const result = resultOf(response)
          const value: Exit.Exit<A, AgentError | AnswerMalformed> = Exit.isSuccess(result)
            ? decode(result.value)
            : Exit.failCause(result.cause)
          if (Exit.isSuccess(value) && atOnce !== undefined) atOnce(value.value)
          Deferred.doneUnsafe(reply, value)
        },
        fail: (cause) => Deferred.doneUnsafe(reply, Exit.fail(cause))
      })
      return Effect.andThen(Effect.flatten(connection.request(ticket, params)), Deferred.await(reply)).pipe(
        Effect.ensuring(Effect.sync(() => waiting.delete(ticket)))
      )
    })

  return {
    call,
    settle: (response) => {
      const found = waiting.get(response.ticket)
      waiting.delete(response.ticket)
      found?.settle(response)
      return found !== undefined
    },
    fail: (cause) => {
      for (const one of waiting.values()) one.fail(cause)
      waiting.clear()
    }
  }
}

const decoded = <A, I>(method: string, answer: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownExit(answer)
  return (result: unknown): Exit.Exit<A, AnswerMalformed> =>
    Exit.mapError(decode(result), (error) => new AnswerMalformed({ method, issue: error.message }))
}

/** The result of a response, or what it says instead. */
export const resultOf = ({
  ticket: { method },
  result,
  error,
  malformed
}: Response): Exit.Exit<unknown, AgentError | AnswerMalformed> => {
  if (malformed !== undefined) return Exit.fail(new AnswerMalformed({ method, issue: malformed }))
  return error === undefined ? Exit.succeed(result) : Exit.fail(agentErrorOf(method, error))
}

/** Keeps the agent's words. */
const agentErrorOf = (method: string, error: RpcError): AgentError =>
  new AgentError({
    method,
    rpcCode: error.code,
    rpcMessage: error.message,
    ...(error.data === undefined ? {} : { data: error.data })
  })
