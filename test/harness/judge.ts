/** What a run of a script must show, whatever the script; and what is wrong with a run that does not show it. */
import type { HarnessScript, Step } from "../../fixtures/agents/harness/script.ts"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import type { HarnessMessage } from "../../fixtures/agents/harness/wire.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { eventsOf, type PlayedEvent } from "./messages.ts"
import type { Played } from "./play.ts"

/** Nothing: the run is as it must be. `lineBytesMax` is what the runner read of one line. */
export const problemsOf = (
  played: Played,
  lineBytesMax: number = harnessBounds.lineBytesMax
): ReadonlyArray<string> => {
  const { messages, report, runnerCode, script, workersLeft, workersSeen } = played
  const events = eventsOf(messages)
  const expected = expectedOf(script, lineBytesMax)
  const end = events.at(-1)
  const exit = nativeAt(end?.payload, "reconciliation", "processExit", "exitCode")
  const diagnosed = events.filter(({ eventType }) => eventType === "harness.diagnostic").length
  const proposed = events.filter(({ eventType }) => eventType === "run.result.proposed").length
  const facts: ReadonlyArray<readonly [string, boolean]> = [
    ["the events have no gap", events.every(({ sourceSeq }, index) => sourceSeq === index + 1)],
    ["the beginning is in order", startsWith(events, beginning(script, expected.steps))],
    [
      "every command is accepted",
      messages.every((said) => said.kind !== "command_receipt" || said.status === "accepted")
    ],
    ["there is one terminal, behind everything", isLast(events, "run.terminal") && messages.at(-1)?.kind === "event"],
    ["harness.exited is before it", events.at(-2)?.eventType === "harness.exited"],
    [`the reason is ${expected.reason}`, nativeAt(end?.payload, "reconciliation", "reason") === expected.reason],
    [`the exit code is ${expected.exitCode}`, expected.exitCode === undefined || exit === expected.exitCode],
    ["the first result is proposed", proposed === Math.min(1, expected.results)],
    ["every other claim is a diagnostic", diagnosed === expected.repeated],
    ["no process of the harness is left", report !== undefined && report.survivors.length === 0 && workersLeft === 0],
    ["its workers were seen", workersSeen >= expected.workers],
    ["the runner ends well", runnerCode === 0]
  ]
  return facts.flatMap(([fact, holds]) => (holds ? [] : [`not so: ${fact}`]))
}

const beginning = (script: HarnessScript, steps: ReadonlyArray<Step>): ReadonlyArray<string> => [
  "runtime.phase.changed",
  "workspace.ready",
  "harness.starting",
  "harness.ready",
  "session.starting",
  "session.started",
  "runtime.phase.changed",
  "turn.submitted",
  "turn.started",
  ...steps.flatMap(eventOf)
]

const eventOf = (step: Step, index: number, steps: ReadonlyArray<Step>): ReadonlyArray<string> => {
  const isRepeated = steps.findIndex(({ kind }) => kind === step.kind) < index
  switch (step.kind) {
    case "event":
      return [step.event_type]
    case "request":
      return ["runtime_request.created"]
    case "await_resolution":
      return ["runtime_request.resolved"]
    case "await_interrupt":
      return ["turn.interrupted"]
    case "result":
      return [isRepeated ? "harness.diagnostic" : "run.result.proposed"]
    case "terminal":
      return isRepeated ? ["harness.diagnostic"] : []
    default:
      return []
  }
}

const startsWith = (events: ReadonlyArray<PlayedEvent>, types: ReadonlyArray<string>): boolean =>
  types.every((type, index) => events[index]?.eventType === type)

const isLast = (events: ReadonlyArray<PlayedEvent>, type: string): boolean =>
  events.findIndex(({ eventType }) => eventType === type) === events.length - 1

/** What the steps come to that are played, and believed. */
const expectedOf = ({ steps }: HarnessScript, lineBytesMax: number) => {
  const exitAt = steps.findIndex(({ kind }) => kind === "exit")
  const brokenAt = lineBytesOf(steps).findIndex((bytes) => bytes > lineBytesMax)
  const isBroken = brokenAt !== -1 && (exitAt === -1 || brokenAt < exitAt)
  const played = steps.slice(0, isBroken ? brokenAt : exitAt === -1 ? steps.length : exitAt)
  const count = (kind: Step["kind"]) => played.filter((step) => step.kind === kind).length
  const end = steps[exitAt]
  const exitCode = end?.kind === "exit" ? end.code : 0
  const results = count("result")
  return {
    steps: played,
    results,
    repeated: Math.max(0, results - 1) + Math.max(0, count("terminal") - 1),
    workers: seenWorkers(played),
    exitCode: isBroken ? undefined : exitCode,
    reason: reasonOf(isBroken, count("await_interrupt") > 0, exitCode, results > 0)
  }
}

/** How long the line of each step is, 0 without one: four messages come before the first. */
const lineBytesOf = (steps: ReadonlyArray<Step>): ReadonlyArray<number> => {
  let messageSeq = 4
  return steps.map((step) => {
    const said = saidBy(step)
    if (said === undefined) return 0
    const schema = "paperclip.fake_harness.message.v1"
    return Buffer.byteLength(JSON.stringify({ schema, messageSeq: ++messageSeq, ...said }))
  })
}

/** What the answer to a request, and the number of a worker, are is not known before. */
const saidBy = (step: Step): Pick<HarnessMessage, "type" | "payload"> | undefined => {
  switch (step.kind) {
    case "log":
      return { type: "log", payload: { stream: step.stream, text: step.text } }
    case "event": {
      const { event_type, item_id = null, payload = {}, turn_id = "turn_1" } = step
      return { type: "event", payload: { eventType: event_type, turnId: turn_id, itemId: item_id, payload } }
    }
    case "request":
      return { type: "request", payload: { request: step.request } }
    case "result":
      return { type: "result", payload: { result: step.payload } }
    case "terminal":
      return { type: "terminal", payload: { terminal: step.payload } }
    case "await_resolution":
    case "await_interrupt":
      return { type: "event", payload: {} }
    case "spawn_worker":
      return { type: "diagnostic", payload: {} }
    case "delay":
    case "exit":
      return undefined
  }
}

/** Whoever looks from outside sees a worker for sure only while the harness waits. */
const seenWorkers = (played: ReadonlyArray<Step>): number => {
  const waitAt = played.findLastIndex(
    (step) => step.kind === "await_interrupt" || (step.kind === "delay" && step.milliseconds >= surelySeenMs)
  )
  return played.slice(0, waitAt + 1).filter(({ kind }) => kind === "spawn_worker").length
}

const surelySeenMs = 1_000

const reasonOf = (isBroken: boolean, isInterrupted: boolean, exitCode: number, hasResult: boolean): string => {
  if (isInterrupted) return "turn_interrupted"
  if (isBroken) return "harness_protocol_violation"
  if (exitCode !== 0) return "harness_process_failed"
  return hasResult ? "successful_process_and_result" : "semantic_result_missing"
}
