/** What came of a replay in words that a verdict can be compared with. */
import { isDeepStrictEqual } from "node:util"
import type { ExitFact } from "../../src/schema/errors.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import type { Replayed } from "./replay.ts"
import { isJson } from "./transcript.ts"

export const outcomeText = (outcome: TurnOutcome | undefined): string => {
  if (outcome === undefined) return "no outcome"
  const words = wordsOf(outcome)
  if (outcome.undeliveredEvents > 0) words.push(`${outcome.undeliveredEvents} events undelivered`)
  return words.join(", ")
}

const wordsOf = (outcome: TurnOutcome): Array<string> => {
  switch (outcome._tag) {
    case "Completed":
      return [`completed ${outcome.stopReason}`, outcome.reply === "none" ? "no message" : "message"]
    case "Failed": {
      const { agentError, closeReason, exit, reason } = outcome
      const words = [`failed ${reason}`]
      if (agentError !== undefined) words.push(`error ${agentError.rpcCode}`)
      if (closeReason !== undefined) words.push(closeReason)
      if (exit !== undefined) words.push(exitText(exit))
      return words
    }
    case "Cancelled": {
      const { acknowledged, agentError, by, exit, providerStopReason, written } = outcome
      const words = [`cancelled by ${by}`]
      if (!written) words.push("unwritten")
      else words.push(acknowledged ? `answered ${providerStopReason ?? `error ${agentError?.rpcCode}`}` : "unanswered")
      if (exit !== undefined) words.push(exitText(exit))
      return words
    }
  }
}

export const exitText = (exit: ExitFact): string => {
  switch (exit._tag) {
    case "Code":
      return `code ${exit.code}`
    case "Signal":
      return exit.signal
    case "Unknown":
      return "unknown"
  }
}

/** How each request of the agent ended, in the order in which they came. */
export const requestTexts = ({ events, said, written }: Replayed): ReadonlyArray<string> => {
  const shown = events.flatMap((event) => (event.eventType === "runtime_request.created" ? [event] : []))
  const answers = written.filter((frame) => !("method" in frame))
  return said.flatMap(({ frame }) => {
    if (!("method" in frame) || !("id" in frame)) return []
    const at = shown.findIndex((event) => isDeepStrictEqual(event.debug?.["native"], frame["params"]))
    const [created] = at < 0 ? [] : shown.splice(at, 1)
    if (created !== undefined) return [endText(created.payload.request.requestId, events)]
    const answer = answers.find((one) => one["id"] === frame["id"])
    if (answer === undefined) return ["unanswered"]
    return [isJson(answer["error"]) ? `error ${String(answer["error"]["code"])}` : "cancelled outside a turn"]
  })
}

/** What was done, and who or what did it. */
const endText = (requestId: string, events: ReadonlyArray<Event>): string => {
  const end = events.find((event) => isEnd(event) && field(event, "requestId") === requestId)
  if (end === undefined) return "open"
  const action = field(end, "action")
  return action === "undelivered" ? `undelivered: ${field(end, "reason")}` : `${action} by ${field(end, "by")}`
}

const isEnd = ({ eventType }: Event): boolean =>
  eventType.startsWith("runtime_request.") && eventType !== "runtime_request.created"

const field = ({ payload }: Event, key: string): string => String(new Map(Object.entries(payload)).get(key))
