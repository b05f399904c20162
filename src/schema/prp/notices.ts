/** Notices that the runner records about a session or a turn: what has no typed event of its own. */
import { shortText } from "../characters.ts"
import { stableIdOf } from "../identity.ts"
import { limits } from "../limits.ts"
import { draftOf, type EventDraft } from "./event.ts"

export interface Notice {
  /** Unique within the session. */
  readonly id: string
  readonly category: string
  readonly severity: "info" | "warning" | "error"
  readonly summary: string
  readonly turnId?: string
  readonly itemId?: string
  /** What the agent sent, whole: in process only. */
  readonly native?: unknown
  readonly userActionable?: boolean
}

export const noticeDraft = (notice: Notice): EventDraft =>
  draftOf(
    "provider.notice.recorded",
    {
      schema: "paperclip.provider.notice.v1",
      noticeId: stableIdOf("notice", notice.id),
      severity: notice.severity,
      category: notice.category,
      scope: notice.turnId === undefined ? "session" : "turn",
      recoverable: notice.severity !== "error",
      userActionable: notice.userActionable ?? false,
      summary: shortText(notice.summary, limits.shortTextCharactersMax)
    },
    {
      ...(notice.turnId === undefined ? {} : { turnId: notice.turnId }),
      ...(notice.itemId === undefined ? {} : { itemId: notice.itemId }),
      ...(notice.native === undefined ? {} : { debug: { native: notice.native } })
    }
  )
