/** The rival of the turn bench: the same agent over plain pipes, without any library. Lines in, lines out, no checks. */
import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"

export interface Command {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

type Json = { readonly id?: unknown; readonly method?: unknown; readonly result?: { readonly sessionId?: string } }

/** Milliseconds since the call. `undefined`: there was none. */
export interface Times {
  readonly firstUpdateMs: number
  readonly responseMs: number
}

export class BareAgent {
  readonly stdin: Writable
  readonly exited: Promise<unknown>
  sessionId = ""
  private readonly pid: number
  private nextId = 0
  private readonly onLine = new Set<(message: Json) => void>()

  constructor({ command, args, env }: Command) {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] })
    this.stdin = child.stdin
    this.pid = child.pid ?? 0
    this.exited = new Promise((resolve) => child.on("exit", resolve))
    this.read(child.stdout)
  }

  async open(cwd: string): Promise<this> {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities: {} })
    const created = await this.request("session/new", { cwd, mcpServers: [] })
    this.sessionId = created.result?.sessionId ?? ""
    return this
  }

  async prompt(text: string): Promise<Times> {
    const begin = performance.now()
    let firstUpdateMs = Number.NaN
    const first = (message: Json) => {
      if (message.method !== "session/update") return
      firstUpdateMs = performance.now() - begin
      this.onLine.delete(first)
    }
    this.onLine.add(first)
    await this.request("session/prompt", { sessionId: this.sessionId, prompt: [{ type: "text", text }] })
    return { firstUpdateMs, responseMs: performance.now() - begin }
  }

  /** From the cancel to the response of the prompt. */
  async cancelled(text: string): Promise<number> {
    const prompt = this.prompt(text)
    await new Promise<void>((resolve) => {
      const first = (message: Json) => {
        if (message.method !== "session/update") return
        this.onLine.delete(first)
        resolve()
      }
      this.onLine.add(first)
    })
    const begin = performance.now()
    this.write({ method: "session/cancel", params: { sessionId: this.sessionId } })
    await prompt
    return performance.now() - begin
  }

  async close(): Promise<void> {
    this.stdin.end()
    const timer = setTimeout(() => process.kill(this.pid, "SIGKILL"), 3_000)
    await this.exited
    clearTimeout(timer)
  }

  private request(method: string, params: object): Promise<Json> {
    const id = this.nextId++
    return new Promise((resolve) => {
      const answer = (message: Json) => {
        if (message.id !== id || message.method !== undefined) return
        this.onLine.delete(answer)
        resolve(message)
      }
      this.onLine.add(answer)
      this.write({ id, method, params })
    })
  }

  private write(message: object): void {
    this.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  private read(stdout: Readable): void {
    let rest = ""
    stdout.setEncoding("utf8")
    stdout.on("data", (piece: string) => {
      const lines = (rest + piece).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const message: Json = JSON.parse(line)
        for (const listener of this.onLine) listener(message)
      }
    })
  }
}
