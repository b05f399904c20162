/**
 * What must hold of every replay, whatever the agent did: nothing is lost and nothing invented, each prompt has one terminal
 * behind its events, each request of the agent one answer, each turn at most one cancel frame.
 *
 * Not found again, by design: a `user_message_chunk` in a turn (an echo of the prompt), and a `$/cancel_request`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { EmittedEvent, type Event } from "../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import { executionIdOf } from "../../src/schema/prp/tools.ts"
import type { Json } from "../../src/testing/FakeLinks.ts"
import { type Leaves, leavesIn } from "./leaves.ts"
import { keyOf } from "./plan.ts"
import type { Said } from "./player.ts"
import type { Replayed } from "./replay.ts"
import { isJson } from "./transcript.ts"

export interface Checked {
  /** Updates and notifications that were looked for: those of a session that was opened. */
  readonly updates: number
  readonly lost: number
  /** Single values of all that the agent said. */
  readonly leaves: Leaves
  readonly terminals: number
  /** Updates that came after the turn or the tool call that they belong to. */
  readonly late: number
  /** Sentences, empty when all holds. */
  readonly broken: ReadonlyArray<string>
}

export const check = (replayed: Replayed): Checked => {
  const said = saidUpdates(replayed)
  const isOpen = replayed.openError === undefined
  const lost = isOpen ? lostOf(said, replayed) : []
  const leaves = leavesIn(replayed)
  const terminals = replayed.events.filter((event) => isTurnTerminal(event))
  return {
    updates: isOpen ? said.length : 0,
    lost: lost.length,
    leaves,
    terminals: terminals.length,
    late: replayed.events.filter(isLate).length,
    broken: [
      ...replayed.failures,
      ...lost.map(({ line, what }) => `line ${line}: lost: ${what}`),
      ...leaves.lost.map((where) => `a value is in no event: ${where}`),
      ...inventedIn(said, replayed),
      ...turnFaults(replayed),
      ...toolFaults(said, replayed),
      ...requestFaults(replayed),
      ...frameFaults(replayed),
      ...eventFaults(replayed),
      ...endFaults(replayed)
    ]
  }
}

/** What our events are about: an update, or a notification of the agent's own. */
interface SaidUpdate {
  readonly line: number
  readonly what: string
  /** As it stands under `debug.native`. */
  readonly native: unknown
  readonly update: Json | undefined
  readonly turnId: string | undefined
  /** The text that is found in deltas of its turn. */
  readonly text: { readonly kind: string; readonly text: string } | undefined
  readonly isEcho: boolean
}

const textKinds: Readonly<Record<string, string>> = {
  agent_message_chunk: "assistant_message",
  agent_thought_chunk: "reasoning"
}

const saidUpdates = ({ said }: Replayed): ReadonlyArray<SaidUpdate> => {
  const own = said.flatMap(({ frame }) => (isJson(frame["result"]) ? [frame["result"]["sessionId"]] : []))
  const sessionId = own.find((id) => id !== undefined)
  return said.flatMap((step) => saidUpdate(step, sessionId) ?? [])
}

const saidUpdate = ({ frame, line, turn }: Said, sessionId: unknown): SaidUpdate | undefined => {
  const { method, params } = frame
  if (typeof method !== "string" || "id" in frame || method === "$/cancel_request") return undefined
  const update = method === "session/update" && isJson(params) ? params["update"] : undefined
  if (!isJson(params) || !isJson(update)) {
    const native = { method, params }
    return { line, what: method, native, update: undefined, turnId: undefined, text: undefined, isEcho: false }
  }
  const kind = String(update["sessionUpdate"])
  const turnId = turn === undefined || params["sessionId"] !== sessionId ? undefined : `turn-${turn}`
  const itemKind = turnId === undefined ? undefined : textKinds[kind]
  const text = isJson(update["content"]) ? update["content"]["text"] : undefined
  return {
    line,
    what: kind,
    native: update,
    update,
    turnId,
    text: itemKind !== undefined && typeof text === "string" ? { kind: itemKind, text } : undefined,
    isEcho: turnId !== undefined && kind === "user_message_chunk"
  }
}

/** Each update is found once: its text in the deltas of its turn, or itself under `debug.native`. */
const lostOf = (said: ReadonlyArray<SaidUpdate>, { events }: Replayed): ReadonlyArray<SaidUpdate> => {
  const natives = events.filter(carriesNative).map((event) => event.debug?.["native"])
  const deltas = events.flatMap((event) =>
    event.eventType === "item.delta"
      ? [{ turnId: event.turnId, kind: event.payload.kind, text: event.payload.text }]
      : []
  )
  return said.filter(({ native, isEcho, text, turnId }) => {
    if (isEcho || text?.text === "") return false
    if (text === undefined) return !takeFrom(natives, native)
    return !takeFrom(deltas, { turnId, ...text })
  })
}

const takeFrom = (pool: Array<unknown>, wanted: unknown): boolean => {
  const at = pool.findIndex((one) => isDeepStrictEqual(one, wanted))
  if (at >= 0) pool.splice(at, 1)
  return at >= 0
}

/** Every update that is carried whole is carried by one event; a notice that some of it could not be placed is a second. */
const carriesNative = (event: Event): boolean => {
  if (event.debug?.["native"] === undefined || event.eventType === "runtime_request.created") return false
  if (isTurnTerminal(event) || isOfText(event) || isOfResult(event)) return false
  if (event.eventType !== "provider.notice.recorded") return true
  const { category } = event.payload
  const isBesideATool = category === "malformed_update" && nativeText(event, "toolCallId") !== undefined
  return !besideUpdates.has(category) && !isBesideATool
}

/** Notices that carry something, and no update; or one that another event carries too. */
const besideUpdates: ReadonlySet<string> = new Set([
  "request_outside_turn",
  "output_noise",
  "unplaced_change",
  "prompt_result",
  "malformed_result",
  "late_response"
])

/** A text is looked for in the deltas, whatever is carried beside it. */
const isOfText = (event: Event): boolean => event.eventType === "item.delta" && event.payload.content === undefined

const isOfResult = (event: Event): boolean =>
  event.eventType === "usage.reported" && String(payloadField(event, "reason")).startsWith("prompt_result")

const nativeText = (event: Event, key: string): string | undefined => {
  const native = event.debug?.["native"]
  const value = isJson(native) ? native[key] : undefined
  return typeof value === "string" ? value : undefined
}

const isLate = (event: Event): boolean =>
  event.eventType === "provider.notice.recorded" &&
  (event.payload.category === "late_update" || event.payload.category === "late_tool_update")

/** The text of each turn, whole and in order; and no more updates than were said. */
const inventedIn = (said: ReadonlyArray<SaidUpdate>, { events, turns }: Replayed): ReadonlyArray<string> => {
  const broken: Array<string> = []
  for (const { turnId } of turns) {
    for (const kind of Object.values(textKinds)) {
      const wanted = said.flatMap(({ text, turnId: of }) => (of === turnId && text?.kind === kind ? [text.text] : []))
      const found = events.flatMap((event) =>
        event.turnId === turnId && event.eventType === "item.delta" && event.payload.kind === kind
          ? [event.payload.text]
          : []
      )
      if (wanted.join("") !== found.join("")) broken.push(`${turnId}: the ${kind} is not what the agent said`)
    }
  }
  const wanted = said.filter(({ isEcho, text }) => text === undefined && !isEcho).length
  const found = events.filter(carriesNative).length
  if (found > wanted) broken.push(`${found - wanted} events carry an update that the agent did not send`)
  return broken
}

const turnFaults = ({ events, turns }: Replayed): ReadonlyArray<string> =>
  turns.flatMap((turn) => {
    const broken: Array<string> = []
    const own = events.filter((event) => event.turnId === turn.turnId)
    const terminals = own.filter((event) => isTurnTerminal(event))
    if (terminals.length !== 1) broken.push(`${turn.turnId} has ${terminals.length} terminals`)
    if (terminals[0] !== own.at(-1)) broken.push(`${turn.turnId} has events behind its terminal`)
    if (!isDeepStrictEqual(own, turn.events)) broken.push(`${turn.turnId} streamed other events than the runner`)
    return broken
  })

/** Each tool call that was named in a turn is started once and completed once, in this order. */
const toolFaults = (said: ReadonlyArray<SaidUpdate>, { events, turns }: Replayed): ReadonlyArray<string> =>
  turns.flatMap(({ turnId }) => {
    const phases = new Map<string, Array<string>>()
    for (const event of events) {
      if (event.turnId !== turnId || !event.eventType.startsWith("tool.execution.")) continue
      const id = event.itemId ?? ""
      phases.set(id, [...(phases.get(id) ?? []), event.eventType.slice("tool.execution.".length)])
    }
    const named = said.flatMap(({ turnId: of, update }) =>
      of === turnId && typeof update?.["toolCallId"] === "string" ? [executionIdOf(update["toolCallId"])] : []
    )
    const unseen = [...new Set(named)].filter((id) => !phases.has(id))
    const faulty = [...phases].filter(([, list]) => {
      const counts = ["started", "completed"].map((phase) => list.filter((one) => one === phase).length)
      return counts.some((count) => count !== 1) || list[0] !== "started" || list.at(-1) !== "completed"
    })
    return [
      ...unseen.map((id) => `${turnId}: the tool call ${id} was never started`),
      ...faulty.map(([id, list]) => `${turnId}: the tool call ${id} went ${list.join(", ")}`)
    ]
  })

const isRequest = (frame: Json): boolean => "method" in frame && "id" in frame

/** One answer with the id as it came, or a dead connection; and one end of each request that was shown. */
const requestFaults = ({ events, hasDied, said, written }: Replayed): ReadonlyArray<string> => {
  const counts = new Map<string, { asked: number; answered: number }>()
  const countOf = (frame: Json) => {
    const key = keyOf(frame["id"])
    const count = counts.get(key) ?? { asked: 0, answered: 0 }
    counts.set(key, count)
    return count
  }
  for (const { frame } of said) if (isRequest(frame)) countOf(frame).asked++
  for (const frame of written) if (!("method" in frame)) countOf(frame).answered++
  const created = events.filter((event) => event.eventType === "runtime_request.created").length
  const undelivered = events.filter((event) => payloadField(event, "action") === "undelivered").length
  // Of an agent that died only what nobody could deliver, or did not come to, may stay unanswered.
  let excused = hasDied ? undelivered + said.filter(({ frame }) => isRequest(frame)).length - created : 0
  const broken = [...counts].flatMap(([key, { asked, answered }]) => {
    excused -= Math.max(0, asked - answered)
    return answered > asked || excused < 0 ? [`the request ${key} was answered ${answered} times`] : []
  })
  const ends = (requestId: string) =>
    events.filter((event) => requestEnds.has(event.eventType) && payloadField(event, "requestId") === requestId).length
  for (const event of events) {
    if (event.eventType !== "runtime_request.created") continue
    const { requestId } = event.payload.request
    if (ends(requestId) !== 1) broken.push(`the request ${requestId} ended ${ends(requestId)} times`)
  }
  return broken
}

const requestEnds: ReadonlySet<string> = new Set([
  "runtime_request.resolved",
  "runtime_request.cancelled",
  "runtime_request.expired"
])

const payloadField = ({ payload }: Event, key: string): unknown => new Map(Object.entries(payload)).get(key)

const hostMethods = new Map([
  ["initialize", 1],
  ["session/new", 1],
  ["session/set_mode", Infinity]
])

/** Our host writes nothing but what its part consists of, and one cancel for a turn. */
const frameFaults = ({ turns, written }: Replayed): ReadonlyArray<string> => {
  const bounds = new Map([...hostMethods, ["session/prompt", turns.length], ["session/cancel", turns.length]])
  const broken: Array<string> = []
  const counts = new Map<string, number>()
  let sincePrompt = 0
  for (const { method } of written) {
    if (typeof method !== "string") continue
    counts.set(method, (counts.get(method) ?? 0) + 1)
    if (method === "session/prompt") sincePrompt = 0
    if (method === "session/cancel" && ++sincePrompt > 1) broken.push("two cancel frames of one turn")
  }
  for (const [method, count] of counts)
    if (count > (bounds.get(method) ?? 0)) broken.push(`${count} frames of ${method} were written`)
  return broken
}

/** Plain answers: what the schemas say of the type would be worked out for each event type against each other. */
const isEmitted: (value: unknown) => boolean = Schema.is(EmittedEvent)

const refusalOf = (value: unknown): string | undefined => {
  const decoded = decodePrp("event", value)
  if (Result.isSuccess(decoded)) return undefined
  return decoded.failure.issues.map(({ expectation, path }) => `${path}: ${expectation}`).join("; ")
}

const eventFaults = ({ events }: Replayed): ReadonlyArray<string> =>
  events.flatMap((event, index) => {
    const broken: Array<string> = []
    if (event.sourceSeq !== index + 1) broken.push(`event ${index + 1} has the number ${event.sourceSeq}`)
    const refusal = refusalOf(event)
    if (refusal !== undefined) broken.push(`event ${event.sourceSeq} is not valid: ${refusal}`)
    else if (!isEmitted(event)) broken.push(`event ${event.sourceSeq} is not as ours are`)
    return broken
  })

const endFaults = ({ openRequests }: Replayed): ReadonlyArray<string> =>
  openRequests > 0 ? [`${openRequests} requests are open at the end`] : []
