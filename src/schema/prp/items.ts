/**
 * Messages and thoughts as items: started once, a delta per chunk, completed with the whole text. ACP has no end of a
 * message, so an item ends when the kind or the message id changes, or with its turn. A tool call is no boundary.
 *
 * This is the hot path: a chunk that continues the open item costs a handful of small objects and one look at its characters.
 */
import { characterCount, endsInHalf, firstCharacters, shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { EventDraft } from "./event.ts"
import { mediaOf } from "./media.ts"
import { isAbsent, isNativeObject, type NativeObject } from "./native.ts"
import { projectMalformed } from "./updateNotice.ts"
import type { ItemKind } from "./payload.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"

export interface OpenItem {
  readonly itemId: string
  readonly kind: ItemKind
  readonly messageId: string | undefined
  /** At most `itemTextCharactersMax` characters; `characters` counts all of them. */
  readonly text: string
  readonly characters: number
  /** The first half of a character whose second half may come with the next chunk, else empty. */
  readonly half: string
}

export const projectChunk = (state: ProjectionState, kind: ItemKind, update: NativeObject): Step => {
  const content = update["content"]
  if (!isNativeObject(content)) return projectMalformed(state, update)
  const text = content["text"]
  if (content["type"] !== "text") return projectMedia(state, kind, update, content)
  if (typeof text !== "string") return projectMalformed(state, update)
  const item = state.item
  const step =
    item !== undefined && item.kind === kind && item.messageId === messageIdOf(update)
      ? appendText(state, item, text)
      : after(startItem(state, kind, update), (next, opened) => appendText(next, opened, text))
  return isPlain(update, content) ? step : withNative(step, update)
}

/** Whether the text, the kind and the message id are all that the chunk says. */
const isPlain = (update: NativeObject, content: NativeObject): boolean => {
  for (const key in update) {
    if (key === "sessionUpdate" || key === "content") continue
    if (key === "messageId" ? !isShown(update[key]) : !isAbsent(update[key])) return false
  }
  for (const key in content) {
    if (key !== "type" && key !== "text" && !isAbsent(content[key])) return false
  }
  return true
}

/** Absent, or whole in the event that starts the item. */
const isShown = (messageId: unknown): boolean =>
  isAbsent(messageId) ||
  (typeof messageId === "string" && messageId !== "" && messageId.length <= limits.nameCharactersMax)

/** The first delta of the chunk carries it, an empty one where its text has made none. */
const withNative = ([state, drafts]: Step, native: NativeObject): Step => {
  const first = drafts.findIndex((draft) => draft.eventType === "item.delta" && draft.itemId === state.item?.itemId)
  const carrier = drafts[first] ?? (state.item === undefined ? undefined : delta(state, state.item, ""))
  if (carrier === undefined) return [state, drafts]
  const carried = { ...carrier, debug: { native } }
  return [state, first < 0 ? [...drafts, carried] : drafts.with(first, carried)]
}

/** An echo of the prompt, or a replayed one: not output of the agent, but the end of what it said before. */
export const projectUserChunk = (state: ProjectionState, update: NativeObject): Step =>
  isNativeObject(update["content"]) ? closeItem(state, "completed") : projectMalformed(state, update)

/** Closes the open item, if there is one: at a boundary or because of how its turn ended. */
export const closeItem = (state: ProjectionState, how: "completed" | "failed" | "cancelled"): Step => {
  if (state.item === undefined) return [state, []]
  const [flushed, drafts] =
    state.item.half === "" ? [state, []] : appendPiece(state, { ...state.item, half: "" }, "\ufffd")
  const item = flushed.item ?? state.item
  const end = {
    kind: item.kind,
    text: item.text,
    textCharacters: item.characters,
    textTruncated: item.characters > limits.itemTextCharactersMax
  }
  return [{ ...flushed, item: undefined }, [...drafts, itemEnd(flushed, item.itemId, end, how)]]
}

interface ItemEnd {
  readonly kind: ItemKind
  readonly text: string
  readonly textCharacters: number
  readonly textTruncated: boolean
}

const itemEnd = (
  state: ProjectionState,
  itemId: string,
  end: ItemEnd,
  how: "completed" | "failed" | "cancelled"
): EventDraft => {
  if (how === "completed") return draftIn(state, "item.completed", { ...end, status: "completed" }, { itemId })
  if (how === "cancelled") {
    return draftIn(state, "item.completed", { ...end, status: "interrupted", closedBy: "runner" }, { itemId })
  }
  const message = "The turn failed while this item was open."
  return draftIn(state, "item.failed", { ...end, status: "failed", closedBy: "runner", message }, { itemId })
}

const messageIdOf = (update: NativeObject): string | undefined => {
  const messageId = update["messageId"]
  return typeof messageId === "string" && messageId !== "" ? messageId : undefined
}

interface Started {
  readonly state: ProjectionState
  readonly item: OpenItem
  readonly drafts: ReadonlyArray<EventDraft>
}

/** Closes what is open and starts the item that the chunk belongs to. */
const startItem = (state: ProjectionState, kind: ItemKind, update: NativeObject): Started => {
  const [closed, drafts] = closeItem(state, "completed")
  const itemCount = closed.itemCount + 1
  const itemId = `${closed.scopeId}.item-${itemCount}`
  const messageId = messageIdOf(update)
  const item: OpenItem = { itemId, kind, messageId, text: "", characters: 0, half: "" }
  const shown = messageId === undefined ? {} : { messageId: shortText(messageId, limits.nameCharactersMax) }
  const started = draftIn(closed, "item.started", { kind, text: "", ...shown }, { itemId })
  return { state: { ...closed, item, itemCount }, item, drafts: [...drafts, started] }
}

const after = (started: Started, then: (state: ProjectionState, item: OpenItem) => Step): Step => {
  const [state, drafts] = then(started.state, started.item)
  return [state, [...started.drafts, ...drafts]]
}

const appendText = (state: ProjectionState, item: OpenItem, chunk: string): Step => {
  const text = item.half === "" ? chunk : item.half + chunk
  const cut = endsInHalf(text) ? text.length - 1 : text.length
  const half = text.slice(cut)
  const continued = half === item.half ? item : { ...item, half }
  return cut === 0
    ? [{ ...state, item: continued }, []]
    : appendPiece(state, continued, text.slice(0, cut).toWellFormed())
}

/** `piece` is not empty. */
const appendPiece = (state: ProjectionState, item: OpenItem, piece: string): Step => {
  const characters = characterCount(piece)
  const room = limits.itemTextCharactersMax - item.characters
  const kept = characters <= room ? piece : room <= 0 ? "" : firstCharacters(piece, room)
  const next: ProjectionState = {
    ...state,
    sawMessage: state.sawMessage || item.kind === "assistant_message",
    sawThought: state.sawThought || item.kind === "reasoning",
    item: { ...item, text: item.text + kept, characters: item.characters + characters }
  }
  return [next, characters <= limits.deltaCharactersMax ? [delta(state, item, piece)] : deltas(state, item, piece)]
}

/** Written out, because this is where the time goes. */
const delta = (state: ProjectionState, item: OpenItem, text: string): EventDraft =>
  state.turnId === undefined
    ? { eventType: "item.delta", itemId: item.itemId, priority: 2, payload: { kind: item.kind, text } }
    : {
        eventType: "item.delta",
        turnId: state.turnId,
        itemId: item.itemId,
        priority: 2,
        payload: { kind: item.kind, text }
      }

const deltas = (state: ProjectionState, item: OpenItem, text: string): ReadonlyArray<EventDraft> => {
  const drafts: Array<EventDraft> = []
  for (let rest = text; rest !== "";) {
    const piece = firstCharacters(rest, limits.deltaCharactersMax)
    drafts.push(delta(state, item, piece))
    rest = rest.slice(piece.length)
  }
  return drafts
}

/** An image, a link, or content of a kind that is not known: named, with the whole update beside. */
const projectMedia = (state: ProjectionState, kind: ItemKind, update: NativeObject, content: NativeObject): Step => {
  const type = content["type"]
  if (typeof type !== "string" || type === "") return projectMalformed(state, update)
  const continues = state.item?.kind === kind && state.item.messageId === messageIdOf(update)
  const started =
    continues && state.item !== undefined ? { state, item: state.item, drafts: [] } : startItem(state, kind, update)
  return after(started, (opened, item) => {
    const payload = { kind, text: "", content: mediaOf(type, content) }
    const next = {
      ...opened,
      sawMessage: opened.sawMessage || kind === "assistant_message",
      sawThought: opened.sawThought || kind === "reasoning"
    }
    return [next, [draftIn(opened, "item.delta", payload, { itemId: item.itemId, native: update })]]
  })
}
