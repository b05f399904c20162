/**
 * The local runner as a pure reducer: what a controller and a harness say, and what the runner makes of it.
 *
 * Guarantees: no command has an effect twice; every event is one of the contract; only the runner says how the run ended, once,
 * behind everything else. A harness that breaks the protocol is believed no more.
 */
import { runEnd } from "../../src/schema/prp/rules/terminalReconciliation.ts"
import { receiveMessage, violate } from "./harnessMessages.ts"
import { withLine } from "./logTail.ts"
import { receiveClose, receiveCommand } from "./runCommands.ts"
import { answerPrepare, diagnose, emit, type RunInput, type RunOutput, type RunState, type Work } from "./runWork.ts"

/** The next state, and what to say and do, in order. Pure. A run that is over takes nothing in. */
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

const end = (work: Work, { exit, stderr, survivors }: Extract<RunInput, { _tag: "Ended" }>): void => {
  answerPrepare(work, "the harness ended before it was ready")
  for (const line of stderr) work.logs = withLine(work.logs, `stderr: ${line}`)
  if (survivors > 0) diagnose(work, "error", `${survivors} processes of the harness could not be ended`)
  const { claims, cause, logs } = work
  for (const { eventType, payload } of runEnd(cause, exit, claims, { ...logs })) emit(work, eventType, payload)
  work.phase = "over"
}
