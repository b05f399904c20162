/**
 * The order of events. Each source numbers its own, contiguously from 1; delivery is at least once, so an event may come again,
 * and a source that lost some leaves a gap.
 */
import { limits } from "../../limits.ts"

/** What of an event says where it belongs. */
export interface SequencedEvent {
  readonly sourceEventId: string
  readonly sourceSeq: number
  readonly sourceKind: string
  readonly sourceInstanceId: string
}

/** Numbers that were skipped: all are counted, the first `listedMissingMax` are listed. */
export interface SequenceGap {
  readonly sourceKey: string
  readonly expected: number
  readonly received: number
  readonly missingCount: number
  readonly missing: ReadonlyArray<number>
  readonly truncated: boolean
}

export type SequenceVerdict =
  /** The same event was taken before. */
  | { readonly _tag: "Duplicate" }
  /** Another event was taken at this number, or after it. */
  | { readonly _tag: "OutOfOrder"; readonly sourceKey: string }
  /** To be taken; `gap` says what is missing before it. */
  | { readonly _tag: "Next"; readonly sourceKey: string; readonly gap: SequenceGap | undefined }

export const sourceKeyOf = (event: Pick<SequencedEvent, "sourceKind" | "sourceInstanceId">): string =>
  `${event.sourceKind}:${event.sourceInstanceId}`

/** Judges an event by the ids that were taken and the last number taken of each source. */
export const sequenceVerdict = (
  taken: ReadonlySet<string>,
  cursors: ReadonlyMap<string, number>,
  event: SequencedEvent
): SequenceVerdict => {
  if (taken.has(event.sourceEventId)) return { _tag: "Duplicate" }
  const sourceKey = sourceKeyOf(event)
  const expected = (cursors.get(sourceKey) ?? 0) + 1
  if (event.sourceSeq < expected) return { _tag: "OutOfOrder", sourceKey }
  const gap = event.sourceSeq > expected ? gapBefore(sourceKey, expected, event.sourceSeq) : undefined
  return { _tag: "Next", sourceKey, gap }
}

const gapBefore = (sourceKey: string, expected: number, received: number): SequenceGap => {
  const missingCount = received - expected
  const listed = Math.min(missingCount, limits.listedMissingMax)
  return {
    sourceKey,
    expected,
    received,
    missingCount,
    missing: Array.from({ length: listed }, (_, index) => expected + index),
    truncated: listed < missingCount
  }
}
