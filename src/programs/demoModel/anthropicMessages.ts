/** Anthropic messages: `POST …/messages`. */
import { isRecord } from "./script.ts"
import type { Json } from "./script.ts"
import { argumentsOf, base64Bytes, callId, lastOf, offerOf, partsOf, textOf, usage, words } from "./wire.ts"
import type { Image, Message, Piece, Reply, Wire } from "./wire.ts"

export const anthropicMessages: Wire = {
  name: "messages",
  matches: (path) => path.endsWith("/messages"),
  read: (body) => ({
    model: String(body["model"] ?? ""),
    stream: body["stream"] === true,
    tools: partsOf(body["tools"]).flatMap((tool) => offerOf(tool["name"], tool["input_schema"])),
    ...lastOf(partsOf(body["messages"]).flatMap(messageOf)),
    commandsUntrusted: false
  }),
  whole: (reply) => ({
    ...envelope(reply),
    content: contentOf(reply),
    stop_reason: stopReasonOf(reply),
    usage: { input_tokens: usage.input, output_tokens: usage.output }
  }),
  stream: pieces,
  failure: { type: "error", error: { type: "api_error", message: "scripted failure" } }
}

/** A tool result is a part of a user's message; what else is in that message are reminders. */
const messageOf = (message: Json): ReadonlyArray<Message> => {
  const content = message["content"]
  if (message["role"] !== "user") return [{ _tag: "Assistant" }]
  const results = partsOf(content).filter((part) => part["type"] === "tool_result")
  if (results.length > 0) return results.map((part) => ({ _tag: "ToolResult", text: textOf(part["content"]) }))
  return [{ _tag: "User", text: textOf(content), images: partsOf(content).flatMap(imageOfPart) }]
}

const imageOfPart = (part: Json): ReadonlyArray<Image> => {
  const source = part["source"]
  if (part["type"] !== "image" || !isRecord(source) || typeof source["data"] !== "string") return []
  return [{ type: String(source["media_type"]), bytes: base64Bytes(source["data"]) }]
}

const envelope = (reply: Reply) => ({
  id: `msg_${reply.number}`,
  type: "message",
  role: "assistant",
  model: reply.model,
  content: [],
  stop_reason: null,
  stop_sequence: null
})

const stopReasonOf = (reply: Reply): string => ((reply.turn.calls ?? []).length > 0 ? "tool_use" : "end_turn")

const contentOf = (reply: Reply): ReadonlyArray<object> => [
  ...(reply.turn.text === undefined ? [] : [{ type: "text", text: reply.turn.text }]),
  ...(reply.turn.calls ?? []).map((call, index) => ({ ...toolUse(reply, index), input: call.args ?? {} }))
]

const toolUse = (reply: Reply, index: number) => {
  const call = reply.turn.calls?.[index] ?? { name: "" }
  return { type: "tool_use", id: callId(reply, call, index), name: call.name, input: {} }
}

function* pieces(reply: Reply): Iterable<Piece> {
  const event = (type: string, fields: object): Piece => ({ event: type, data: { type, ...fields } })
  const { text, calls = [] } = reply.turn
  yield event("message_start", {
    message: { ...envelope(reply), usage: { input_tokens: usage.input, output_tokens: 1 } }
  })
  if (text !== undefined) {
    yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } })
    for (const word of words(text)) {
      yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } })
      yield "pause"
    }
    yield "hang"
    yield event("content_block_stop", { index: 0 })
  }
  yield "hang"
  for (const [position, call] of calls.entries()) {
    const index = position + (text === undefined ? 0 : 1)
    yield event("content_block_start", { index, content_block: toolUse(reply, position) })
    yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: argumentsOf(call) } })
    yield event("content_block_stop", { index })
  }
  const delta = { stop_reason: stopReasonOf(reply), stop_sequence: null }
  yield event("message_delta", { delta, usage: { output_tokens: usage.output } })
  yield event("message_stop", {})
}
