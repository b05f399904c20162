/** A run while an input is taken in: what is known of it, and what the runner says and does about it. */
import * as Result from "effect/Result"
import type { HarnessCommand, RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import type { CommandV1 } from "../../src/schema/prp/contract/command.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { type EventType, priorityOf } from "../../src/schema/prp/eventType.ts"
import { type CommandJournal, emptyJournal, settleCommand } from "../../src/schema/prp/rules/commandJournal.ts"
import {
  type EndCause,
  type HarnessClaims,
  type HarnessExit,
  noClaims
} from "../../src/schema/prp/rules/terminalReconciliation.ts"
import { emptyTail, type LogTail } from "./logTail.ts"

export interface RunIdentity {
  readonly runId: string
  readonly normalizedSessionId: string
  readonly runnerInstanceId: string
}

export interface RunState {
  readonly identity: RunIdentity
  /** `ending`: the harness was told to end, or is about to. */
  readonly phase: "idle" | "starting" | "running" | "ending" | "over"
  readonly journal: CommandJournal
  /** The command that is answered once the harness is ready. */
  readonly preparing: CommandV1 | undefined
  readonly sourceSeq: number
  readonly messageSeq: number
  readonly cause: EndCause
  readonly claims: HarnessClaims
  readonly logs: LogTail
}

export type RunInput =
  | { readonly _tag: "Command"; readonly line: string | undefined }
  | { readonly _tag: "ControllerClosed" }
  /** `undefined`: a line beyond the bound. */
  | { readonly _tag: "Message"; readonly line: string | undefined }
  | { readonly _tag: "ReadyTimeout" }
  /** The last of all: the harness has ended, and what it left was ended. */
  | {
      readonly _tag: "Ended"
      readonly exit: HarnessExit
      readonly stderr: ReadonlyArray<string>
      readonly survivors: number
    }

export type RunOutput =
  | { readonly _tag: "Say"; readonly message: RunnerMessage["message"] }
  | { readonly _tag: "Start" }
  | { readonly _tag: "Tell"; readonly command: HarnessCommand }
  | { readonly _tag: "Stop" }

export const initialRun = (identity: RunIdentity): RunState => ({
  identity,
  phase: "idle",
  journal: emptyJournal,
  preparing: undefined,
  sourceSeq: 0,
  messageSeq: 0,
  cause: "natural",
  claims: noClaims,
  logs: emptyTail
})

/** A state that is being changed, and what came of it so far, in order. */
export type Work = { -readonly [Key in keyof RunState]: RunState[Key] } & { readonly outputs: Array<RunOutput> }

/** The first cause counts. */
export const blame = (work: Work, cause: EndCause): void => {
  if (work.cause === "natural") work.cause = cause
}

/** Asks for the end of the harness, once. */
export const stop = (work: Work): void => {
  if (work.phase === "starting") answerPrepare(work, "the harness did not become ready")
  if (work.phase !== "ending") work.outputs.push({ _tag: "Stop" })
  work.phase = "ending"
}

/** The receipt that `run.prepare` still owes, if it does. `refusal` says why the harness is not ready. */
export const answerPrepare = (work: Work, refusal?: string): void => {
  const { preparing } = work
  if (preparing === undefined) return
  work.preparing = undefined
  settle(work, preparing, refusal === undefined ? "completed" : "rejected", refusal ?? "command applied")
}

/** The command's receipt, which it also gets when it comes again. */
export const settle = (work: Work, command: CommandV1, status: "completed" | "rejected", detail: string): void => {
  work.journal = Result.getOrThrow(settleCommand(work.journal, command.commandId, { status, result: detail }))
  receipt(work, command, status === "completed" ? "accepted" : "rejected", detail)
}

/** `false`: it would be no event of the contract, and was not said. */
export const emit = (
  work: Work,
  eventType: EventType,
  payload: unknown,
  { itemId, turnId }: { readonly turnId?: unknown; readonly itemId?: unknown } = {}
): boolean => {
  const sourceSeq = work.sourceSeq + 1
  const { normalizedSessionId, runId, runnerInstanceId } = work.identity
  const event = decodePrp("event", {
    schema: "paperclip.prp.event.v1",
    schemaVersion: 1,
    sourceEventId: `event_${runId}_${String(sourceSeq).padStart(3, "0")}`,
    sourceSeq,
    sourceInstanceId: runnerInstanceId,
    sourceKind: "runner",
    runId,
    normalizedSessionId,
    eventType,
    priority: priorityOf(eventType),
    emittedAt: timeOf(sourceSeq),
    ...(turnId === undefined || turnId === null ? {} : { turnId }),
    ...(itemId === undefined || itemId === null ? {} : { itemId }),
    payload
  })
  if (Result.isFailure(event)) return false
  work.sourceSeq = sourceSeq
  work.outputs.push({ _tag: "Say", message: { kind: "event", event: event.success } })
  return true
}

/** The same in every run: a millisecond for each event. */
const timeOf = (sourceSeq: number): string => {
  const seconds = Math.floor(sourceSeq / 1000) % 60
  return `2026-08-07T21:00:${String(seconds).padStart(2, "0")}.${String(sourceSeq % 1000).padStart(3, "0")}Z`
}

export const receipt = (
  work: Work,
  command: Pick<CommandV1, "commandId" | "controllerSeq">,
  status: "accepted" | "duplicate" | "rejected",
  detail: string
): void => {
  const { commandId, controllerSeq } = command
  work.outputs.push({ _tag: "Say", message: { kind: "command_receipt", commandId, controllerSeq, status, detail } })
}

export const diagnose = (work: Work, level: "warning" | "error", message: string): void => {
  work.outputs.push({ _tag: "Say", message: { kind: "diagnostic", level, message } })
}
