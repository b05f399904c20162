/** A host made of the official SDK, for the bundled agent as a real process. */
import { client, ndJsonStream } from "@agentclientprotocol/sdk"
import type {
  ClientConnection,
  ClientContext,
  ContentBlock,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate
} from "@agentclientprotocol/sdk"
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../../src/programs/bundledAgent.ts", import.meta.url))
const boundMs = 15_000

export type Decide = (
  request: RequestPermissionRequest
) => RequestPermissionResponse | Promise<RequestPermissionResponse>

export const choose =
  (optionId: string): Decide =>
  () => ({ outcome: { outcome: "selected", optionId } })

export class AgentPeer {
  readonly child: ChildProcess
  readonly agent: ClientContext
  readonly updates: Array<SessionUpdate> = []
  readonly asked: Array<RequestPermissionRequest> = []
  decide: Decide = choose("allow_once")
  exit: { readonly code: number | null; readonly signal: string | null } | undefined
  private readonly connection: ClientConnection
  private readonly waiting = new Set<() => void>()

  constructor(home: string) {
    const env = { PATH: process.env["PATH"], HOME: home }
    const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "inherit"] })
    this.child = child
    child.on("exit", (code, signal) => this.changed(() => (this.exit = { code, signal })))
    child.stdin.on("error", () => undefined)
    const app = client()
      .onNotification("session/update", ({ params }) => this.changed(() => this.updates.push(params.update)))
      .onRequest("session/request_permission", ({ params }) => {
        this.changed(() => this.asked.push(params))
        return this.decide(params)
      })
    this.connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
    this.agent = this.connection.agent
  }

  initialize() {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })
  }

  prompt(sessionId: string, ...content: ReadonlyArray<string | ContentBlock>) {
    const prompt = content.map((block): ContentBlock =>
      typeof block === "string" ? { type: "text", text: block } : block
    )
    return this.agent.request("session/prompt", { sessionId, prompt })
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify("session/cancel", { sessionId })
  }

  /** What it said since `from`. */
  said(kind: "agent_message_chunk" | "agent_thought_chunk" = "agent_message_chunk", from = 0): string {
    return this.updates
      .slice(from)
      .map((update) => (update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : ""))
      .join("")
  }

  /** `kind status` of every update of a tool call, in order. A call keeps its kind. */
  get tools(): ReadonlyArray<string> {
    const kinds = new Map<string, string>()
    return this.updates.flatMap((update) => {
      if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return []
      if (typeof update.kind === "string") kinds.set(update.toolCallId, update.kind)
      return typeof update.status === "string" ? [`${kinds.get(update.toolCallId)} ${update.status}`] : []
    })
  }

  until(what: string, holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(bound)
        clearInterval(often)
        this.waiting.delete(look)
      }
      const look = (): void => {
        if (!holds()) return
        over()
        resolve()
      }
      const often = setInterval(look, 5)
      const bound = setTimeout(() => {
        over()
        reject(new Error(`${what}: not within ${boundMs} ms`))
      }, boundMs)
      this.waiting.add(look)
      look()
    })
  }

  async exited() {
    await this.until("the exit", () => this.exit !== undefined)
    return this.exit
  }

  async end() {
    this.child.stdin?.end()
    return this.exited()
  }

  kill(): void {
    if (this.exit === undefined) this.child.kill("SIGKILL")
  }

  private changed(change: () => void): void {
    change()
    for (const look of this.waiting) look()
  }
}
