/**
 * Events of v2 on a connection of v1. The peer would refuse them, and its sequence must not have a gap, so each becomes a
 * placeholder without content at the same number. The last of each kind is kept for a later connection of v2.
 */

import type { AnyEvent } from "../contract/event.ts"

type Event = typeof AnyEvent.Type

/** What a peer of v1 did not see: at most one event of each of the two kinds. */
export interface MissedEvents {
  readonly capabilities: Event | undefined
  readonly goal: Event | undefined
}

export const nothingMissed: MissedEvents = { capabilities: undefined, goal: undefined }

/** The event for a peer of that version, and what such a peer has missed by now. */
export const eventForVersion = (
  version: number,
  event: Event,
  missed: MissedEvents
): { readonly event: Event; readonly missed: MissedEvents } =>
  version >= 2 || event.schemaVersion === 1
    ? { event, missed }
    : { event: placeholderOf(event), missed: withMissed(event, missed) }

/** What to emit again, with fresh ids and numbers, once the connection speaks v2. */
export const missedEvents = ({ capabilities, goal }: MissedEvents): ReadonlyArray<Event> =>
  [capabilities, goal].filter((event) => event !== undefined)

/** Only what places the event: whatever else it holds may be content. */
const placeholderOf = (event: Event): Event => ({
  schema: "paperclip.prp.event.v1",
  schemaVersion: 1,
  sourceEventId: event.sourceEventId,
  sourceSeq: event.sourceSeq,
  sourceInstanceId: event.sourceInstanceId,
  sourceKind: event.sourceKind,
  runId: event.runId,
  ...(event.normalizedSessionId === undefined ? {} : { normalizedSessionId: event.normalizedSessionId }),
  ...(event.turnId === undefined ? {} : { turnId: event.turnId }),
  eventType: "runner.diagnostic",
  priority: event.priority,
  emittedAt: event.emittedAt,
  payload: { code: "event_requires_v2", message: "An event of PRP v2 was left out." }
})

const withMissed = (event: Event, missed: MissedEvents): MissedEvents => {
  switch (event.eventType) {
    case "session.capabilities.updated":
      return { ...missed, capabilities: event }
    case "session.goal.snapshot":
    case "session.goal.updated":
    case "session.goal.cleared":
      return { ...missed, goal: event }
    default:
      return missed
  }
}
