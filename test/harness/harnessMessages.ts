/** What the messages of a harness do to a run. The first one that breaks the protocol ends it. */
import * as Schema from "effect/Schema"
import type { HarnessMessage } from "../../fixtures/agents/harness/wire.ts"
import { EventType } from "../../src/schema/prp/eventType.ts"
import type { NativeObject } from "../../src/schema/prp/native.ts"
import { claimed, type HarnessClaims } from "../../src/schema/prp/rules/terminalReconciliation.ts"
import { readMessage } from "./lines.ts"
import { withLine } from "./logTail.ts"
import { answerPrepare, blame, diagnose, emit, stop, type Work } from "./runWork.ts"

/** `undefined`: a line beyond the bound. */
export const receiveMessage = (work: Work, line: string | undefined): void => {
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

/** The harness is ended, and believed no more. `reason` is kept in the logs. */
export const violate = (work: Work, reason: string): void => {
  work.logs = withLine(work.logs, `stdout: [${reason}]`)
  blame(work, "protocol_violation")
  stop(work)
}
