/**
 * The local runner as a pure reducer: what a controller and a harness say, and what the runner makes of it.
 *
 * Guarantees: no command has an effect twice; every event is one of the contract; only the runner says how the run ended, once,
 * behind everything else. A harness that breaks the protocol is believed no more.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { HarnessCommand, HarnessMessage, RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import type { CommandV1 } from "../../src/schema/prp/contract/command.ts"
import { EventType, priorityOf } from "../../src/schema/prp/eventType.ts"
import type { NativeObject } from "../../src/schema/prp/native.ts"
import {
  admitCommand,
  type CommandJournal,
  emptyJournal,
  settleCommand
} from "../../src/schema/prp/rules/commandJournal.ts"
import {
  claimed,
  type EndCause,
  type HarnessClaims,
  type HarnessExit,
  noClaims,
  runEnd
} from "../../src/schema/prp/rules/terminalReconciliation.ts"
import { readCommand, readMessage, refusalText } from "./lines.ts"
import { emptyTail, type LogTail, withLine } from "./logTail.ts"

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

type Work = { -readonly [Key in keyof RunState]: RunState[Key] } & { readonly outputs: Array<RunOutput> }

export const step = (state: RunState, input: RunInput): readonly [RunState, ReadonlyArray<RunOutput>] => {
  if (state.phase === "over") return [state, []]
  const work: Work = { ...state, outputs: [] }
  receive(work, input)
  const { outputs, ...next } = work
  return [next, outputs]
}

const receive = (work: Work, input: RunInput): void => {
  switch (input._tag) {
    case "Command":
      return receiveCommand(work, input.line)
    case "ControllerClosed":
      return receiveClose(work)
    case "Message":
      return work.cause === "protocol_violation" ? undefined : receiveMessage(work, input.line)
    case "ReadyTimeout":
      return work.phase === "starting" ? violate(work, "the harness did not become ready") : undefined
    case "Ended":
      return end(work, input)
  }
}

// Commands

const receiveCommand = (work: Work, line: string | undefined): void => {
  const read = readCommand(line)
  if (read._tag === "Nothing") return
  if (read._tag === "Unreadable") return diagnose(work, "error", read.reason)
  if (read._tag === "Unsupported") return receipt(work, read.command, "rejected", "unsupported command schema")
  const { command } = read
  const admission = admitCommand(work.journal, command)
  if (Result.isFailure(admission)) return receipt(work, command, "rejected", refusalText(admission.failure))
  if (admission.success._tag === "Replay") {
    const { result, status } = admission.success.entry
    return status === "rejected"
      ? receipt(work, command, "rejected", String(result))
      : receipt(work, command, "duplicate", "equivalent command already applied")
  }
  work.journal = admission.success.journal
  const refusal = apply(work, command)
  if (refusal !== undefined) return settle(work, command, "rejected", refusal)
  if (work.preparing !== command) settle(work, command, "completed", "command applied")
}

const settle = (work: Work, command: CommandV1, status: "completed" | "rejected", detail: string): void => {
  work.journal = Result.getOrThrow(settleCommand(work.journal, command.commandId, { status, result: detail }))
  receipt(work, command, status === "completed" ? "accepted" : "rejected", detail)
}

/** Has the effect, or says why it has none. */
const apply = (work: Work, command: CommandV1): string | undefined => {
  const { payload, type } = command
  if (type === "run.prepare") return prepare(work, command)
  if (!forwarded.has(type)) return `command ${type} is not implemented in a local runner`
  if (work.phase === "idle") return "run.prepare must start the harness first"
  if (work.phase !== "running") return "the harness does not run"
  if (type === "session.open") emit(work, "session.starting", {})
  if (type === "turn.start" && !emitSubmitted(work, payload))
    return "turn.start needs a text and an id that an event can carry"
  if (type === "turn.interrupt" || type === "turn.stop") blame(work, "interrupted")
  if (type === "run.cancel") blame(work, "cancelled")
  work.outputs.push({
    _tag: "Tell",
    command: { schema: "paperclip.fake_harness.command.v1", commandId: command.commandId, type, payload }
  })
  if (type === "run.cancel") stop(work)
  return undefined
}

const forwarded: ReadonlySet<string> = new Set([
  "session.open",
  "session.close",
  "turn.start",
  "turn.interrupt",
  "turn.stop",
  "request.resolve",
  "run.cancel"
])

const prepare = (work: Work, command: CommandV1): string | undefined => {
  if (work.phase !== "idle") return "run is already prepared"
  emit(work, "runtime.phase.changed", { phase: "workspace_preparing" })
  emit(work, "workspace.ready", { workingDirectory: "standalone-fixture" })
  emit(work, "harness.starting", { driverKind: "fake", transport: "stdio_jsonl" })
  work.phase = "starting"
  work.preparing = command
  work.outputs.push({ _tag: "Start" })
  return undefined
}

const emitSubmitted = (work: Work, payload: NativeObject): boolean => {
  const turnId = payload["turnId"]
  return emit(work, "turn.submitted", { text: payload["text"] ?? null }, { turnId })
}

const receiveClose = (work: Work): void => {
  if (work.phase === "idle") {
    work.phase = "over"
    return diagnose(work, "error", "the controller closed before run.prepare")
  }
  blame(work, "controller_closed")
  stop(work)
}

/** The first cause counts. */
const blame = (work: Work, cause: EndCause): void => {
  if (work.cause === "natural") work.cause = cause
}

const stop = (work: Work): void => {
  if (work.phase === "starting") answerPrepare(work, "the harness did not become ready")
  if (work.phase !== "ending") work.outputs.push({ _tag: "Stop" })
  work.phase = "ending"
}

const answerPrepare = (work: Work, refusal?: string): void => {
  const { preparing } = work
  if (preparing === undefined) return
  work.preparing = undefined
  settle(work, preparing, refusal === undefined ? "completed" : "rejected", refusal ?? "command applied")
}

// Messages of the harness

const receiveMessage = (work: Work, line: string | undefined): void => {
  if (line === undefined) return violate(work, "a line is longer than the bound")
  const message = readMessage(line)
  if (message === undefined) return violate(work, "a line is no message")
  if (message.messageSeq !== work.messageSeq + 1) return violate(work, `message ${work.messageSeq + 1} is missing`)
  work.messageSeq = message.messageSeq
  if (work.phase === "starting" && message.type !== "ready") return violate(work, "something was said before ready")
  if (!admit(work, message)) violate(work, `what message ${message.messageSeq} says is no event of the contract`)
}

/** `false`: it cannot be said on. */
const admit = (work: Work, { payload, type }: HarnessMessage): boolean => {
  switch (type) {
    case "ready":
      return admitReady(work, payload)
    case "event":
      return admitEvent(work, payload)
    case "request":
      return emit(work, "runtime_request.created", { request: payload["request"] })
    case "result":
    case "terminal":
      return admitClaim(work, type, payload[type])
    case "log":
      work.logs = withLine(work.logs, `${String(payload["stream"] ?? "stdout")}: ${String(payload["text"] ?? "")}`)
      return true
    case "diagnostic":
      work.logs = withLine(work.logs, `diagnostic: ${JSON.stringify(payload)}`)
      return true
  }
}

const admitReady = (work: Work, payload: NativeObject): boolean => {
  if (work.phase !== "starting") {
    diagnose(work, "warning", "duplicate harness ready message ignored")
    return true
  }
  const driverVersion = payload["version"] ?? "1.0.0"
  emit(work, "harness.ready", { driverKind: "fake", driverVersion, transport: "stdio_jsonl" })
  work.phase = "running"
  answerPrepare(work)
  return true
}

const admitEvent = (work: Work, said: NativeObject): boolean => {
  const { eventType, itemId, payload = {}, turnId } = said
  return isEventType(eventType) && !isRunnersOwn(eventType) && emit(work, eventType, payload, { turnId, itemId })
}

const isEventType = Schema.is(EventType)

/** What a harness may not say of itself: the state of the runner and the run, and that it lives. */
const isRunnersOwn = (eventType: EventType): boolean =>
  eventType.startsWith("run.") || eventType.startsWith("runner.") || lifeOfHarness.has(eventType)

const lifeOfHarness: ReadonlySet<string> = new Set(["harness.starting", "harness.ready", "harness.exited"])

const admitClaim = (work: Work, kind: keyof HarnessClaims, claim: unknown): boolean => {
  if (typeof claim !== "object" || claim === null) return false
  const { claims, drafts } = claimed(work.claims, kind, { ...claim })
  if (!drafts.every(({ eventType, payload }) => emit(work, eventType, payload))) return false
  work.claims = claims
  return true
}

const violate = (work: Work, reason: string): void => {
  work.logs = withLine(work.logs, `stdout: [${reason}]`)
  blame(work, "protocol_violation")
  stop(work)
}

// The end

const end = (work: Work, { exit, stderr, survivors }: Extract<RunInput, { _tag: "Ended" }>): void => {
  answerPrepare(work, "the harness ended before it was ready")
  for (const line of stderr) work.logs = withLine(work.logs, `stderr: ${line}`)
  if (survivors > 0) diagnose(work, "error", `${survivors} processes of the harness could not be ended`)
  const { claims, cause, logs } = work
  for (const { eventType, payload } of runEnd(cause, exit, claims, { ...logs })) emit(work, eventType, payload)
  work.phase = "over"
}

// What the runner says

/** `false`: it would be no event of the contract, and was not said. */
const emit = (
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

const receipt = (
  work: Work,
  command: Pick<CommandV1, "commandId" | "controllerSeq">,
  status: "accepted" | "duplicate" | "rejected",
  detail: string
): void => {
  const { commandId, controllerSeq } = command
  work.outputs.push({ _tag: "Say", message: { kind: "command_receipt", commandId, controllerSeq, status, detail } })
}

const diagnose = (work: Work, level: "warning" | "error", message: string): void => {
  work.outputs.push({ _tag: "Say", message: { kind: "diagnostic", level, message } })
}
