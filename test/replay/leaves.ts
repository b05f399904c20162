/**
 * Where every single value that an agent said has gone: carried whole by an event under `debug.native`, told in a typed
 * payload, or left out for a reason that stands here. Anything else is lost.
 */
import { isDeepStrictEqual } from "node:util"
import type { Event } from "../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import type { Json } from "../../src/testing/FakeLinks.ts"
import type { Said } from "./player.ts"
import type { Replayed } from "./replay.ts"
import { isJson } from "./transcript.ts"

export interface Leaves {
  readonly all: number
  readonly carried: number
  readonly told: number
  readonly leftOut: number
  /** `line 7: session/update agent_message_chunk content.text`. */
  readonly lost: ReadonlyArray<string>
}

/** The only values that may be in no event at all. */
const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/^user_message_chunk /, "an echo of the prompt, which the host has sent itself"],
  [/^\$\/cancel_request /, "withdraws a request, whose end is an event"],
  [/^(?:fs|terminal)\//, "a method that is offered to no agent, and answered with an error by the connection"]
]

export const leavesIn = (replayed: Replayed): Leaves => {
  const natives = new Set(replayed.events.flatMap(nativesOf))
  const said = replayed.openError === undefined ? replayed.said.flatMap(spokenIn) : []
  const turns = Map.groupBy(replayed.events, ({ turnId }) => turnId)
  let [all, carried, told, leftOut] = [0, 0, 0, 0]
  const lost: Array<string> = []
  for (const one of said) {
    const leaves = leavesOf(one.value)
    const isCarried = natives.has(JSON.stringify(one.value))
    all += leaves.length
    if (isCarried) carried += leaves.length
    else {
      const events = turns.get(one.turnId) ?? []
      for (const leaf of leaves) {
        if (isTold(one, leaf, events)) told++
        else if (reasons.some(([pattern]) => pattern.test(`${one.kind} ${leaf.path}`))) leftOut++
        else lost.push(`line ${one.line}: ${one.kind} ${leaf.path}`)
      }
    }
  }
  return { all, carried, told, leftOut, lost }
}

/** What a late answer says stands in its notice by its name. */
const nativesOf = ({ debug }: Event): ReadonlyArray<string> => {
  const native = debug?.["native"]
  if (native === undefined) return []
  const inner = isJson(native) ? ["result", "error"].flatMap((key) => (key in native ? [native[key]] : [])) : []
  return [native, ...inner].map((value) => JSON.stringify(value))
}

interface Spoken {
  readonly line: number
  readonly kind: string
  readonly turnId: string | undefined
  readonly value: unknown
}

/** Updates, requests, notifications, and the answers of prompts. The other answers are not the projection's. */
const spokenIn = ({ frame, line, turn }: Said): ReadonlyArray<Spoken> => {
  const { error, method, params, result } = frame
  const about = { line, turnId: turn === undefined ? undefined : `turn-${turn}` }
  if (method === "session/update" && isJson(params) && isJson(params["update"])) {
    return [{ ...about, kind: String(params["update"]["sessionUpdate"]), value: params["update"] }]
  }
  if (typeof method === "string") {
    return [{ ...about, kind: method, value: "id" in frame ? params : { method, params } }]
  }
  if (turn === undefined) return []
  if (isJson(result) && "stopReason" in result) return [{ ...about, kind: "prompt result", value: result }]
  return isJson(error) ? [{ ...about, kind: "prompt error", value: error }] : []
}

interface Leaf {
  readonly path: string
  readonly value: unknown
}

/** `null` and what is empty say nothing. */
const leavesOf = (value: unknown, path = ""): ReadonlyArray<Leaf> => {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((inner: unknown, index) => leavesOf(inner, `${path}[${index}]`))
  if (typeof value !== "object") return [{ path, value }]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === "" ? key : `${path}.${key}`))
}

const itemKinds: Readonly<Record<string, string>> = {
  agent_message_chunk: "assistant_message",
  agent_thought_chunk: "reasoning"
}

/** In a typed payload of the turn, at the place where `docs/projection.md` says. */
const isTold = ({ kind, value }: Spoken, leaf: Leaf, events: ReadonlyArray<Event>): boolean => {
  if (kind === "prompt result")
    return leaf.path === "stopReason" && events.some((event) => tellsStop(event, leaf.value))
  if (kind === "prompt error") return events.some((event) => isTurnTerminal(event) && tellsError(event, value))
  const itemKind = itemKinds[kind]
  if (itemKind === undefined) return false
  const deltas = events.filter((event) => event.eventType === "item.delta" && event.payload.kind === itemKind)
  switch (leaf.path) {
    case "sessionUpdate":
      return events.some((event) => event.eventType === "item.started" && event.payload.kind === itemKind)
    case "messageId":
      return events.some((event) => event.eventType === "item.started" && event.payload.messageId === leaf.value)
    case "content.type":
      return leaf.value === "text" && isTextOnly(value)
    case "content.text":
      return (
        leaf.value === "" || deltas.some((event) => new Map(Object.entries(event.payload)).get("text") === leaf.value)
      )
    default:
      return false
  }
}

const isTextOnly = (value: unknown): boolean =>
  isJson(value) && isJson(value["content"]) && typeof value["content"]["text"] === "string"

/** Whole, by our names of its fields. */
const tellsError = ({ debug }: Event, error: unknown): boolean => {
  const native = debug?.["native"]
  if (!isJson(error) || !isJson(native)) return false
  const { code, data, message } = error
  return isDeepStrictEqual(native["error"], {
    rpcCode: code,
    rpcMessage: message,
    ...(data === undefined ? {} : { data })
  })
}

const tellsStop = (event: Event, stopReason: unknown): boolean => {
  if (!isTurnTerminal(event)) return false
  const payload: Json = Object.fromEntries(Object.entries(event.payload))
  return payload["stopReason"] === stopReason || payload["providerStopReason"] === stopReason
}
