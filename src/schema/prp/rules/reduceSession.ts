/**
 * The events of a run reduced to what they tell of its session. An event that comes again changes nothing; one that comes too
 * late is noted and left out; what is missing before an event is noted, and the event taken.
 *
 * Total on events of the contract, whatever their payloads, and proportional to them.
 */
import type { Capabilities } from "../contract/capabilities.ts"
import type { Identity } from "../contract/identity.ts"
import { projectEvent, type ProjectedEvent, type Projection } from "./projectEvent.ts"
import type { SessionSnapshot, TimelineEntry } from "./sessionSnapshot.ts"
import { type SequencedEvent, type SequenceGap, sequenceVerdict } from "./sourceSequence.ts"
import { timelineSummary, wordAt } from "./timelineSummary.ts"

/** An event as far as it is looked at. */
export interface ReplayedEvent extends SequencedEvent, ProjectedEvent {
  readonly emittedAt: string
}

/** A run of which no event is known yet. */
export const emptySession = (
  fixtureName: string,
  identity: Identity | null,
  capabilities: Capabilities | null
): SessionSnapshot => ({
  schema: "paperclip.prp.session-snapshot.v1",
  fixtureName,
  identity,
  capabilities,
  runPhase: "queued",
  sessionState: "not_started",
  turnState: "not_started",
  activeTurnId: null,
  items: [],
  requests: [],
  proposedResult: null,
  terminal: null,
  timeline: [],
  sourceCursors: {},
  processedEventIds: [],
  duplicateEventIds: [],
  outOfOrderEventIds: [],
  gaps: [],
  integrity: "complete"
})

/** The snapshot after one more batch of events. Which events came more than once is told of each batch by itself. */
export const reduceSession = (snapshot: SessionSnapshot, events: ReadonlyArray<ReplayedEvent>): SessionSnapshot => {
  const work = workOn(snapshot)
  for (const event of events) take(work, event)
  return {
    ...snapshot,
    runPhase: work.runPhase,
    sessionState: work.sessionState,
    turnState: work.turnState,
    activeTurnId: work.activeTurnId,
    items: [...work.items.values()],
    requests: [...work.requests.values()],
    proposedResult: work.proposedResult,
    terminal: work.terminal,
    timeline: work.timeline,
    sourceCursors: Object.fromEntries(work.cursors),
    processedEventIds: [...work.taken],
    duplicateEventIds: [...new Set([...snapshot.duplicateEventIds, ...repeatedIds(events)])].sort(),
    outOfOrderEventIds: [...work.late],
    gaps: work.gaps,
    integrity: work.gaps.length > 0 || work.late.size > 0 ? "gap_detected" : "complete"
  }
}

/** The events of a whole fixture. */
export const reduceFixture = (fixture: {
  readonly name: string
  readonly identity: Identity
  readonly capabilities: Capabilities
  readonly events: ReadonlyArray<ReplayedEvent>
}): SessionSnapshot => reduceSession(emptySession(fixture.name, fixture.identity, fixture.capabilities), fixture.events)

interface Work extends Projection {
  readonly timeline: Array<TimelineEntry>
  readonly cursors: Map<string, number>
  readonly taken: Set<string>
  readonly late: Set<string>
  readonly gaps: Array<SequenceGap>
}

const workOn = (snapshot: SessionSnapshot): Work => ({
  runPhase: snapshot.runPhase,
  sessionState: snapshot.sessionState,
  turnState: snapshot.turnState,
  activeTurnId: snapshot.activeTurnId,
  proposedResult: snapshot.proposedResult,
  terminal: snapshot.terminal,
  items: new Map(snapshot.items.map((item) => [item.itemId, item])),
  requests: new Map(snapshot.requests.map((request) => [request.requestId, request])),
  timeline: [...snapshot.timeline],
  cursors: new Map(Object.entries(snapshot.sourceCursors)),
  taken: new Set(snapshot.processedEventIds),
  late: new Set(snapshot.outOfOrderEventIds),
  gaps: [...snapshot.gaps]
})

const repeatedIds = (events: ReadonlyArray<ReplayedEvent>): ReadonlySet<string> => {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { sourceEventId } of events) (seen.has(sourceEventId) ? repeated : seen).add(sourceEventId)
  return repeated
}

const take = (work: Work, event: ReplayedEvent): void => {
  const verdict = sequenceVerdict(work.taken, work.cursors, event)
  switch (verdict._tag) {
    case "Duplicate":
      return
    case "OutOfOrder":
      work.late.add(event.sourceEventId)
      return
    case "Next":
      if (verdict.gap !== undefined) work.gaps.push(verdict.gap)
      work.cursors.set(verdict.sourceKey, event.sourceSeq)
      work.taken.add(event.sourceEventId)
      work.timeline.push(timelineEntry(work, event))
      projectEvent(work, event)
  }
}

const timelineEntry = (work: Work, event: ReplayedEvent): TimelineEntry => ({
  position: work.timeline.length + 1,
  sourceEventId: event.sourceEventId,
  sourceSeq: event.sourceSeq,
  eventType: event.eventType,
  emittedAt: event.emittedAt,
  ...(event.itemId === undefined ? {} : { itemId: event.itemId }),
  summary: timelineSummary(event.eventType, event.payload, work.requests.get(wordAt(event.payload, "requestId") ?? ""))
})
