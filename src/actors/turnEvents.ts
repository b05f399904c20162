/**
 * The events of one turn: what the agent does, projected and appended in order, and what the runner says of it.
 *
 * Guarantees: `turn.started` comes before anything that the prompt led to; the terminal comes last and closes what is open.
 */
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import { draftOf, type EventDraft } from "../schema/prp/event.ts"
import { initialState, project, type ProjectionState, turnTerminal } from "../schema/prp/projection.ts"
import type { TurnOutcome } from "../schema/turn.ts"
import type { StoredRecord } from "../services/JournalStore.ts"
import type { Journal } from "./Journal.ts"
import type { TurnFact } from "./turnState.ts"

export interface TurnIdentity {
  readonly turnId: string
  readonly runId: string
  readonly sessionId: string
  readonly workspace: string
  readonly agent: { readonly provider: string; readonly model: string | null }
  /** What a journal that keeps anything is to keep with the terminal. */
  readonly recordsOf?: TurnRecords
}

export type TurnRecords = (turnId: string, outcome: TurnOutcome) => ReadonlyArray<StoredRecord>

export interface Fed {
  readonly facts: ReadonlyArray<TurnFact>
  /** Events that some subscriber did not get, because the turn drains. */
  readonly undelivered: number
}

export interface TurnEvents {
  /** Waits for subscribers, unless the turn drains. */
  readonly feed: (updates: ReadonlyArray<unknown>, bytes: number) => Effect.Effect<Fed>
  /** As `feed`, for drafts of the runner; how many some subscriber did not get. */
  readonly append: (drafts: ReadonlyArray<EventDraft>, bytes: number) => Effect.Effect<number>
  /** Always fits. */
  readonly force: (...drafts: ReadonlyArray<EventDraft>) => Effect.Effect<void>
  readonly submitted: Effect.Effect<void>
  /** Once. */
  readonly started: Effect.Effect<void>
  /** The answer of the prompt as it came, behind its updates; always fits. */
  readonly answered: (result: unknown) => Effect.Effect<void>
  readonly terminal: (outcome: TurnOutcome) => Effect.Effect<void>
}

export const makeTurnEvents = (
  journal: Journal["Service"],
  { turnId, runId, sessionId, workspace, agent, recordsOf }: TurnIdentity,
  draining: Latch.Latch
): TurnEvents => {
  let projection = initialState({ _tag: "Turn", turnId }, agent)
  let isStarted = false

  const entry = (drafts: ReadonlyArray<EventDraft>, bytes: number) => ({ runId, sessionId, turnId, drafts, bytes })
  const force = (...drafts: ReadonlyArray<EventDraft>) => journal.force(entry(drafts, 0))
  const append = (drafts: ReadonlyArray<EventDraft>, bytes: number) => journal.append(entry(drafts, bytes), draining)

  const feed = Effect.fnUntraced(function* (updates: ReadonlyArray<unknown>, bytes: number) {
    const before = projection
    const drafts: Array<EventDraft> = []
    for (const update of updates) {
      const [next, made] = project(projection, { _tag: "Update", update, workspace })
      projection = next
      for (const draft of made) drafts.push(draft)
    }
    return { facts: factsSince(before, projection), undelivered: yield* append(drafts, bytes) }
  })

  return {
    feed,
    append,
    force,
    submitted: force(draftOf("turn.submitted", {}, { turnId })),
    started: Effect.suspend(() => {
      if (isStarted) return Effect.void
      isStarted = true
      return force(draftOf("turn.started", {}, { turnId }))
    }),
    answered: (result) =>
      Effect.suspend(() => {
        const [next, drafts] = project(projection, { _tag: "PromptResult", result })
        projection = next
        return drafts.length === 0 ? Effect.void : force(...drafts)
      }),
    terminal: (outcome) =>
      Effect.suspend(() => {
        const [ended, closed] = project(projection, { _tag: "TurnEnded", how: endOf(outcome) })
        projection = ended
        const last = entry([...closed, turnTerminal(turnId, outcome)], 0)
        return journal.force(recordsOf === undefined ? last : { ...last, records: recordsOf(turnId, outcome) })
      })
  }
}

const ends = { Completed: "completed", Failed: "failed", Cancelled: "cancelled" } as const
const endOf = (outcome: TurnOutcome) => ends[outcome._tag]

const factsSince = (before: ProjectionState, now: ProjectionState): ReadonlyArray<TurnFact> => {
  const facts: Array<TurnFact> = []
  if (now.sawMessage && !before.sawMessage) facts.push("message")
  if (now.sawThought && !before.sawThought) facts.push("thought")
  if (now.sawTool && !before.sawTool) facts.push("tool")
  if (now.sawPlan && !before.sawPlan) facts.push("plan")
  return facts
}
