/**
 * What an earlier process left open, and the events that end it: first the requests, then the turns, then the session. Once they
 * are stored nothing of it is open any more.
 */
import * as Schema from "effect/Schema"
import { draftOf, type EventDraft } from "./event.ts"
import { RuntimeRequest } from "./runtimeRequest.ts"
import { turnTerminal } from "./turnTerminal.ts"

/** What is kept of a turn from `turn.submitted` to its terminal. */
export const OpenTurn = Schema.Struct({ runId: Schema.String, sessionId: Schema.String, turnId: Schema.String })
export type OpenTurn = typeof OpenTurn.Type

/** What is kept of a session from its first event to its last, of the run that has it. */
export const OpenSession = Schema.Struct({ runId: Schema.String, sessionId: Schema.String })
export type OpenSession = typeof OpenSession.Type

export interface LeftOpen {
  /** Each with the event that created it. */
  readonly requests: ReadonlyArray<{ readonly created: unknown }>
  readonly records: ReadonlyArray<{ readonly kind: string; readonly value: unknown }>
}

/** What is to be said of one session. */
export interface RecoveryEntry {
  readonly runId: string
  readonly sessionId: string
  readonly drafts: ReadonlyArray<EventDraft>
}

/** In the order in which the sessions were opened. Throws where what was kept is not of our making. */
export const recoveryOf = ({ records, requests }: LeftOpen): ReadonlyArray<RecoveryEntry> => {
  const entries = new Map<string, { runId: string; sessionId: string; drafts: Array<EventDraft> }>()
  const say = (runId: string, sessionId: string, draft: EventDraft) => {
    const key = JSON.stringify([runId, sessionId])
    const entry = entries.get(key) ?? { runId, sessionId, drafts: [] }
    entries.set(key, entry)
    entry.drafts.push(draft)
  }
  const ofKind = <A>(kind: string, decode: (value: unknown) => A): ReadonlyArray<A> =>
    records.filter((record) => record.kind === kind).map(({ value }) => decode(value))

  for (const { created } of requests) {
    const event = decodeCreated(created)
    say(event.runId, event.normalizedSessionId, requestLost(event))
  }
  for (const { runId, sessionId, turnId } of ofKind("turn", decodeTurn)) say(runId, sessionId, turnLost(turnId))
  for (const { runId, sessionId } of ofKind("session", decodeSession)) say(runId, sessionId, sessionLost)
  return [...entries.values()]
}

const Created = Schema.Struct({
  runId: Schema.String,
  normalizedSessionId: Schema.String,
  turnId: Schema.optionalKey(Schema.String),
  payload: Schema.Struct({ request: RuntimeRequest })
})

const decodeCreated = Schema.decodeUnknownSync(Created)
const decodeTurn = Schema.decodeUnknownSync(OpenTurn)
const decodeSession = Schema.decodeUnknownSync(OpenSession)

/** Nobody will answer it: the process that asked is gone. Told again is what was asked, not what it was about: that may be large. */
const requestLost = ({ payload: { request }, turnId }: typeof Created.Type): EventDraft => {
  const { choices, prompt, requestId, requestKind, schema, type } = request
  const asked = {
    schema,
    requestKind,
    requestId,
    type,
    status: "expired",
    prompt,
    ...(choices === undefined ? {} : { choices })
  }
  return draftOf(
    "runtime_request.expired",
    {
      requestId,
      requestKind: "runtime",
      replayAllowed: false,
      request: asked,
      reason: "provider_process_lost"
    },
    turnId === undefined ? {} : { turnId }
  )
}

/** Its items stay as they are: how they would have ended, nobody knows. */
const turnLost = (turnId: string): EventDraft =>
  turnTerminal(turnId, {
    _tag: "Failed",
    reason: "runner_restarted",
    detail: "the process of the runner ended while the turn ran",
    undeliveredEvents: 0
  })

const sessionLost: EventDraft = draftOf("session.failed", {
  code: "provider_process_lost",
  message: "the process of the runner ended, and with it that of the agent",
  reason: "runner_restarted"
})
