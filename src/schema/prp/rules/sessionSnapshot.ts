/** What a reader of a run's events knows of it, as one value; and the few facts that two readers compare. */
import type { Capabilities } from "../contract/capabilities.ts"
import type { Identity } from "../contract/identity.ts"
import { nativeAt, type NativeObject } from "../native.ts"
import type { SequenceGap } from "./sourceSequence.ts"

export interface TimelineEntry {
  readonly position: number
  readonly sourceEventId: string
  readonly sourceSeq: number
  readonly eventType: string
  readonly emittedAt: string
  readonly itemId?: string
  readonly summary: string
}

export interface ItemState {
  readonly itemId: string
  readonly kind: string
  readonly status: "running" | "completed" | "failed"
  readonly text: string
}

export interface RequestState {
  readonly requestId: string
  readonly requestKind: string
  readonly type: string
  readonly status: string
  readonly prompt: string
}

/** The order of the properties is part of the contract: two snapshots are the same if their texts are. */
export interface SessionSnapshot {
  readonly schema: "paperclip.prp.session-snapshot.v1"
  readonly fixtureName: string
  /** `null`: of events alone, which do not say. */
  readonly identity: Identity | null
  readonly capabilities: Capabilities | null
  readonly runPhase: string
  readonly sessionState: "not_started" | "running" | "closed" | "failed"
  readonly turnState: "not_started" | "running" | "completed" | "failed" | "interrupted" | "cancelled"
  readonly activeTurnId: string | null
  readonly items: ReadonlyArray<ItemState>
  readonly requests: ReadonlyArray<RequestState>
  /** As received: an event of v2 does not type them. */
  readonly proposedResult: NativeObject | null
  readonly terminal: NativeObject | null
  readonly timeline: ReadonlyArray<TimelineEntry>
  readonly sourceCursors: Readonly<Record<string, number>>
  readonly processedEventIds: ReadonlyArray<string>
  readonly duplicateEventIds: ReadonlyArray<string>
  readonly outOfOrderEventIds: ReadonlyArray<string>
  readonly gaps: ReadonlyArray<SequenceGap>
  readonly integrity: "complete" | "gap_detected"
}

export interface ParitySummary {
  readonly runId: string | null
  readonly integrity: SessionSnapshot["integrity"]
  readonly timelineCount: number
  readonly duplicateEventIds: ReadonlyArray<string>
  readonly gaps: ReadonlyArray<SequenceGap>
  readonly turnTerminalState: string | null
  readonly runTerminalState: string | null
}

export const paritySummary = ({
  identity,
  integrity,
  timeline,
  duplicateEventIds,
  gaps,
  terminal
}: SessionSnapshot): ParitySummary => ({
  runId: wordAt(identity, "runId"),
  integrity,
  timelineCount: timeline.length,
  duplicateEventIds,
  gaps,
  turnTerminalState: wordAt(terminal, "turnTerminalState"),
  runTerminalState: wordAt(terminal, "runTerminalState")
})

const wordAt = (value: unknown, name: string): string | null => {
  const word = nativeAt(value, name)
  return typeof word === "string" ? word : null
}

/** As a golden file holds it. */
export const goldenText = (value: SessionSnapshot | ParitySummary): string => `${JSON.stringify(value, null, 2)}\n`
