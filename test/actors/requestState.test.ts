import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  type Answerable,
  isSettled,
  received,
  type RequestInput,
  type RequestOutput,
  type RequestState,
  step
} from "../../src/actors/requestState.ts"
import { InvariantViolated } from "../../src/schema/errors.ts"

const request: Answerable = {
  requestId: "r1",
  options: [
    { optionId: "yes", nativeOptionId: "y\u0000es", name: "Yes", kind: "allow_once" },
    { optionId: "no", nativeOptionId: "no", name: "No", kind: "reject_once" }
  ]
}

const inputs = {
  ask: { _tag: "Decided", decision: { _tag: "Ask" } },
  allow: { _tag: "Decided", decision: { _tag: "Allow", optionId: "yes", reason: "rule" } },
  deny: { _tag: "Decided", decision: { _tag: "Deny", optionId: "no", by: "policy", reason: "rule" } },
  headless: { _tag: "Decided", decision: { _tag: "Deny", optionId: undefined, by: "headless", reason: "nobody" } },
  refuse: { _tag: "Decided", decision: { _tag: "Refuse", reason: "two options have the same id" } },
  persisted: { _tag: "Persisted" },
  yes: { _tag: "Answered", answer: { _tag: "Selected", optionId: "yes" } },
  no: { _tag: "Answered", answer: { _tag: "Selected", optionId: "no" } },
  forged: { _tag: "Answered", answer: { _tag: "Selected", optionId: "y\u0000es" } },
  dismiss: { _tag: "Answered", answer: { _tag: "Cancelled" } },
  withdrawn: { _tag: "Withdrawn" },
  turnCancelled: { _tag: "TurnOver", how: "cancelled" },
  turnEnded: { _tag: "TurnOver", how: "ended" },
  deadline: { _tag: "DeadlineFired" },
  acknowledged: { _tag: "WriteAcknowledged" },
  writeFailed: { _tag: "WriteFailed", reason: "connection_dead" },
  slotTaken: { _tag: "WriteFailed", reason: "already_answered" },
  closed: { _tag: "ConnectionClosed" },
  recorded: { _tag: "RecordAcknowledged" }
} as const satisfies Record<string, RequestInput>

type InputName = keyof typeof inputs
const names = Object.keys(inputs).filter((name): name is InputName => name in inputs)

const run = (sequence: ReadonlyArray<InputName>): readonly [RequestState, ReadonlyArray<RequestOutput>] => {
  let state = received(request)
  const all: Array<RequestOutput> = []
  for (const name of sequence) {
    const [next, outputs] = step(state, inputs[name])
    state = next
    all.push(...outputs)
  }
  return [state, all]
}

/** One word per output: what a table can hold. */
const word = (output: RequestOutput): string => {
  switch (output._tag) {
    case "Write":
      return output.answer._tag === "Selected"
        ? `write ${JSON.stringify(output.answer.optionId)}`
        : `write ${output.answer._tag}`
    case "RecordResolved":
      return `resolved by ${output.resolution.by}`
    case "RecordUndelivered":
      return `undelivered ${output.reason}`
    case "RefuseAnswer":
      return `refuse ${output.reason}`
    case "FailAnswer":
      return `fail ${output.reason}`
    default:
      return output._tag
  }
}

const shown: ReadonlyArray<InputName> = ["ask", "persisted"]
const shownWords = ["RecordCreated", "Show"]
const written = 'write "y\\u0000es"'

const table: ReadonlyArray<readonly [string, ReadonlyArray<InputName>, string, ReadonlyArray<string>]> = [
  [
    "an answer goes out with the agent's own option id and is recorded after its write",
    [...shown, "yes", "acknowledged", "recorded"],
    "Recorded",
    [...shownWords, written, "resolved by answer", "ConfirmAnswer"]
  ],
  ["a request is shown only once it is recorded", ["ask"], "Persisting", ["RecordCreated"]],
  [
    "a policy answers without anybody seeing the request",
    ["allow", "acknowledged", "recorded"],
    "Recorded",
    ["RecordCreated", written, "resolved by policy"]
  ],
  [
    "a denial takes the reject option",
    ["deny", "acknowledged"],
    "Delivered",
    ["RecordCreated", 'write "no"', "resolved by policy"]
  ],
  [
    "with nobody to ask and no reject option the answer is cancelled, and that is recorded",
    ["headless", "acknowledged"],
    "Delivered",
    ["RecordCreated", "write Cancelled", "resolved by headless"]
  ],
  [
    "a request that is not valid is answered with an error",
    ["refuse", "acknowledged"],
    "Delivered",
    ["RecordCreated", "write Error", "resolved by refused"]
  ],
  [
    "somebody may dismiss a request",
    [...shown, "dismiss", "acknowledged"],
    "Delivered",
    [...shownWords, "write Cancelled", "resolved by answer", "ConfirmAnswer"]
  ],
  [
    "a forged answer changes nothing, the right one still wins",
    [...shown, "forged", "yes"],
    "Answering",
    [...shownWords, "refuse option_not_offered", written]
  ],
  [
    "the second answer is refused while the first is being written",
    [...shown, "yes", "no"],
    "Answering",
    [...shownWords, written, "refuse already_answered"]
  ],
  [
    "the second answer is refused after the first was delivered",
    [...shown, "yes", "acknowledged", "yes"],
    "Delivered",
    [...shownWords, written, "resolved by answer", "ConfirmAnswer", "refuse already_answered"]
  ],
  [
    "an answer before the request is shown is refused",
    ["ask", "yes", "persisted"],
    "Shown",
    ["RecordCreated", "refuse unknown_request", "Show"]
  ],
  [
    "an answer after the agent withdrew is stale",
    [...shown, "withdrawn", "yes", "acknowledged"],
    "Delivered",
    [...shownWords, "write Cancelled", "refuse stale", "resolved by withdrawn"]
  ],
  [
    "an answer after the turn was cancelled is stale",
    [...shown, "turnCancelled", "acknowledged", "recorded", "yes"],
    "Recorded",
    [...shownWords, "write Cancelled", "resolved by turn_cancelled", "refuse stale"]
  ],
  [
    "an answer after the turn ended is stale",
    [...shown, "turnEnded", "yes"],
    "Answering",
    [...shownWords, "write Cancelled", "refuse stale"]
  ],
  [
    "an answer after the deadline is stale",
    [...shown, "deadline", "yes", "acknowledged"],
    "Delivered",
    [...shownWords, "write Cancelled", "refuse stale", "resolved by expired"]
  ],
  [
    "an answer after the policy decided comes too late",
    ["allow", "no"],
    "Answering",
    ["RecordCreated", written, "refuse already_answered"]
  ],
  [
    "a turn that is cancelled before the policy decided answers all the same",
    ["turnCancelled", "allow", "acknowledged"],
    "Delivered",
    ["RecordCreated", "write Cancelled", "resolved by turn_cancelled"]
  ],
  [
    "a turn that is cancelled while the record is written shows nothing any more",
    ["ask", "turnCancelled", "persisted"],
    "Answering",
    ["RecordCreated", "write Cancelled"]
  ],
  [
    "a withdrawal after the answer leaves the answer standing",
    [...shown, "yes", "withdrawn", "acknowledged"],
    "Delivered",
    [...shownWords, written, "resolved by answer", "ConfirmAnswer"]
  ],
  [
    "an answer that cannot be written is never recorded as resolved",
    [...shown, "yes", "writeFailed", "acknowledged", "yes"],
    "Undelivered",
    [...shownWords, written, "undelivered connection_dead", "fail connection_dead", "refuse connection_dead"]
  ],
  [
    "an answer whose slot was taken says so",
    [...shown, "yes", "slotTaken"],
    "Undelivered",
    [...shownWords, written, "undelivered already_answered", "fail already_answered"]
  ],
  [
    "the connection dies while the request is shown",
    [...shown, "closed", "yes"],
    "Undelivered",
    [...shownWords, "undelivered connection_dead", "refuse connection_dead"]
  ],
  [
    "the connection dies before the policy decided",
    ["closed", "allow"],
    "Undelivered",
    ["RecordCreated", "undelivered connection_dead"]
  ],
  [
    "the connection dies after the write, which stands",
    [...shown, "yes", "acknowledged", "closed", "recorded"],
    "Recorded",
    [...shownWords, written, "resolved by answer", "ConfirmAnswer"]
  ]
]

/** What has been seen of one run; every rule of the machine is a rule about this. */
interface Seen {
  readonly created: boolean
  readonly writes: number
  readonly acknowledged: boolean
  readonly resolved: boolean
  readonly undelivered: boolean
  readonly replies: number
  readonly won: boolean
}

const nothingSeen: Seen = {
  created: false,
  writes: 0,
  acknowledged: false,
  resolved: false,
  undelivered: false,
  replies: 0,
  won: false
}

/** An assertion that costs nothing while it holds: there are millions. */
const check = (holds: boolean, rule: string): void => {
  if (!holds) assert.fail(rule)
}

const observe = (before: RequestState, seen: Seen, name: InputName): readonly [RequestState, Seen] => {
  const input = inputs[name]
  const [after, outputs] = step(before, input)
  let { created, writes, acknowledged, resolved, undelivered, replies, won } = seen
  if (input._tag === "WriteAcknowledged" && writes === 1) acknowledged = true
  let repliesNow = 0
  for (const output of outputs) {
    if (output._tag === "RecordCreated") {
      check(!created, "created twice")
      created = true
      continue
    }
    check(created || output._tag === "RefuseAnswer", `${output._tag} before the request is recorded`)
    if (output._tag === "Show") check(writes === 0, "shown after its answer")
    if (output._tag === "Write") {
      writes++
      won = input._tag === "Answered"
    }
    if (output._tag === "RecordResolved") {
      check(acknowledged, "recorded before the write was acknowledged")
      check(!(resolved || undelivered), "recorded twice")
      resolved = true
    }
    if (output._tag === "RecordUndelivered") {
      check(!(resolved || undelivered), "recorded twice")
      undelivered = true
    }
    if (output._tag === "ConfirmAnswer" || output._tag === "FailAnswer") {
      check(won, "a reply without a winner")
      replies++
    }
    if (output._tag === "RefuseAnswer") {
      check(after === before, "a refused answer changed something")
      repliesNow++
    }
  }
  check(writes <= 1, "more than one answer left")
  check(replies <= 1, "the winner was replied to twice")
  check(!isSettled(before) || after === before, "a settled request changed")
  // Every answer is replied to: refused at once, or as the winner later.
  if (input._tag === "Answered") check(repliesNow + (writes - seen.writes) === 1, "an answer without a reply")
  if (isSettled(after)) {
    check(resolved !== undelivered, "settled without its record")
    check(replies === (won ? 1 : 0), "the winner was left without a reply")
  }
  return [after, { created, writes, acknowledged, resolved, undelivered, replies, won }]
}

describe("requestState", () => {
  it.each(table.map((row) => [...row] as const))("%s", (_sentence, sequence, tag, words) => {
    const [state, outputs] = run(sequence)
    assert.deepStrictEqual(outputs.map(word), [...words])
    assert.strictEqual(state._tag, tag)
  })

  it("keeps every rule in all sequences of up to five inputs", () => {
    let sequences = 0
    const explore = (state: RequestState, seen: Seen, left: number): void => {
      sequences++
      if (left === 0) return
      for (const name of names) explore(...observe(state, seen, name), left - 1)
    }
    explore(received(request), nothingSeen, 5)
    assert.strictEqual(sequences, (names.length ** 6 - 1) / (names.length - 1))
  })

  it("keeps every rule in sequences of any length, for it has finitely many states and all are visited", () => {
    const visited = new Map<string, readonly [RequestState, Seen]>()
    const visit = (state: RequestState, seen: Seen): void => {
      const key = JSON.stringify([state, seen])
      if (visited.has(key)) return
      visited.set(key, [state, seen])
      for (const name of names) visit(...observe(state, seen, name))
    }
    visit(received(request), nothingSeen)
    const tags = new Set([...visited.values()].map(([state]) => state._tag))
    assert.deepStrictEqual([...tags].sort(), [
      "Answering",
      "Delivered",
      "Persisting",
      "Received",
      "Recorded",
      "Shown",
      "Undelivered"
    ])
    for (const [state] of visited.values()) {
      const [closed] = step(state, inputs.closed)
      assert.isTrue(isSettled(closed) || closed._tag === "Delivered", `${state._tag} survives its connection`)
    }
  })

  it.prop(
    "yields at most one answer for any long sequence, and refuses answers once settled",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals(names)), { maxLength: 40 })],
    ([sequence]) => {
      let state = received(request)
      let seen = nothingSeen
      for (const name of sequence) [state, seen] = observe(state, seen, name)
      if (!isSettled(state)) return
      for (const name of ["yes", "no", "forged", "dismiss"] as const) {
        const [after, outputs] = step(state, inputs[name])
        assert.strictEqual(after, state)
        assert.deepStrictEqual(
          outputs.map((output) => output._tag),
          ["RefuseAnswer"]
        )
      }
    },
    { arbitrary: { runs: 2000 } }
  )

  it("dies when a policy decides for an option that is not offered", () => {
    const forged: RequestInput = { _tag: "Decided", decision: { _tag: "Allow", optionId: "maybe", reason: "rule" } }
    assert.throws(() => step(received(request), forged), InvariantViolated)
  })
})
