/** OpenAI responses: `POST …/responses`. */
import { isRecord } from "./script.ts"
import type { Json } from "./script.ts"
import { argumentsOf, callId, imageOf, lastOf, offerOf, partsOf, textOf, usage, words } from "./wire.ts"
import type { Message, Piece, Reply, Wire } from "./wire.ts"

export const responses: Wire = {
  name: "responses",
  matches: (path) => path.endsWith("/responses"),
  read: (body) => ({
    model: String(body["model"] ?? ""),
    stream: body["stream"] === true,
    tools: partsOf(body["tools"]).flatMap((tool) => offerOf(tool["name"], tool["parameters"])),
    ...lastOf(itemsOf(body["input"]).flatMap(messageOf)),
    commandsUntrusted: saysUntrusted(body)
  }),
  whole: (reply) => ({ ...envelope(reply, "completed"), output: itemsOfReply(reply), usage: usageFields }),
  stream: pieces,
  failure: { error: { message: "scripted failure", type: "server_error" } }
}

const itemsOf = (input: unknown): ReadonlyArray<Json> =>
  typeof input === "string" ? [{ type: "message", role: "user", content: input }] : partsOf(input)

const messageOf = (item: Json): ReadonlyArray<Message> => {
  const type = item["type"] ?? "message"
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return [{ _tag: "ToolResult", text: resultText(item["output"]) }]
  if (type !== "message") return [{ _tag: "Assistant" }]
  if (item["role"] === "assistant") return [{ _tag: "Assistant" }]
  if (item["role"] !== "user") return []
  const images = partsOf(item["content"]).flatMap((part) => imageOf(part["image_url"]))
  return [{ _tag: "User", text: textOf(item["content"]), images }]
}

const resultText = (output: unknown): string => (isRecord(output) ? textOf(output["content"]) : textOf(output))

/** Codex states its policy in the context of the conversation. */
const saysUntrusted = (body: Json): boolean =>
  itemsOf(body["input"]).some((item) =>
    /approval_policy(?:`? is `?|>)\s*(?:untrusted|unless-trusted)/i.test(textOf(item["content"]))
  )

const usageFields = {
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.total
}

const envelope = (reply: Reply, status: "in_progress" | "completed") => ({
  id: `resp_${reply.number}`,
  object: "response",
  created_at: 1_700_000_000,
  status,
  model: reply.model,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: []
})

const messageItem = (reply: Reply, text: string) => ({
  id: `msg_${reply.number}`,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})

const callItems = (reply: Reply) =>
  (reply.turn.calls ?? []).map((call, index) => ({
    id: `fc_${reply.number}_${index}`,
    type: "function_call",
    status: "completed",
    call_id: callId(reply, call, index),
    name: call.name,
    arguments: argumentsOf(call)
  }))

const itemsOfReply = (reply: Reply): ReadonlyArray<object> => {
  const { text } = reply.turn
  return [...(text === undefined ? [] : [messageItem(reply, text)]), ...callItems(reply)]
}

function* pieces(reply: Reply): Iterable<Piece> {
  let sequence = 0
  const event = (type: string, fields: object): Piece => ({
    event: type,
    data: { type, sequence_number: sequence++, ...fields }
  })
  const { text } = reply.turn
  yield event("response.created", { response: { ...envelope(reply, "in_progress"), output: [], usage: null } })
  if (text !== undefined) yield* messagePieces(reply, text, event)
  yield "hang"
  for (const [index, item] of callItems(reply).entries()) {
    const place = { output_index: index + (text === undefined ? 0 : 1) }
    yield event("response.output_item.added", { ...place, item: { ...item, status: "in_progress", arguments: "" } })
    const of = { ...place, item_id: item.id }
    yield event("response.function_call_arguments.delta", { ...of, delta: item.arguments })
    yield event("response.function_call_arguments.done", { ...of, arguments: item.arguments })
    yield event("response.output_item.done", { ...place, item })
  }
  const response = { ...envelope(reply, "completed"), output: itemsOfReply(reply), usage: usageFields }
  yield event("response.completed", { response })
}

function* messagePieces(reply: Reply, text: string, event: (type: string, fields: object) => Piece): Iterable<Piece> {
  const item = messageItem(reply, text)
  const of = { output_index: 0, item_id: item.id, content_index: 0 }
  yield event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", content: [] } })
  yield event("response.content_part.added", { ...of, part: { type: "output_text", text: "", annotations: [] } })
  for (const word of words(text)) {
    yield event("response.output_text.delta", { ...of, delta: word })
    yield "pause"
  }
  yield "hang"
  yield event("response.output_text.done", { ...of, text })
  yield event("response.content_part.done", { ...of, part: item.content[0] })
  yield event("response.output_item.done", { output_index: 0, item })
}
