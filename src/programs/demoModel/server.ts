/**
 * A model on loopback: OpenAI chat completions and responses, Anthropic messages, each streamed or whole, and a list of models.
 * It says what its script says, or follows the rules of plan.ts.
 *
 * A request without tools is a utility call of the agent (titles and the like): it has a fixed reply and takes no turn of the
 * script. One request is bounded in bytes, the log in entries.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { limits } from "../../schema/limits.ts"
import { anthropicMessages } from "./anthropicMessages.ts"
import { chatCompletions } from "./chatCompletions.ts"
import { plannedTurn } from "./plan.ts"
import { responses } from "./responses.ts"
import { isRecord } from "./script.ts"
import type { Json, ModelScript, ModelTurn } from "./script.ts"
import type { Image, ModelRequest, Reply, Wire } from "./wire.ts"

export interface LogEntry {
  readonly number: number
  readonly wire: Wire["name"]
  readonly path: string
  readonly model: string
  readonly stream: boolean
  readonly tools: ReadonlyArray<string>
  readonly prompt: string
  readonly toolResult: string | undefined
  readonly images: ReadonlyArray<Image>
  /** A call without tools. */
  readonly utility: boolean
  /** What was said. */
  readonly turn: ModelTurn
  /** The client disconnected before the end. */
  aborted: boolean
}

export interface DemoModel {
  /** Without a path: `http://127.0.0.1:PORT`. */
  readonly origin: string
  /** The last requests, oldest first. */
  readonly log: ReadonlyArray<LogEntry>
  /** How many answers were not taken to their end. */
  readonly aborted: () => number
  /** How many answers are being given. */
  readonly open: () => number
  /** Starts the script from its first turn; `undefined` returns to the rules. */
  readonly setScript: (script: ModelScript | undefined) => void
  /** Ends every answer and the server. */
  readonly close: () => Promise<void>
}

export interface DemoModelOptions {
  readonly script?: ModelScript | undefined
  /** Port on 127.0.0.1. Default: a free one. */
  readonly port?: number
}

const wires: ReadonlyArray<Wire> = [chatCompletions, responses, anthropicMessages]

export const startDemoModel = async (options: DemoModelOptions = {}): Promise<DemoModel> => {
  const log: Array<LogEntry> = []
  let script = options.script
  let nextTurn = 0
  let nextNumber = 1
  let aborted = 0
  let open = 0

  const turnFor = (request: ModelRequest): ModelTurn => {
    if (request.tools.length === 0) return utilityReply
    if (script === undefined) return plannedTurn(request)
    return script[nextTurn++] ?? { text: "The script is over." }
  }

  const complete = async (wire: Wire, path: string, body: Json, response: ServerResponse): Promise<void> => {
    const request = wire.read(body)
    const { model, stream, prompt, toolResult, images } = request
    const reply: Reply = { number: nextNumber++, model, turn: turnFor(request) }
    const tools = request.tools.map((tool) => tool.name)
    const utility = tools.length === 0
    const { number, turn } = reply
    const entry = {
      number,
      wire: wire.name,
      path,
      model,
      stream,
      tools,
      prompt,
      toolResult,
      images,
      utility,
      turn,
      aborted: false
    }
    log.push(entry)
    if (log.length > limits.demoModelLogEntriesMax) log.shift()
    open++
    response.on("close", () => {
      open--
      if (response.writableEnded) return
      aborted++
      entry.aborted = true
    })
    await answer(wire, reply, stream, response)
  }

  const server = createServer((request, response) => {
    handle(request, response, complete).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    log,
    aborted: () => aborted,
    open: () => open,
    setScript: (next) => {
      script = next
      nextTurn = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const utilityReply: ModelTurn = { text: "Demo conversation" }

type Complete = (wire: Wire, path: string, body: Json, response: ServerResponse) => Promise<void>

const handle = async (request: IncomingMessage, response: ServerResponse, complete: Complete): Promise<void> => {
  const path = (request.url ?? "").split("?")[0] ?? ""
  if (request.method === "GET" && path.endsWith("/models")) return sendJson(response, 200, models)
  const body = await bodyOf(request)
  if (body === undefined) return sendJson(response, 413, { error: { message: "the request is too large" } })
  if (request.method === "POST" && path.endsWith("/messages/count_tokens")) return sendJson(response, 200, tokenCount)
  const wire = wires.find((candidate) => candidate.matches(path))
  if (request.method !== "POST" || wire === undefined)
    return sendJson(response, 404, { error: { message: `no such route: ${path}` } })
  const parsed = parseBody(body)
  if (parsed === undefined) return sendJson(response, 400, { error: { message: "the request is not a JSON object" } })
  await complete(wire, path, parsed, response)
}

const tokenCount = { input_tokens: 10 }

const models = {
  object: "list",
  data: [
    { id: "demo", object: "model", type: "model", display_name: "Demo", created: 1_700_000_000, owned_by: "greenroom" }
  ],
  has_more: false
}

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

/** `undefined` when there is more than the bound; the rest is read and dropped. */
const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const pieces: Array<Buffer> = []
  let bytes = 0
  for await (const piece of request) {
    bytes += piece.length
    if (bytes <= limits.demoModelRequestBytesMax) pieces.push(piece)
    else pieces.length = 0
  }
  return bytes <= limits.demoModelRequestBytesMax ? Buffer.concat(pieces).toString() : undefined
}

const parseBody = (body: string): Json | undefined => {
  try {
    const parsed: unknown = JSON.parse(body)
    return isRecord(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const answer = async (wire: Wire, reply: Reply, stream: boolean, response: ServerResponse): Promise<void> => {
  const { status, hang, chunkDelayMs = 0 } = reply.turn
  const closed = new Promise<void>((resolve) => response.on("close", resolve))
  if (status !== undefined) return sendJson(response, status, wire.failure)
  if (!stream) {
    if (hang === true) return closed
    return sendJson(response, 200, wire.whole(reply))
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  for (const piece of wire.stream(reply)) {
    if (response.destroyed) return
    if (piece === "hang") {
      if (hang === true) return closed
    } else if (piece === "pause") {
      if (chunkDelayMs > 0) await Promise.race([closed, pause(chunkDelayMs)])
    } else response.write(serverSentEvent(piece))
  }
  response.end()
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const serverSentEvent = (piece: { readonly event?: string; readonly data: unknown }): string => {
  const data = typeof piece.data === "string" ? piece.data : JSON.stringify(piece.data)
  return `${piece.event === undefined ? "" : `event: ${piece.event}\n`}data: ${data}\n\n`
}
