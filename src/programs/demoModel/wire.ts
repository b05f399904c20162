/** What the wires of the providers have in common: a request as the model sees it, and an answer in pieces. */
import { isRecord } from "./script.ts"
import type { Json, ModelCall, ModelTurn } from "./script.ts"

export interface ToolOffer {
  readonly name: string
  /** Its parameters by name, each as a JSON schema. */
  readonly parameters: Json
  readonly required: ReadonlyArray<string>
}

export interface Image {
  readonly type: string
  readonly bytes: number
}

export interface ModelRequest {
  readonly model: string
  readonly stream: boolean
  readonly tools: ReadonlyArray<ToolOffer>
  /** The user's last message, without what the agent wrapped around it. */
  readonly prompt: string
  /** The last tool result, when nothing of the user came after it. */
  readonly toolResult: string | undefined
  readonly images: ReadonlyArray<Image>
  /** The agent tells its model that every command is asked for anyway, so that it must not ask for more. */
  readonly commandsUntrusted: boolean
}

/** An event of the stream, the pause behind a word, or the point where a hanging answer hangs. */
export type Piece = { readonly event?: string; readonly data: unknown } | "pause" | "hang"

export interface Reply {
  /** Number of the request, for the ids. */
  readonly number: number
  readonly model: string
  readonly turn: ModelTurn
}

export interface Wire {
  readonly name: "chat" | "responses" | "messages"
  readonly matches: (path: string) => boolean
  readonly read: (body: Json) => ModelRequest
  readonly whole: (reply: Reply) => unknown
  readonly stream: (reply: Reply) => Iterable<Piece>
  readonly failure: unknown
}

/** The numbers are fixed: nothing is counted. */
export const usage = { input: 10, output: 5, total: 15 } as const

export const words = (text: string): ReadonlyArray<string> => text.match(/\S+\s*|\s+/g) ?? []

export const callId = (reply: Reply, call: ModelCall, index: number): string =>
  call.id ?? `call_${reply.number}_${index}`

export const argumentsOf = (call: ModelCall): string => JSON.stringify(call.args ?? {})

/** One message of a conversation, whatever the wire. */
export type Message =
  | { readonly _tag: "Assistant" }
  | { readonly _tag: "ToolResult"; readonly text: string }
  | { readonly _tag: "User"; readonly text: string; readonly images: ReadonlyArray<Image> }

/** What to react to: the last thing behind the assistant's last words that says something. */
export const lastOf = (messages: ReadonlyArray<Message>): Pick<ModelRequest, "prompt" | "toolResult" | "images"> => {
  for (const message of messages.toReversed()) {
    if (message._tag === "Assistant") break
    if (message._tag === "ToolResult") return { prompt: "", toolResult: message.text, images: [] }
    const prompt = unwrapped(message.text)
    if (prompt !== "" || message.images.length > 0) return { prompt, toolResult: undefined, images: message.images }
  }
  return { prompt: "", toolResult: undefined, images: [] }
}

/** Agents put reminders and context in tags around what the user wrote. */
const unwrapped = (text: string): string => text.replaceAll(/<([A-Za-z][\w-]*)(?:\s[^>]*)?>[\s\S]*?<\/\1>/g, "").trim()

/** The text of a content that is a string or a list of parts. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  return partsOf(content)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : ""))
    .join("\n")
}

export const partsOf = (content: unknown): ReadonlyArray<Json> =>
  Array.isArray(content) ? content.filter(isRecord) : []

/** An image that is given as a data URL. */
export const imageOf = (url: unknown): ReadonlyArray<Image> => {
  const match = typeof url === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : null
  return match === null ? [] : [{ type: match[1] ?? "", bytes: base64Bytes(match[2] ?? "") }]
}

export const base64Bytes = (data: string): number => Buffer.from(data, "base64").length

export const offerOf = (name: unknown, schema: unknown): ReadonlyArray<ToolOffer> => {
  if (typeof name !== "string") return []
  const parameters = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {}
  const required = isRecord(schema) && Array.isArray(schema["required"]) ? schema["required"] : []
  return [{ name, parameters, required: required.filter((key) => typeof key === "string") }]
}
