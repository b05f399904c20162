/** OpenAI chat completions: `POST …/chat/completions`. */
import { isRecord } from "./script.ts"
import type { Json } from "./script.ts"
import { argumentsOf, callId, imageOf, lastOf, offerOf, partsOf, textOf, usage, words } from "./wire.ts"
import type { Message, Piece, Reply, Wire } from "./wire.ts"

const usageFields = { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.total }

export const chatCompletions: Wire = {
  name: "chat",
  matches: (path) => path.endsWith("/chat/completions"),
  read: (body) => ({
    model: String(body["model"] ?? ""),
    stream: body["stream"] === true,
    tools: partsOf(body["tools"]).flatMap((tool) => {
      const declared = isRecord(tool["function"]) ? tool["function"] : {}
      return offerOf(declared["name"], declared["parameters"])
    }),
    ...lastOf(partsOf(body["messages"]).flatMap(messageOf)),
    commandsUntrusted: false
  }),
  whole: (reply) => {
    const calls = callsOf(reply)
    const message = {
      role: "assistant",
      content: reply.turn.text ?? null,
      ...(calls.length > 0 ? { tool_calls: calls } : {})
    }
    const choices = [{ index: 0, message, finish_reason: finishOf(reply) }]
    return { ...envelope(reply, "chat.completion"), choices, usage: usageFields }
  },
  stream: pieces,
  failure: { error: { message: "scripted failure", type: "server_error" } }
}

const messageOf = (message: Json): ReadonlyArray<Message> => {
  const content = message["content"]
  switch (message["role"]) {
    case "assistant":
      return [{ _tag: "Assistant" }]
    case "tool":
      return [{ _tag: "ToolResult", text: textOf(content) }]
    case "user":
      return [{ _tag: "User", text: textOf(content), images: partsOf(content).flatMap(imageOfPart) }]
    default:
      return []
  }
}

const imageOfPart = (part: Json) => imageOf(isRecord(part["image_url"]) ? part["image_url"]["url"] : undefined)

const envelope = (reply: Reply, object: string) => ({
  id: `chatcmpl-${reply.number}`,
  object,
  created: 1_700_000_000,
  model: reply.model
})

const callsOf = (reply: Reply) =>
  (reply.turn.calls ?? []).map((call, index) => ({
    id: callId(reply, call, index),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) }
  }))

const finishOf = (reply: Reply): string => ((reply.turn.calls ?? []).length > 0 ? "tool_calls" : "stop")

function* pieces(reply: Reply): Iterable<Piece> {
  const chunk = (delta: object, finish: string | null = null): Piece => ({
    data: { ...envelope(reply, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: finish }] }
  })
  yield chunk({ role: "assistant", content: "" })
  for (const word of words(reply.turn.text ?? "")) {
    yield chunk({ content: word })
    yield "pause"
  }
  yield "hang"
  for (const [index, call] of callsOf(reply).entries()) {
    const named = { ...call, function: { name: call.function.name, arguments: "" } }
    yield chunk({ tool_calls: [{ index, ...named }] })
    yield chunk({ tool_calls: [{ index, function: { arguments: call.function.arguments } }] })
  }
  yield chunk({}, finishOf(reply))
  yield { data: { ...envelope(reply, "chat.completion.chunk"), choices: [], usage: usageFields } }
  yield { data: "[DONE]" }
}
