/** The end of a run in words: why it failed, and the one last line. */
import type { CleanupReport } from "../services/AgentLink.ts"
import { limits } from "../schema/limits.ts"
import type { TurnFailed, TurnOutcome } from "../schema/turn.ts"
import { durationText } from "./duration.ts"
import { errorLines } from "./errorLines.ts"
import type { RunEnd } from "./exitCode.ts"
import type { RequestCounts } from "./requestEnd.ts"
import { shownLine } from "./shownText.ts"

export interface ProcessCounts {
  readonly started: number
  readonly left: ReadonlyArray<number>
}

export const processCounts = (reports: ReadonlyArray<CleanupReport>): ProcessCounts => ({
  started: reports.reduce((sum, report) => sum + report.processesSeen, 0),
  left: reports.flatMap((report) => report.survivors.map(({ pid }) => pid))
})

/** `greenroom: completed in 1.2 s; requests: 2 asked, 2 allowed, 0 denied; processes: 3 started, all gone` */
export const lastLine = (end: RunEnd, elapsedMs: number, requests: RequestCounts, processes: ProcessCounts): string => {
  const { asked, allowed, denied } = requests
  return [
    `greenroom: ${outcomeText(end)} in ${durationText(elapsedMs)}`,
    `requests: ${asked} asked, ${allowed} allowed, ${denied} denied`,
    `processes: ${processText(processes)}`
  ].join("; ")
}

/** Why, as far as it is known. Nothing for a turn that completed or was cancelled by us. */
export const reasonLines = (end: RunEnd): ReadonlyArray<string> => {
  switch (end._tag) {
    case "Ended":
      return end.outcome._tag === "Failed" ? failureLines(end.outcome) : cancelLines(end.outcome)
    case "Failed":
      return errorLines(end.error)
    case "TimedOut":
      return ["the agent was not ready in time"]
    case "Interrupted":
      return []
  }
}

const outcomeText = (end: RunEnd): string => {
  switch (end._tag) {
    case "Ended":
      return outcomeWord(end.outcome)
    case "Failed":
      return `failed (${end.error.code})`
    case "TimedOut":
      return "timed out before the prompt"
    case "Interrupted":
      return "cancelled before the prompt"
  }
}

const outcomeWord = (outcome: TurnOutcome): string => {
  switch (outcome._tag) {
    case "Completed":
      return `completed${outcome.reply === "none" ? " without a message" : ""}${stopText(outcome.stopReason)}`
    case "Cancelled":
      return outcome.by === "agent" ? "cancelled by the agent" : "cancelled"
    case "Failed":
      return outcome.reason === "turn_timeout" ? "timed out" : `failed (${outcome.reason})`
  }
}

const stopText = (stopReason: string): string => (stopReason === "end_turn" ? "" : ` (${stopReason})`)

const processText = ({ started, left }: ProcessCounts): string => {
  if (started === 0) return "none started"
  return `${started} started, ${left.length === 0 ? "all gone" : `${left.length} LEFT: ${left.join(", ")}`}`
}

const cancelLines = (outcome: TurnOutcome): ReadonlyArray<string> =>
  outcome._tag === "Cancelled" && outcome.written && !outcome.acknowledged
    ? ["the agent did not acknowledge the cancel and was ended"]
    : []

const failureLines = (outcome: TurnFailed): ReadonlyArray<string> => [
  shownLine(outcome.detail),
  ...(outcome.classification === undefined ? [] : [`classified as ${shownLine(outcome.classification)}`]),
  ...(outcome.agentError === undefined
    ? []
    : [`the agent says: ${shownLine(outcome.agentError.rpcMessage)} (${outcome.agentError.rpcCode})`]),
  ...stderrLines(outcome.stderrTail ?? [])
]

/** The end of what the agent wrote on stderr. */
const stderrLines = (tail: ReadonlyArray<string>): ReadonlyArray<string> =>
  tail.slice(-limits.shownOutputLinesMax).map((line) => `stderr: ${shownLine(line)}`)
