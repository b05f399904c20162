import { describe, expect, it } from "vitest"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import type { RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import { limits } from "../../src/schema/limits.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { commandLine } from "./controller.ts"
import { eventsOf, receiptsOf } from "./messages.ts"
import { step } from "./runState.ts"
import { initialRun, type RunInput, type RunOutput } from "./runWork.ts"

const identity = { runId: "run_1", normalizedSessionId: "session_1", runnerInstanceId: "runner_1" }

const play = (inputs: ReadonlyArray<RunInput>) => {
  let state = initialRun(identity)
  const outputs: Array<RunOutput> = []
  for (const input of inputs) {
    const [next, more] = step(state, input)
    state = next
    outputs.push(...more)
  }
  const messages: ReadonlyArray<RunnerMessage["message"]> = outputs.flatMap((one) =>
    one._tag === "Say" ? [one.message] : []
  )
  const told = outputs.flatMap((one) => (one._tag === "Tell" ? [one.command.type] : []))
  const stops = outputs.filter(({ _tag }) => _tag === "Stop").length
  const events = eventsOf(messages)
  const diagnostics = messages.flatMap((one) => (one.kind === "diagnostic" ? [one.message] : []))
  return {
    state,
    events,
    types: events.map(({ eventType }) => eventType),
    receipts: receiptsOf(messages),
    told,
    stops,
    diagnostics,
    end: events.at(-1)?.payload
  }
}

const command = (line: string | undefined): RunInput => ({ _tag: "Command", line })

/** Messages of a harness, numbered. */
const saying = (...messages: ReadonlyArray<readonly [string, object]>): ReadonlyArray<RunInput> =>
  messages.map(([type, payload], index) => ({
    _tag: "Message",
    line: JSON.stringify({ schema: "paperclip.fake_harness.message.v1", messageSeq: index + 1, type, payload })
  }))

const ready = ["ready", { version: "2.0.0" }] as const
const prepare = command(commandLine(1, "run.prepare"))
const terminal = {
  schema: "paperclip.prp.terminal.v1",
  turnTerminalState: "completed",
  runTerminalState: "succeeded",
  reportedWorkDisposition: "done"
}
const exited = (exitCode: number): RunInput => ({
  _tag: "Ended",
  exit: { exitCode, success: exitCode === 0, signal: null },
  stderr: [],
  survivors: 0
})

const reason = (end: unknown) => nativeAt(end, "reconciliation", "reason")

describe("the local runner", () => {
  it("answers run.prepare when the harness is ready, and tells of each step to it", () => {
    expect(play([prepare]).receipts).toEqual([])
    const { receipts, types } = play([prepare, ...saying(ready)])
    expect(receipts).toEqual(["1 accepted: command applied"])
    expect(types).toEqual(["runtime.phase.changed", "workspace.ready", "harness.starting", "harness.ready"])
  })

  it("carries no command out twice", () => {
    const open = command(commandLine(2, "session.open"))
    const { receipts, told } = play([prepare, ...saying(ready), open, open])
    expect(receipts.slice(1)).toEqual([
      "2 accepted: command applied",
      "2 duplicate: equivalent command already applied"
    ])
    expect(told).toEqual(["session.open"])
  })

  it.each<[string, string, string]>([
    ["a number out of turn", commandLine(3, "session.open"), "3 rejected: controllerSeq is not contiguous"],
    [
      "a known id with other data",
      commandLine(1, "run.prepare", { other: 1 }),
      "1 rejected: commandId was reused with different data"
    ],
    [
      "another schema",
      commandLine(2, "session.open").replace("command.v1", "command.v2"),
      "2 rejected: unsupported command schema"
    ],
    [
      "what it cannot do",
      commandLine(2, "runner.drain"),
      "2 rejected: command runner.drain is not implemented in a local runner"
    ],
    ["a second run.prepare", commandLine(2, "run.prepare"), "2 rejected: run is already prepared"],
    [
      "a turn whose id no event can carry",
      commandLine(2, "turn.start", { turnId: 7 }),
      "2 rejected: turn.start needs a text and an id that an event can carry"
    ]
  ])("rejects %s", (_, line, expected) => {
    const { receipts, told } = play([prepare, ...saying(ready), command(line)])
    expect(receipts.at(-1)).toBe(expected)
    expect(told).toEqual([])
  })

  it("answers a rejected command that comes again as it did before", () => {
    const drain = command(commandLine(2, "runner.drain"))
    const { receipts } = play([prepare, ...saying(ready), drain, drain])
    expect(receipts[2]).toBe(receipts[1])
  })

  it("forgets the oldest commands, and carries none of them out again", () => {
    const many = Array.from({ length: limits.commandHistoryMax }, (_, index) =>
      command(commandLine(index + 2, "session.open"))
    )
    const { receipts } = play([prepare, ...saying(ready), ...many, prepare])
    expect(receipts.at(-1)).toBe("1 rejected: command history limit reached")
  })

  it("needs run.prepare first, and says what is no command", () => {
    expect(play([command(commandLine(1, "session.open"))]).receipts).toEqual([
      "1 rejected: run.prepare must start the harness first"
    ])
    expect(play([command("{"), command(undefined), command("  ")]).diagnostics).toEqual([
      "a line is no command",
      "a command is longer than the bound"
    ])
  })

  it("lets the first result and the first terminal count, and says nothing behind its own terminal", () => {
    const result = (summary: string) => ({
      schema: "paperclip.run_result.v1",
      reportedWorkDisposition: "done",
      summary,
      completionClaim: { contractRevision: "1", objectiveSatisfied: true, criteria: [], remainingWork: [] },
      evidence: [],
      verification: [],
      attentionRequests: [],
      artifacts: []
    })
    const claims = saying(
      ready,
      ["result", { result: result("a") }],
      ["result", { result: result("b") }],
      ["terminal", { terminal: {} }],
      ["terminal", { terminal: {} }]
    )
    const { end, events, types } = play([prepare, ...claims, exited(0), ...saying(ready), exited(0), prepare])
    expect(types.slice(4)).toEqual([
      "run.result.proposed",
      "harness.diagnostic",
      "harness.diagnostic",
      "harness.exited",
      "run.terminal"
    ])
    expect(nativeAt(events[4]?.payload, "summary")).toBe("a")
    expect(reason(end)).toBe("successful_process_and_result")
  })

  it.each<[string, ReadonlyArray<RunInput>]>([
    ["a line beyond the bound", [...saying(ready), { _tag: "Message", line: undefined }]],
    ["a line that is no message", [...saying(ready), { _tag: "Message", line: "{}" }]],
    ["a gap in its numbers", saying(ready, ["log", {}], ["log", {}]).toSpliced(1, 1)],
    ["a word before ready", saying(["log", { text: "hello" }])],
    ["an event of no known type", saying(ready, ["event", { eventType: "no.such" }])],
    ["an event whose payload is not of its type", saying(ready, ["event", { eventType: "plan.updated", payload: {} }])],
    ["a terminal of its own", saying(ready, ["event", { eventType: "run.terminal", payload: terminal }])],
    ["news of its own exit", saying(ready, ["event", { eventType: "harness.exited", payload: {} }])],
    ["a result that is none", saying(ready, ["result", { result: { summary: 1 } }])],
    ["no word in time", [{ _tag: "ReadyTimeout" }]]
  ])("ends a harness that says %s, and believes it no more", (_, said) => {
    const late = saying(
      ready,
      ...Array.from({ length: 8 }, () => ["event", { eventType: "item.started", payload: {} }] as const)
    )
    const { end, receipts, state, stops, types } = play([prepare, ...said, ...late.slice(said.length), exited(0)])
    expect(stops).toBe(1)
    expect(reason(end)).toBe("harness_protocol_violation")
    expect(types).not.toContain("item.started")
    expect(types.filter((type) => type === "run.terminal" || type === "harness.exited")).toHaveLength(2)
    expect(receipts).toHaveLength(1)
    expect(state.logs.lines.at(-1)).toContain("stdout: [")
  })

  it("ends the harness for run.cancel and for a controller that goes, and the first cause counts", () => {
    const cancel = command(commandLine(2, "run.cancel"))
    const interrupt = command(commandLine(2, "turn.interrupt"))
    const closed: RunInput = { _tag: "ControllerClosed" }
    const ends = [[cancel, closed], [closed, cancel], [interrupt, closed], [interrupt]].map((inputs) => {
      const { end, stops } = play([prepare, ...saying(ready), ...inputs, exited(1)])
      return [reason(end), stops]
    })
    expect(ends).toEqual([
      ["run_cancelled", 1],
      ["controller_closed", 1],
      ["turn_interrupted", 1],
      ["turn_interrupted", 0]
    ])
  })

  it("is over at once when the controller goes before there is a run", () => {
    const { diagnostics, state, types } = play([{ _tag: "ControllerClosed" }])
    expect([state.phase, types, diagnostics]).toEqual(["over", [], ["the controller closed before run.prepare"]])
  })

  it("rejects run.prepare for a harness that ends before it is ready", () => {
    const { end, receipts } = play([prepare, exited(1)])
    expect(receipts).toEqual(["1 rejected: the harness ended before it was ready"])
    expect(reason(end)).toBe("harness_process_failed")
  })

  it("keeps logLinesMax lines and logBytesMax bytes of the logs, and counts the others", () => {
    const logged = (lines: number, characters: number) => {
      const text = "x".repeat(characters - "stdout: ".length)
      const logs = Array.from({ length: lines }, () => ["log", { stream: "stdout", text }] as const)
      return play([prepare, ...saying(ready, ...logs)]).state.logs
    }
    const { logBytesMax, logLinesMax } = harnessBounds
    expect(logged(logLinesMax, 10)).toMatchObject({ droppedLines: 0, retainedBytes: logLinesMax * 10 })
    expect(logged(logLinesMax + 1, 10)).toMatchObject({ droppedLines: 1, retainedBytes: logLinesMax * 10 })
    expect(logged(2, logBytesMax / 2)).toMatchObject({ droppedLines: 0, retainedBytes: logBytesMax })
    expect(logged(2, logBytesMax / 2 + 1)).toMatchObject({ droppedLines: 1, retainedBytes: logBytesMax / 2 + 1 })
    expect(logged(1, logBytesMax)).toMatchObject({ droppedLines: 0 })
    expect(logged(1, logBytesMax + 1)).toMatchObject({ droppedLines: 1, lines: [] })
  })
})
