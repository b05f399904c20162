/**
 * Events of v2 on a connection of v1. The peer would refuse them, and its sequence must not have a gap, so each becomes a
 * placeholder without content at the same number. The last of each kind is kept for a later connection of v2.
 */

/** An event as far as this rule looks at it; everything else in it stays as it is. */
export interface VersionedEvent {
  readonly schema: string
  readonly schemaVersion: number
  readonly eventType: string
  readonly payload: unknown
  readonly debug?: unknown
}

/** What a peer of v1 did not see: at most one event of each of the two kinds. */
export interface MissedEvents<Event> {
  readonly capabilities: Event | undefined
  readonly goal: Event | undefined
}

export const nothingMissed: MissedEvents<never> = { capabilities: undefined, goal: undefined }

/** The event for a peer of that version, and what such a peer has missed by now. */
export const eventForVersion = <Event extends VersionedEvent>(
  version: number,
  event: Event,
  missed: MissedEvents<Event>
): { readonly event: Event | Placeholder<Event>; readonly missed: MissedEvents<Event> } =>
  version >= 2 || event.schemaVersion === 1
    ? { event, missed }
    : { event: placeholderOf(event), missed: withMissed(event, missed) }

/** What to emit again, with fresh ids and numbers, once the connection speaks v2. */
export const missedEvents = <Event>({ capabilities, goal }: MissedEvents<Event>): ReadonlyArray<Event> =>
  [capabilities, goal].filter((event) => event !== undefined)

export type Placeholder<Event> = Omit<Event, keyof VersionedEvent> & typeof redacted

const redacted = {
  schema: "paperclip.prp.event.v1",
  schemaVersion: 1,
  eventType: "runner.diagnostic",
  payload: { code: "event_requires_v2", message: "An event of PRP v2 was left out." }
} as const

const placeholderOf = <Event extends VersionedEvent>({
  schema: _schema,
  schemaVersion: _version,
  eventType: _type,
  payload: _payload,
  debug: _debug,
  ...envelope
}: Event): Placeholder<Event> => ({ ...envelope, ...redacted })

const withMissed = <Event extends VersionedEvent>(event: Event, missed: MissedEvents<Event>): MissedEvents<Event> => {
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
