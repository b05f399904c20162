/** Which events end something. */
import type { Event } from "./event.ts"

const turnTerminals: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.interrupted",
  "turn.cancelled"
])

/** Of every turn exactly one event is a terminal, and it is the last one. */
export const isTurnTerminal = (event: Pick<Event, "eventType">): boolean => turnTerminals.has(event.eventType)
