/** What the commands of a controller do to a run: each is answered with one receipt, and has its effect once. */
import * as Result from "effect/Result"
import type { CommandV1 } from "../../src/schema/prp/contract/command.ts"
import type { NativeObject } from "../../src/schema/prp/native.ts"
import { admitCommand } from "../../src/schema/prp/rules/commandJournal.ts"
import { readCommand, refusalText } from "./lines.ts"
import { blame, diagnose, emit, receipt, settle, stop, type Work } from "./runWork.ts"

/** `undefined`: a line beyond the bound. */
export const receiveCommand = (work: Work, line: string | undefined): void => {
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

export const receiveClose = (work: Work): void => {
  if (work.phase === "idle") {
    work.phase = "over"
    return diagnose(work, "error", "the controller closed before run.prepare")
  }
  blame(work, "controller_closed")
  stop(work)
}
