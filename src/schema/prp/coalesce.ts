/** Pieces of streamed text that come together, as fewer and longer pieces: what is lost is only where they were cut. */
import { limits } from "../limits.ts"
import type { EventDraft } from "./event.ts"

/**
 * Adjacent deltas of one item as one, up to `deltaCharactersMax`. A delta that says anything but text stays by itself, and so
 * does everything else.
 */
export const coalesced = (drafts: ReadonlyArray<EventDraft>): ReadonlyArray<EventDraft> => {
  if (drafts.length < 2) return drafts
  const made: Array<EventDraft> = []
  let open: Piece | undefined
  let text = ""
  const close = () => {
    if (open !== undefined)
      made.push(text === open.payload.text ? open : { ...open, payload: { ...open.payload, text } })
    open = undefined
  }
  for (const draft of drafts) {
    if (!isPiece(draft)) {
      close()
      made.push(draft)
    } else if (open !== undefined && continues(open, draft) && fits(text, draft.payload.text)) {
      text += draft.payload.text
    } else {
      close()
      open = draft
      text = draft.payload.text
    }
  }
  close()
  return made
}

type Piece = EventDraft & { readonly eventType: "item.delta" }

const isPiece = (draft: EventDraft): draft is Piece => {
  if (draft.eventType !== "item.delta" || draft.debug !== undefined) return false
  for (const key in draft.payload) if (key !== "kind" && key !== "text") return false
  return true
}

const continues = (open: Piece, next: Piece): boolean =>
  open.itemId === next.itemId && open.turnId === next.turnId && open.payload.kind === next.payload.kind

/** Units are at least as many as characters. */
const fits = (text: string, more: string): boolean => text.length + more.length <= limits.deltaCharactersMax
