import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

/** Values that have broken somebody's reader of agent output. */
const nasty: ReadonlyArray<unknown> = [
  undefined,
  null,
  "",
  "x",
  "\u0000",
  "\ud83d",
  "\ude00x",
  "😀".repeat(130),
  "../../etc/passwd",
  "/workspace/a.txt",
  "/workspace",
  "a\n/../b",
  "constructor",
  "x".repeat(4001),
  0,
  -0,
  -1,
  0.5,
  1e300,
  2 ** 53,
  true,
  [],
  {},
  [[]],
  [null],
  "completed",
  "failed",
  "pending",
  "in_progress",
  JSON.parse('{"__proto__":{"type":"text","text":"x"},"hasOwnProperty":1}')
]

const pick = (values: ReadonlyArray<unknown>): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.map(indexOf(values), (index) => values[index])

const oneOf = (choices: ReadonlyArray<Arbitrary.Arbitrary<unknown>>): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.flatMap(indexOf(choices), (index) => choices[index] ?? Arbitrary.Constant(undefined))

const indexOf = (values: ReadonlyArray<unknown>): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Literals(values.map((_, index) => index)))

const record = (fields: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>>): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.all(fields)

const list = (item: Arbitrary.Arbitrary<unknown>): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.array(item, { maxLength: 4 })

const any = oneOf([pick(nasty), Arbitrary.schema(Schema.Json)])

const oftenGood = (good: ReadonlyArray<unknown>): Arbitrary.Arbitrary<unknown> => oneOf([pick(good), pick(good), any])

const block = oneOf([
  record({
    type: oftenGood(["text", "image", "resource"]),
    text: oftenGood(["t", "", "é😀"]),
    resource: oneOf([record({ uri: any, text: any, blob: any }), any]),
    data: any,
    size: any,
    uri: oftenGood(["https://host/a", "file:///workspace/b", "data:,x"]),
    name: any
  }),
  any
])

const entry = oneOf([
  record({
    type: oftenGood(["content", "diff", "terminal"]),
    content: block,
    path: oftenGood(["/workspace/a", "/workspace/b/c", "../x"]),
    oldText: oftenGood([null, "", "a\nb\n"]),
    newText: oftenGood(["", "a\nc\n"])
  }),
  any
])

const kinds = [
  "agent_message_chunk",
  "agent_thought_chunk",
  "user_message_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
  "usage_update",
  "current_mode_update",
  "config_option_update",
  "available_commands_update",
  "session_info_update",
  "notice",
  "compaction_update",
  "compaction_summary_chunk"
]

const withExit = record({ exitCode: any, exit_code: any, metadata: any, content: any, output: any })
const withTerminal = record({ terminal_output: record({ data: any }), terminal_exit: record({ exit_code: any }) })

/** Any JSON under the fields that the projection reads, with enough of it right to get deep into every branch. */
export const hostileUpdate: Arbitrary.Arbitrary<unknown> = oneOf([
  record({
    sessionUpdate: oftenGood(kinds),
    messageId: oftenGood(["m1", "m2", null]),
    content: oneOf([block, list(entry)]),
    toolCallId: oftenGood(["c1", "c2", "a b"]),
    title: oftenGood(["A title"]),
    name: any,
    kind: oftenGood(["execute", "edit", "read"]),
    status: oftenGood(["pending", "in_progress", "completed", "failed"]),
    locations: oneOf([list(record({ path: any, line: any })), any]),
    rawInput: any,
    rawOutput: oneOf([withExit, any]),
    _meta: oneOf([withTerminal, any]),
    entries: oneOf([list(record({ content: oftenGood(["a"]), status: oftenGood(["pending", "completed"]) })), any]),
    used: oftenGood([1]),
    size: oftenGood([2]),
    cost: any,
    currentModeId: any,
    configOptions: oneOf([list(record({ id: any, name: any, currentValue: any })), any]),
    availableCommands: oneOf([list(record({ name: any, description: any })), any]),
    description: any,
    severity: any,
    compactionId: any
  }),
  any
])
