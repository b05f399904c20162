/** How a request of the agent ended, and what it was about. */
import { nativeAt } from "../schema/prp/native.ts"
import type { EventPayloads } from "../schema/prp/payload.ts"
import type { Paint } from "./paint.ts"
import type { Question } from "./permissionCard.ts"
import { shownLine } from "./shownText.ts"

/** `denied` is everything that was asked and not allowed. */
export interface RequestCounts {
  readonly asked: number
  readonly allowed: number
  readonly denied: number
}

export interface RequestEnd {
  readonly allowed: boolean
  /** Nobody was there to ask: that must be said. */
  readonly isNotice: boolean
  readonly lines: ReadonlyArray<string>
}

export const requestEnd = (
  payload: EventPayloads["runtime_request.resolved"],
  question: Question | undefined,
  paint: Paint
): RequestEnd => {
  const by = nativeAt(payload, "by")
  const allowed = payload.action === "accept" || payload.action === "accept_always"
  const title = shownLine(question?.title ?? "a request")
  const verdict = `${verdictOf(payload.action)}${reasons[typeof by === "string" ? by : ""] ?? ""}`
  const mark = allowed ? paint.green("?") : paint.yellow("?")
  const command = question?.command === undefined ? "" : shownLine(question.command)
  return {
    allowed,
    isNotice: by === "headless",
    lines: [
      `${mark} ${title}: ${allowed ? verdict : paint.yellow(verdict)}`,
      ...(command === "" || command === title ? [] : [paint.dim(`    $ ${command}`)])
    ]
  }
}

const verdictOf = (action: string | undefined): string => {
  switch (action) {
    case "accept":
      return "allowed"
    case "accept_always":
      return "allowed from now on"
    case "decline":
      return "denied"
    case "select":
      return "answered"
    case "undelivered":
      return "the answer did not reach the agent"
    default:
      return "not allowed"
  }
}

const reasons: Readonly<Record<string, string>> = {
  answer: " by you",
  policy: " by the policy",
  headless: ", because there is no terminal to ask on",
  refused: ", because the request is not valid",
  withdrawn: ", because the agent took it back",
  turn_cancelled: ", because the turn was cancelled",
  turn_ended: ", because the turn is over",
  expired: ", because nobody answered in time"
}
