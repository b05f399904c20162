/**
 * A controller that leads a run of a script to its end: it opens the session, starts the turn, and gives the script whatever it
 * waits for, when it waits for it. A harness drops what it does not wait for.
 */
import type { HarnessScript } from "../../fixtures/agents/harness/script.ts"
import type { RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import type { CommandTypeV1 } from "../../src/schema/prp/contract/command.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"

export interface Controller {
  /** The first command. */
  readonly begin: () => string
  /** What to say to a message of the runner, if anything. */
  readonly hear: (message: RunnerMessage["message"]) => ReadonlyArray<string>
}

export const turnId = "turn_1"

export const makeController = (script: HarnessScript): Controller => {
  const awaited = script.steps.filter(({ kind }) => kind === "await_resolution" || kind === "await_interrupt")
  const asked = new Map<string, unknown>()
  let controllerSeq = 0
  let isReady = false
  let isTold = false

  const command = (type: CommandTypeV1, payload: object = {}) => commandLine(++controllerSeq, type, payload)

  const answerNext = (): ReadonlyArray<string> => {
    const [next] = awaited
    if (next === undefined || !isReady || isTold) return []
    if (next.kind === "await_interrupt") {
      isTold = true
      return [command("turn.interrupt", { reason: "operator" })]
    }
    if (next.kind !== "await_resolution" || !asked.has(next.request_id)) return []
    isTold = true
    return [command("request.resolve", { requestId: next.request_id, response: asked.get(next.request_id) })]
  }

  const hear = (message: RunnerMessage["message"]): ReadonlyArray<string> => {
    if (message.kind !== "event") return []
    const { eventType, payload } = message.event
    if (eventType === "harness.ready") return [command("session.open")]
    if (eventType === "runtime.phase.changed" && nativeAt(payload, "phase") === "executing") {
      return [command("turn.start", { turnId, text: "play the script" })]
    }
    if (eventType === "turn.started") isReady = true
    if (eventType === "runtime_request.created") {
      const request = nativeAt(payload, "request")
      asked.set(String(nativeAt(request, "requestId")), responseTo(request))
    }
    if (eventType === "runtime_request.resolved" || eventType === "turn.interrupted") {
      awaited.shift()
      isTold = false
    }
    return answerNext()
  }
  return { begin: () => command("run.prepare"), hear }
}

const responseTo = (request: unknown): unknown =>
  nativeAt(request, "type") === "permission"
    ? { action: "accept" }
    : { action: "submit", answers: { answer: { answers: ["as it is"] } } }

/** A command of PRP v1 as a line. */
export const commandLine = (controllerSeq: number, type: CommandTypeV1, payload: object = {}): string =>
  JSON.stringify({
    schema: "paperclip.prp.command.v1",
    commandId: `command_${controllerSeq}`,
    controllerSeq,
    type,
    issuedAt: "2026-08-07T21:00:00.000Z",
    payload
  })
