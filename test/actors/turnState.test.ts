import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { queued, step, type TurnInput, type TurnOutput, type TurnState } from "../../src/actors/turnState.ts"
import { turnTerminal } from "../../src/schema/prp/turnTerminal.ts"
import { TurnOutcome } from "../../src/schema/turn.ts"

const inputs = {
  submit: { _tag: "Submitted" },
  handed: { _tag: "PromptWritten", stage: "handed" },
  acknowledged: { _tag: "PromptWritten", stage: "acknowledged" },
  tooLarge: { _tag: "PromptTooLarge", bytes: 101, limitBytes: 100 },
  message: { _tag: "Observed", fact: "message" },
  thought: { _tag: "Observed", fact: "thought" },
  tool: { _tag: "Observed", fact: "tool" },
  plan: { _tag: "Observed", fact: "plan" },
  dropped: { _tag: "EventsUndelivered", count: 3 },
  interrupt: { _tag: "CancelRequested", by: "interrupt" },
  runCancel: { _tag: "CancelRequested", by: "runCancel" },
  shutdown: { _tag: "CancelRequested", by: "shutdown" },
  endTurn: { _tag: "ResponseTaken", response: { _tag: "Success", stopReason: "end_turn" } },
  maxTokens: { _tag: "ResponseTaken", response: { _tag: "Success", stopReason: "max_tokens", usage: { total: 1 } } },
  cancelled: { _tag: "ResponseTaken", response: { _tag: "Success", stopReason: "cancelled" } },
  refusal: { _tag: "ResponseTaken", response: { _tag: "Success", stopReason: "refusal" } },
  strange: { _tag: "ResponseTaken", response: { _tag: "Success", stopReason: "bored" } },
  error: {
    _tag: "ResponseTaken",
    response: {
      _tag: "Error",
      error: { rpcCode: -32603, rpcMessage: "aborted" },
      authRequired: false,
      classification: "overloaded"
    }
  },
  loginError: {
    _tag: "ResponseTaken",
    response: { _tag: "Error", error: { rpcCode: -32000, rpcMessage: "log in" }, authRequired: true }
  },
  malformed: { _tag: "ResponseTaken", response: { _tag: "Malformed", issue: "stopReason is missing" } },
  closed: {
    _tag: "ConnectionClosed",
    reason: "exited",
    exit: { _tag: "Code", code: 7 },
    stderrTail: ["boom"]
  },
  deadline: { _tag: "DeadlineFired" },
  cancelDeadline: { _tag: "CancelDeadlineFired" }
} as const satisfies Record<string, TurnInput>

type InputName = keyof typeof inputs
const names = Object.keys(inputs).filter((name): name is InputName => name in inputs)

const run = (sequence: ReadonlyArray<InputName>): readonly [TurnState, ReadonlyArray<TurnOutput>] => {
  let state = queued
  const all: Array<TurnOutput> = []
  for (const name of sequence) {
    const [next, outputs] = step(state, inputs[name])
    state = next
    all.push(...outputs)
  }
  return [state, all]
}

/** The event that a host gets for this outcome, and what it says. */
const terminalEvent = (outcome: TurnOutcome): string => {
  const { eventType } = turnTerminal("t1", outcome)
  switch (outcome._tag) {
    case "Completed":
      return `${eventType} ${outcome.stopReason} reply:${outcome.reply}`
    case "Failed":
      return `${eventType} ${outcome.reason}`
    case "Cancelled": {
      const said = outcome.providerStopReason ?? (outcome.agentError === undefined ? "nothing" : "an error")
      const written = outcome.written ? "written" : "unwritten"
      const acknowledged = outcome.acknowledged ? "acknowledged" : "unacknowledged"
      return `${eventType} by:${outcome.by} ${written} ${acknowledged}, said ${said}`
    }
  }
}

const word = (output: TurnOutput): string => {
  switch (output._tag) {
    case "Terminal":
      return terminalEvent(output.outcome)
    case "AnswerOpenRequestsCancelled":
      return `requests ${output.how}`
    case "RetireConnection":
      return `retire ${output.reason}`
    default:
      return output._tag
  }
}

const open: ReadonlyArray<InputName> = ["submit", "handed", "acknowledged"]
const cancel = ["WritePrompt", "WriteCancel", "requests cancelled", "requests cancelled"]
const ended = ["WritePrompt", "requests ended"]

const table: ReadonlyArray<readonly [string, ReadonlyArray<InputName>, ReadonlyArray<string>]> = [
  ["a message is a reply", [...open, "message", "endTurn"], [...ended, "turn.completed end_turn reply:message"]],
  [
    "a tool without a message is no reply, but no failure",
    [...open, "tool", "endTurn"],
    [...ended, "turn.completed end_turn reply:none"]
  ],
  ["so is a thought", [...open, "thought", "endTurn"], [...ended, "turn.completed end_turn reply:none"]],
  ["so is a plan", [...open, "plan", "maxTokens"], [...ended, "turn.completed max_tokens reply:none"]],
  ["success without anything is an empty completion", [...open, "endTurn"], [...ended, "turn.failed empty_completion"]],
  [
    "a stop reason that nobody knows still completes",
    [...open, "message", "strange"],
    [...ended, "turn.completed unknown reply:message"]
  ],
  [
    "a refusal fails the turn, whatever was written before",
    [...open, "message", "refusal"],
    [...ended, "turn.failed refused"]
  ],
  ["an error fails the turn", [...open, "message", "error"], [...ended, "turn.failed agent_error"]],
  ["an error that asks for a login says so", [...open, "loginError"], [...ended, "turn.failed auth_required"]],
  ["a malformed answer fails the turn", [...open, "message", "malformed"], [...ended, "turn.failed answer_malformed"]],
  [
    "an agent may cancel by itself",
    [...open, "cancelled"],
    [...ended, "turn.cancelled by:agent written acknowledged, said cancelled"]
  ],
  ["a prompt that fits into no frame fails", ["submit", "tooLarge"], ["WritePrompt", "turn.failed frame_too_large"]],

  [
    "a cancel before the prompt was submitted writes nothing, then or later",
    ["interrupt", "submit", "handed"],
    ["turn.interrupted by:interrupt unwritten unacknowledged, said nothing", "retire cancel_unacknowledged"]
  ],
  [
    "a cancel before the prompt went to the writer writes no cancel",
    ["submit", "interrupt", "cancelDeadline", "endTurn"],
    ["WritePrompt", "turn.interrupted by:interrupt unwritten unacknowledged, said nothing"]
  ],
  [
    "a run's cancel is a cancellation, not an interruption",
    ["runCancel"],
    ["turn.cancelled by:runCancel unwritten unacknowledged, said nothing"]
  ],
  [
    "a cancel is written once and acknowledged",
    [...open, "message", "interrupt", "interrupt", "runCancel", "cancelled"],
    [...cancel, "turn.interrupted by:interrupt written acknowledged, said cancelled"]
  ],
  [
    "a cancel right behind the prompt, before its write is acknowledged, is written",
    ["submit", "handed", "shutdown", "cancelled"],
    [...cancel, "turn.cancelled by:shutdown written acknowledged, said cancelled"]
  ],
  [
    "a cancelled turn stays cancelled though the agent says end_turn",
    [...open, "message", "runCancel", "endTurn"],
    [...cancel, "turn.cancelled by:runCancel written acknowledged, said end_turn"]
  ],
  [
    "a cancelled turn stays cancelled though the agent answers with an error",
    [...open, "interrupt", "error"],
    [...cancel, "turn.interrupted by:interrupt written acknowledged, said an error"]
  ],
  [
    "a cancelled turn stays cancelled though the answer is malformed",
    [...open, "interrupt", "malformed"],
    [...cancel, "turn.interrupted by:interrupt written acknowledged, said nothing"]
  ],
  [
    "a response that was taken first completes, and no cancel is written",
    [...open, "message", "endTurn", "interrupt", "cancelDeadline"],
    [...ended, "turn.completed end_turn reply:message"]
  ],
  [
    "a cancel that nobody acknowledges retires the connection before the turn is over",
    [...open, "interrupt", "cancelDeadline", "cancelled", "closed"],
    [...cancel, "retire cancel_unacknowledged", "turn.interrupted by:interrupt written unacknowledged, said nothing"]
  ],
  [
    "the connection dies after the cancel",
    [...open, "shutdown", "closed", "cancelDeadline"],
    [...cancel, "turn.cancelled by:shutdown written unacknowledged, said nothing"]
  ],

  [
    "the connection dies before the response",
    [...open, "message", "closed", "endTurn"],
    [...ended, "turn.failed connection_closed"]
  ],
  [
    "the connection dies after the response, which stands",
    [...open, "message", "endTurn", "closed"],
    [...ended, "turn.completed end_turn reply:message"]
  ],
  ["the connection dies before the prompt is submitted", ["closed", "submit"], ["turn.failed connection_closed"]],

  [
    "a deadline cancels, and the turn fails",
    [...open, "message", "deadline", "cancelled"],
    [...cancel, "turn.failed turn_timeout"]
  ],
  [
    "a deadline that the agent answers with success is a timeout all the same",
    [...open, "message", "deadline", "endTurn"],
    [...cancel, "turn.failed turn_timeout"]
  ],
  [
    "a deadline whose cancel nobody acknowledges retires the connection",
    [...open, "deadline", "interrupt", "cancelDeadline"],
    [...cancel, "retire cancel_unacknowledged", "turn.failed turn_timeout"]
  ],
  ["the connection dies after the deadline", [...open, "deadline", "closed"], [...cancel, "turn.failed turn_timeout"]],
  ["a deadline before the prompt was written writes nothing", ["deadline", "submit"], ["turn.failed turn_timeout"]],
  [
    "a deadline after a cancel changes nothing",
    [...open, "interrupt", "deadline", "cancelled"],
    [...cancel, "turn.interrupted by:interrupt written acknowledged, said cancelled"]
  ],
  [
    "what is observed while the turn drains changes nothing",
    [...open, "interrupt", "message", "tool", "cancelled", "message"],
    [...cancel, "turn.interrupted by:interrupt written acknowledged, said cancelled"]
  ]
]

const outcomeOf = (sequence: ReadonlyArray<InputName>): TurnOutcome => {
  const [state] = run(sequence)
  if (state._tag !== "Settled") return assert.fail(`not settled: ${state._tag}`)
  return state.outcome
}

/** What has been seen of one run; every rule of the machine is a rule about this. */
interface Seen {
  readonly submitted: boolean
  readonly handed: boolean
  readonly prompts: number
  readonly cancels: number
  readonly retired: boolean
  readonly terminals: number
}

const nothingSeen: Seen = { submitted: false, handed: false, prompts: 0, cancels: 0, retired: false, terminals: 0 }

/** An assertion that costs nothing while it holds: there are millions. */
const check = (holds: boolean, rule: string): void => {
  if (!holds) assert.fail(rule)
}

const isOfCancel = (outcome: TurnOutcome): boolean =>
  outcome._tag === "Cancelled" || (outcome._tag === "Failed" && outcome.reason === "turn_timeout")

const observe = (before: TurnState, seen: Seen, name: InputName): readonly [TurnState, Seen] => {
  const input = inputs[name]
  const [after, outputs] = step(before, input)
  let { submitted, handed, prompts, cancels, retired, terminals } = seen
  if (input._tag === "Submitted") submitted = true
  if (input._tag === "PromptWritten" && prompts === 1) handed = true
  if (input._tag === "ResponseTaken" && prompts === 1) handed = true
  if (input._tag === "PromptTooLarge") handed = false
  for (const output of outputs) {
    switch (output._tag) {
      case "WritePrompt":
        check(submitted && terminals === 0, "a prompt of a settled turn")
        prompts++
        break
      case "WriteCancel":
        check(terminals === 0, "a cancel after the terminal")
        check(handed, "a cancel of a prompt that was not written")
        cancels++
        break
      case "AnswerOpenRequestsCancelled":
        check(terminals === 0, "requests closed after the terminal")
        break
      case "RetireConnection":
        check(!retired, "retired twice")
        retired = true
        break
      case "Terminal": {
        const { outcome } = output
        terminals++
        if (outcome._tag === "Cancelled") check(outcome.written === handed, "wrong about what was written")
        if (outcome._tag === "Completed") check(cancels === 0, "completed after its cancel frame")
        if (cancels > 0) check(isOfCancel(outcome), "the cancel was forgotten")
      }
    }
  }
  check(prompts <= 1 && cancels <= 1 && terminals <= 1, "a prompt, a cancel or a terminal too many")
  check((after._tag === "Settled") === (terminals === 1), "settled without a terminal")
  return [after, { submitted, handed, prompts, cancels, retired, terminals }]
}

/** One of each kind: what the machine does with the others of a kind stands in the table. */
const enumerated: ReadonlyArray<InputName> = [
  "submit",
  "handed",
  "message",
  "tool",
  "interrupt",
  "runCancel",
  "endTurn",
  "cancelled",
  "error",
  "closed",
  "deadline",
  "cancelDeadline"
]

describe("turnState", () => {
  it.each(table.map((row) => [...row] as const))("%s", (_sentence, sequence, words) => {
    assert.deepStrictEqual(run(sequence)[1].map(word), [...words])
  })

  it("keeps what the agent said beside our own fact", () => {
    const error = { rpcCode: -32603, rpcMessage: "aborted" }
    assert.deepInclude(outcomeOf([...open, "interrupt", "error"]), { agentError: error })
    assert.deepInclude(outcomeOf([...open, "error"]), { agentError: error, classification: "overloaded" })
    assert.deepInclude(outcomeOf([...open, "deadline", "endTurn"]), { providerStopReason: "end_turn" })
    assert.deepInclude(outcomeOf([...open, "message", "strange"]), { providerStopReason: "bored" })
    assert.deepInclude(outcomeOf([...open, "tool", "maxTokens"]), { usage: { total: 1 } })
  })

  it("says how the connection ended", () => {
    const facts = { closeReason: "exited", exit: { _tag: "Code", code: 7 }, stderrTail: ["boom"] } as const
    assert.deepInclude(outcomeOf([...open, "closed"]), facts)
    assert.deepInclude(outcomeOf([...open, "deadline", "closed"]), facts)
    assert.deepInclude(outcomeOf([...open, "interrupt", "closed"]), { exit: facts.exit })
  })

  it("counts the events that were not delivered, before the cancel and after", () => {
    assert.strictEqual(outcomeOf([...open, "dropped", "interrupt", "dropped", "cancelled"]).undeliveredEvents, 6)
    assert.strictEqual(outcomeOf([...open, "dropped", "message", "endTurn"]).undeliveredEvents, 3)
    assert.strictEqual(outcomeOf([...open, "dropped", "deadline", "dropped", "cancelDeadline"]).undeliveredEvents, 6)
  })

  it("ends exactly once in all sequences of up to six inputs", () => {
    let sequences = 0
    const explore = (state: TurnState, seen: Seen, left: number): void => {
      sequences++
      if (left === 0) return
      for (const name of enumerated) explore(...observe(state, seen, name), left - 1)
    }
    explore(queued, nothingSeen, 6)
    assert.strictEqual(sequences, (enumerated.length ** 7 - 1) / (enumerated.length - 1))
  }, 120_000)

  it("ends exactly once in sequences of any length, for all its states are visited, and can always be ended", () => {
    // `dropped` only counts, without end; it stands in a test of its own.
    const finite = names.filter((name) => name !== "dropped")
    const isOutcome = Schema.is(TurnOutcome)
    const visited = new Map<string, TurnState>()
    const visit = (state: TurnState, seen: Seen): void => {
      const facts = state._tag === "Prompting" ? [...state.facts].sort() : []
      const key = JSON.stringify([state, facts, seen])
      if (visited.has(key)) return
      visited.set(key, state)
      if (state._tag === "Settled") assert.isTrue(isOutcome(state.outcome), key)
      for (const name of finite) visit(...observe(state, seen, name))
    }
    visit(queued, nothingSeen)
    const tags = new Set([...visited.values()].map((state) => state._tag))
    assert.deepStrictEqual([...tags].sort(), ["Dispatching", "Draining", "Prompting", "Queued", "Settled"])
    for (const state of visited.values()) {
      assert.strictEqual(step(state, inputs.closed)[0]._tag, "Settled")
      assert.strictEqual(step(step(state, inputs.interrupt)[0], inputs.cancelDeadline)[0]._tag, "Settled")
      assert.strictEqual(step(step(state, inputs.deadline)[0], inputs.cancelDeadline)[0]._tag, "Settled")
    }
  })

  it.prop(
    "ends at most once for any long sequence, and nothing changes the outcome",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals(names)), { maxLength: 60 })],
    ([sequence]) => {
      let state = queued
      let seen = nothingSeen
      let outcome: TurnOutcome | undefined
      for (const name of sequence) {
        ;[state, seen] = observe(state, seen, name)
        if (state._tag !== "Settled") continue
        assert.strictEqual(state.outcome, outcome ?? state.outcome)
        outcome = state.outcome
      }
    },
    { arbitrary: { runs: 2000 } }
  )
})
