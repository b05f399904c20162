/** The one event that ends a turn. */
import { shortText } from "../characters.ts"
import type { ExitFact } from "../errors.ts"
import { limits } from "../limits.ts"
import type { AgentErrorFact, TurnCancelled, TurnCompleted, TurnFailed, TurnOutcome } from "../turn.ts"
import { draftOf, type EventDraft } from "./event.ts"
import { processExitOf } from "./sessionDrafts.ts"

/** Exactly one draft for every outcome. Words of the agent are bounded here and whole in `debug.native`. */
export const turnTerminal = (turnId: string, outcome: TurnOutcome): EventDraft => {
  switch (outcome._tag) {
    case "Completed":
      return completed(turnId, outcome)
    case "Failed":
      return failed(turnId, outcome)
    case "Cancelled":
      return cancelled(turnId, outcome)
  }
}

const completed = (turnId: string, outcome: TurnCompleted): EventDraft =>
  draftOf(
    "turn.completed",
    {
      status: "completed",
      stopReason: outcome.stopReason,
      ...providerStopReason(outcome),
      reply: outcome.reply,
      undeliveredEvents: outcome.undeliveredEvents
    },
    { turnId, ...(outcome.usage === undefined ? {} : { debug: { native: { usage: outcome.usage } } }) }
  )

const failed = (turnId: string, outcome: TurnFailed): EventDraft =>
  draftOf(
    "turn.failed",
    {
      status: "failed",
      reason: outcome.reason,
      message: short(outcome.detail),
      ...(outcome.classification
        ? { classification: shortText(outcome.classification, limits.nameCharactersMax) }
        : {}),
      ...agentError(outcome.agentError),
      ...providerStopReason(outcome),
      ...(outcome.closeReason === undefined ? {} : { closeReason: outcome.closeReason }),
      ...exit(outcome.exit),
      ...(outcome.stderrTail === undefined
        ? {}
        : { stderrTail: outcome.stderrTail.slice(-limits.stderrTailLinesMax).map(short) }),
      undeliveredEvents: outcome.undeliveredEvents
    },
    { turnId, ...native(outcome.agentError) }
  )

const cancelled = (turnId: string, outcome: TurnCancelled): EventDraft => {
  const payload = {
    reason: reasons[outcome.by],
    by: outcome.by,
    acknowledged: outcome.acknowledged,
    written: outcome.written,
    ...providerStopReason(outcome),
    ...agentError(outcome.agentError),
    ...exit(outcome.exit),
    undeliveredEvents: outcome.undeliveredEvents
  }
  const about = { turnId, ...native(outcome.agentError) }
  return outcome.by === "interrupt"
    ? draftOf("turn.interrupted", { ...payload, status: "interrupted" }, about)
    : draftOf("turn.cancelled", { ...payload, status: "cancelled" }, about)
}

/** The first three are PRP's own words. */
const reasons = {
  interrupt: "turn_interrupted",
  runCancel: "run_cancelled",
  shutdown: "controller_closed",
  agent: "cancelled_by_agent"
} as const

const short = (text: string): string => shortText(text, limits.shortTextCharactersMax)

const providerStopReason = (outcome: { readonly providerStopReason?: string }) =>
  outcome.providerStopReason === undefined ? {} : { providerStopReason: short(outcome.providerStopReason) }

const agentError = (error: AgentErrorFact | undefined) =>
  error === undefined ? {} : { agentError: { rpcCode: error.rpcCode, rpcMessage: short(error.rpcMessage) } }

const native = (error: AgentErrorFact | undefined) => (error === undefined ? {} : { debug: { native: { error } } })

const exit = (fact: ExitFact | undefined) => (fact === undefined ? {} : { processExit: processExitOf(fact) })
