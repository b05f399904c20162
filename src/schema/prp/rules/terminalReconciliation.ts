/**
 * How a local run ended, by what the runner saw itself. What the harness says about it is a claim, kept beside. The first result
 * and the first claim count; nothing is emitted after the terminal.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Disposition } from "../contract/result.ts"
import { Terminal } from "../contract/terminal.ts"
import { nativeAt } from "../native.ts"

/** An event to emit. */
export interface RunDraft {
  readonly eventType: "run.result.proposed" | "harness.diagnostic" | "harness.exited" | "run.terminal"
  readonly payload: Readonly<Record<string, unknown>>
}

/** What the harness has said so far about the end of its run. */
export interface HarnessClaims {
  readonly result: Readonly<Record<string, unknown>> | undefined
  readonly terminal: Readonly<Record<string, unknown>> | undefined
}

export const noClaims: HarnessClaims = { result: undefined, terminal: undefined }

/** The claims after one more, and what to emit for it. A terminal is not passed on: the runner's own will tell of it. */
export const claimed = (
  claims: HarnessClaims,
  kind: keyof HarnessClaims,
  claim: Readonly<Record<string, unknown>>
): { readonly claims: HarnessClaims; readonly drafts: ReadonlyArray<RunDraft> } => {
  if (claims[kind] !== undefined)
    return { claims, drafts: [{ eventType: "harness.diagnostic", payload: ignored[kind] }] }
  return {
    claims: { ...claims, [kind]: claim },
    drafts: kind === "result" ? [{ eventType: "run.result.proposed", payload: claim }] : []
  }
}

const ignored = {
  result: { code: "duplicate_semantic_result_ignored", message: "Another result was ignored: the first one counts." },
  terminal: { code: "duplicate_terminal_ignored", message: "Another terminal was ignored: the first one counts." }
} as const

/** What ended the run, as far as it was not the harness that ended by itself. */
export type EndCause = "natural" | "interrupted" | "cancelled" | "controller_closed" | "protocol_violation"

export interface HarnessExit {
  readonly exitCode: number | null
  readonly success: boolean
  readonly signal: number | string | null
}

/** The last two events of a run, in their order. `logs` is what was kept of the harness's output. */
export const runEnd = (
  cause: EndCause,
  processExit: HarnessExit,
  claims: HarnessClaims,
  logs: Readonly<Record<string, unknown>>
): readonly [RunDraft, RunDraft] => [
  {
    eventType: "harness.exited",
    payload: { processExit, semanticResultObserved: claims.result !== undefined, logs }
  },
  { eventType: "run.terminal", payload: reconcileTerminal(cause, processExit, claims) }
]

/** The payload of the terminal. */
export const reconcileTerminal = (cause: EndCause, processExit: HarnessExit, claims: HarnessClaims) => {
  const { turn, run, reason } = verdictOf(cause, processExit, claims)
  const proposal = Result.getOrUndefined(decodeTerminal(claims.terminal))
  return {
    schema: "paperclip.prp.terminal.v1",
    turnTerminalState: turn,
    runTerminalState: run,
    reportedWorkDisposition: dispositionOf(run === "succeeded", claims),
    harnessTerminalProposal: claims.terminal ?? null,
    reconciliation: {
      authority: "runner",
      reason,
      proposalValid: proposal !== undefined,
      proposalContradicted:
        proposal !== undefined && (proposal.turnTerminalState !== turn || proposal.runTerminalState !== run),
      processExit,
      semanticResultObserved: claims.result !== undefined
    }
  } as const
}

const decodeTerminal = Schema.decodeUnknownResult(Terminal)

interface Verdict {
  readonly turn: Terminal["turnTerminalState"]
  readonly run: Terminal["runTerminalState"]
  readonly reason: string
}

const verdictOf = (cause: EndCause, { success }: HarnessExit, { result }: HarnessClaims): Verdict => {
  if (cause !== "natural") return imposed[cause]
  if (!success) return { turn: "failed", run: "failed", reason: "harness_process_failed" }
  return result === undefined
    ? { turn: "failed", run: "failed", reason: "semantic_result_missing" }
    : { turn: "completed", run: "succeeded", reason: "successful_process_and_result" }
}

const imposed: Readonly<Record<Exclude<EndCause, "natural">, Verdict>> = {
  interrupted: { turn: "interrupted", run: "cancelled", reason: "turn_interrupted" },
  cancelled: { turn: "cancelled", run: "cancelled", reason: "run_cancelled" },
  controller_closed: { turn: "cancelled", run: "cancelled", reason: "controller_closed" },
  protocol_violation: { turn: "failed", run: "failed", reason: "harness_protocol_violation" }
}

/** Nobody's `done` stands for a run that did not succeed. */
const dispositionOf = (succeeded: boolean, { result, terminal }: HarnessClaims): Disposition => {
  const reported = [result, terminal].map(reportedBy).filter((word) => word !== undefined)
  return succeeded ? (reported[0] ?? "done") : (reported.find((word) => word !== "done") ?? "yielded")
}

const reportedBy = (claim: unknown): Disposition | undefined => {
  const word = nativeAt(claim, "reportedWorkDisposition")
  return isDisposition(word) ? word : undefined
}

const isDisposition = Schema.is(Disposition)
