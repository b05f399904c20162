/**
 * What the projection remembers between two updates of one turn, or of a session outside its turns. Immutable: one update
 * makes one new state, and an old one can be projected from again.
 *
 * Bounds: one open item with at most `itemTextCharactersMax` of text; `toolCallsMax` open tool calls, each with the end of its
 * output and its bounded changes; as many ids of ended ones.
 */
import { shortText } from "../characters.ts"
import { stableIdOf } from "../identity.ts"
import { limits } from "../limits.ts"
import { draftOf, type Draft, type EventDraft } from "./event.ts"
import type { OpenItem } from "./items.ts"
import type { EmittedEventType, EventPayloads } from "./payload.ts"
import type { ToolCall } from "./tools.ts"

/** What the state belongs to. The id makes minted ids unique: one state per turn, and one per session for the rest. */
export type ProjectionScope =
  | { readonly _tag: "Turn"; readonly turnId: string }
  | { readonly _tag: "Session"; readonly sessionId: string }

export interface ProjectionState {
  /** Of the drafts that are made; `undefined` outside a turn and once the turn has ended. */
  readonly turnId: string | undefined
  /** A stable id from which the ids of items, notices and plans are made. */
  readonly scopeId: string
  readonly provider: string
  readonly model: string | null
  /** The turn has ended. What belongs to a turn is a notice from here on. */
  readonly ended: boolean
  /** What counts as a reply. Usage and updates about the session never do. */
  readonly sawMessage: boolean
  readonly sawThought: boolean
  readonly sawTool: boolean
  readonly sawPlan: boolean
  readonly item: OpenItem | undefined
  readonly itemCount: number
  readonly noticeCount: number
  readonly planRevision: number
  /** By the stable form of the agent's id. */
  readonly tools: ReadonlyMap<string, ToolCall>
  /** How often a call with this id has ended; the one that ended longest ago comes first. */
  readonly endedTools: ReadonlyMap<string, number>
}

/** The next state, and the drafts in order. */
export type Step = readonly [ProjectionState, ReadonlyArray<EventDraft>]

export const initialState = (
  scope: ProjectionScope,
  agent: { readonly provider: string; readonly model: string | null }
): ProjectionState => ({
  turnId: scope._tag === "Turn" ? scope.turnId : undefined,
  scopeId: scopeIdOf(scope),
  provider: shortText(agent.provider, limits.providerNameCharactersMax),
  model: agent.model === null ? null : shortText(agent.model, limits.nameCharactersMax),
  ended: false,
  sawMessage: false,
  sawThought: false,
  sawTool: false,
  sawPlan: false,
  item: undefined,
  itemCount: 0,
  noticeCount: 0,
  planRevision: 0,
  tools: new Map(),
  endedTools: new Map()
})

/** Leaves room for the suffix of a minted id. */
const scopeIdOf = (scope: ProjectionScope): string => {
  const prefix = scope._tag === "Turn" ? "turn" : "session"
  const id = scope._tag === "Turn" ? scope.turnId : scope.sessionId
  return stableIdOf(prefix, id.length <= 128 ? id : `${id} `)
}

/** A draft of this turn or session; `native` puts the agent's update under `debug`. */
export const draftIn = <Type extends EmittedEventType>(
  state: ProjectionState,
  eventType: Type,
  payload: EventPayloads[Type],
  about: { readonly itemId?: string; readonly native?: unknown } = {}
): Draft<Type> =>
  draftOf(eventType, payload, {
    ...(state.turnId === undefined ? {} : { turnId: state.turnId }),
    ...(about.itemId === undefined ? {} : { itemId: about.itemId }),
    ...(about.native === undefined ? {} : { debug: { native: about.native } })
  })
