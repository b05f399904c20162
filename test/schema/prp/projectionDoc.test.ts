/** `docs/projection.md` says what the projection does: each row is projected, and each field of the protocol has a row. */
import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import type { EventDraft } from "../../../src/schema/prp/event.ts"
import { type NativeObject, nativeAt } from "../../../src/schema/prp/native.ts"
import { payloads } from "../../../src/schema/prp/payload.ts"
import { requestCreated } from "../../../src/schema/prp/requestDrafts.ts"
import { turnTerminal } from "../../../src/schema/prp/projection.ts"
import { permissionRequest } from "../../../src/services/permissionRequest.ts"
import { stopReasonOf } from "../../../src/schema/turn.ts"
import {
  blockFields,
  protocolToolKinds,
  requestFields,
  resultFields,
  stableKinds,
  unstableKinds,
  updateFields
} from "./acpFields.ts"
import { ended, feed, feedTurn, payloadsOf, requireValid, toolCall, toolUpdate, turnState, update } from "./feed.ts"
import { matches, type Row, rowsUnder, toolKinds, valueAt, withValue } from "./projectionTables.ts"

const text = (words: string) => ({ type: "text", text: words })

/** A well-behaved update of each kind, which the example of a row is put into. */
const bases: Readonly<Record<string, NativeObject>> = {
  user_message_chunk: { content: text("base") },
  agent_message_chunk: { content: text("base") },
  agent_thought_chunk: { content: text("base") },
  tool_call: { toolCallId: "call_1", title: "Base" },
  tool_call_update: { toolCallId: "call_1", title: "Base" },
  plan: { entries: [{ content: "base", priority: "medium", status: "pending" }] },
  available_commands_update: { availableCommands: [{ name: "base", description: "Base" }] },
  current_mode_update: {},
  config_option_update: {
    configOptions: [
      { id: "base", name: "Base", type: "select", currentValue: "b", options: [{ value: "b", name: "B" }] }
    ]
  },
  session_info_update: {},
  usage_update: { used: 1, size: 2, cost: { amount: 1, currency: "USD" } },
  notice: { severity: "info", title: "Base" },
  compaction_update: { compactionId: "base", status: "completed" },
  compaction_summary_chunk: { compactionId: "base", content: text("base") }
}

/** What a field does not come without. */
const beside: Readonly<Record<string, readonly [string, unknown]>> = {
  "tool_call.content[].content": ["content[].type", "content"],
  "tool_call.content[].path": ["content[]", { type: "diff", newText: "base\n" }],
  "tool_call.content[].oldText": ["content[]", { type: "diff", path: "/workspace/base", newText: "base\n" }],
  "tool_call.content[].newText": ["content[]", { type: "diff", path: "/workspace/base" }],
  "tool_call.content[].terminalId": ["content[].type", "terminal"],
  "tool_call.locations[].line": ["locations[].path", "/workspace/base"],
  "config_option_update.configOptions[].options[].options[].name": [
    "configOptions[].options[].options[].value",
    "base"
  ],
  "compaction_update.error": ["status", "failed"]
}

const updateOf = ({ example, field }: Row, as?: string): NativeObject => {
  const [kind = "", ...rest] = field.split(".")
  const [path, value] = beside[field] ?? ["sessionUpdate", as ?? kind]
  const base = withValue({ sessionUpdate: as ?? kind, ...bases[kind] }, path, value)
  return Object(
    rest.length === 0 ? { ...Object(example), sessionUpdate: kind } : withValue(base, rest.join("."), example)
  )
}

/** In a turn; a tool call is completed by a further update. */
const projected = (native: NativeObject) =>
  feed(
    turnState(),
    update(native),
    ...("toolCallId" in native ? [update(toolUpdate(String(native["toolCallId"]), { status: "completed" }))] : []),
    ended("completed")
  ).drafts

const keeps = ({ example, target }: Row, drafts: ReadonlyArray<EventDraft>, native: unknown): void => {
  for (const draft of drafts) requireValid(draft)
  switch (target._tag) {
    case "Told": {
      const found = drafts.filter(({ eventType }) => eventType === target.eventType)
      const values = found.map(({ payload }) => valueAt(payload, target.place))
      expect({ values, is: values.some((value) => matches(value, target.expected)) }).toMatchObject({ is: true })
      break
    }
    case "NativeOnly":
      expect(JSON.stringify(drafts.map(({ payload }) => payload))).not.toContain(innermost(example))
      expect(drafts.map(({ debug }) => debug?.["native"])).toContainEqual(native)
      break
    case "Nothing":
      expect(drafts).toStrictEqual([])
  }
}

/** The example without the names around it. */
const innermost = (example: unknown): string =>
  typeof example === "object" && example !== null ? innermost(Object.values(example).at(-1)) : JSON.stringify(example)

const fieldsIn = (rows: ReadonlyArray<Row>) => rows.map(({ field }) => field)

const missing = (fields: ReadonlyArray<string>, rows: ReadonlyArray<Row>) => {
  const told = new Set(fieldsIn(rows))
  return fields.filter((field) => !told.has(field))
}

describe("the tables of updates", () => {
  const rows = rowsUnder("Updates")
  it.for(rows)("$field", (row) => {
    const native = updateOf(row)
    keeps(row, projected(native), native)
    if (!row.field.startsWith("tool_call.")) return
    const further = updateOf(row, "tool_call_update")
    keeps(row, projected(further), further)
  })

  it("have every field of the protocol, once, and no other", () => {
    const asCalls = updateFields.map((field) => field.replace(/^tool_call_update\./, "tool_call."))
    const all = [...new Set(asCalls), ...unstableKinds]
    expect(missing(all, rows)).toStrictEqual([])
    expect(fieldsIn(rows).toSorted()).toStrictEqual(all.toSorted())
    expect(Object.keys(bases).toSorted()).toStrictEqual(stableKinds.toSorted())
  })
})

describe("the kinds of tools", () => {
  it("become what their table says, and there are no others", () => {
    expect(toolKinds.map(([kind]) => kind).toSorted()).toStrictEqual(protocolToolKinds.toSorted())
    for (const [kind, transport, operation] of toolKinds) {
      const [started] = payloadsOf(feedTurn(toolCall("c", { kind })).drafts, "tool.execution.started")
      expect([kind, started?.transport, started?.operation]).toStrictEqual([kind, transport, operation])
    }
  })
})

const blocks: Readonly<Record<string, NativeObject>> = {
  text: {},
  image: { mimeType: "image/gif" },
  audio: { mimeType: "audio/ogg" },
  resource_link: { uri: "https://host/base" },
  resource: {}
}

const blockOf = ({ example, field }: Row): NativeObject => {
  const [type = "", ...rest] = field.split(".")
  const base =
    field === "text.annotations" ? { text: "base" } : field.endsWith("mimeType") ? sourced(type) : blocks[type]
  return Object(withValue({ type, ...base }, rest.join("."), example))
}

/** With something that can be pointed to. */
const sourced = (type: string): NativeObject =>
  type === "resource"
    ? { resource: { blob: "QUJD" } }
    : type === "resource_link"
      ? { uri: "https://host/b" }
      : { data: "QUJD" }

describe("the tables of content", () => {
  const ofMessages = rowsUnder("Content of messages and thoughts")
  const ofTools = rowsUnder("Content of tool calls")

  it.for(ofMessages)("$field in a message", (row) => {
    const native = { sessionUpdate: "agent_message_chunk", content: blockOf(row) }
    keeps(row, projected(native), native)
  })

  it.for(ofTools)("$field in a tool call", (row) => {
    const native = toolCall("c", { content: [{ type: "content", content: blockOf(row) }] })
    keeps(row, projected(native), native)
  })

  it("have every field of the protocol, once, and no other", () => {
    for (const rows of [ofMessages, ofTools]) {
      expect(missing(blockFields, rows)).toStrictEqual([])
      expect(fieldsIn(rows).toSorted()).toStrictEqual(blockFields.toSorted())
    }
  })
})

describe("the table of permission requests", () => {
  const rows = rowsUnder("Permission requests")
  const base = {
    sessionId: "s",
    toolCall: { toolCallId: "base" },
    options: [{ optionId: "o", name: "O", kind: "allow_once" }]
  }
  const origin = { requestId: "request_1", turnId: "t1", nativeId: 0, workspaceRoots: ["/workspace"] }

  it.for(rows)("$field", (row) => {
    const raw = withValue(base, row.field, row.example)
    const request = Result.getOrThrow(permissionRequest(raw, origin))
    keeps(row, [requestCreated(request)], raw)
  })

  it("has every field of the protocol, once, and no other", () => {
    expect(missing(requestFields, rows)).toStrictEqual([])
    expect(fieldsIn(rows).toSorted()).toStrictEqual(requestFields.toSorted())
  })
})

describe("the table of a prompt's answer", () => {
  const rows = rowsUnder("The answer of a prompt")
  it.for(rows)("$field", (row) => {
    const result = Object(withValue({ stopReason: "end_turn" }, row.field, row.example))
    const stopReason = stopReasonOf(String(nativeAt(result, "stopReason")))
    if (stopReason === "refusal" || stopReason === "cancelled") throw new Error("not completed")
    const { drafts } = feed(turnState(), { _tag: "PromptResult", result })
    const terminal = turnTerminal("t1", { _tag: "Completed", stopReason, reply: "message", undeliveredEvents: 0 })
    keeps(row, [...drafts, terminal], result)
  })

  it("has every field of the protocol, once, and no other", () => {
    expect(fieldsIn(rows).toSorted()).toStrictEqual([...resultFields, "_meta"].toSorted())
  })
})

describe("the table of what agents add", () => {
  it.for(rowsUnder("`_meta`, and what agents add"))("$field", (row) => {
    const native = updateOf(row)
    keeps(row, projected(native), native)
  })
})

describe("docs/events.md", () => {
  it("has a row for every event type that is emitted", () => {
    const doc = readFileSync(join(import.meta.dirname, "../../../docs/events.md"), "utf8")
    const rows = doc.split("\n").filter((line) => line.startsWith("| `"))
    const told = rows.flatMap((line) => {
      const [first = "", ...others] = [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(
        ([, name = ""]) => name
      )
      return [first, ...others.map((name) => first.replace(/\.\w+$/, name))]
    })
    expect(Object.keys(payloads).filter((eventType) => !told.includes(eventType))).toStrictEqual([])
  })
})
