/**
 * `npm run transcript`: a control plane that knows only the frames takes a run through `greenroom serve --stdio`, and what both
 * said is written into docs/runnerd.md. Ids, times, numbers of processes and folders are replaced by ones that are the same in
 * every run.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

const root = join(import.meta.dirname, "..")
const folder = mkdtempSync(join(tmpdir(), "greenroom-transcript-"))
const lines: Array<string> = []

type Frame = { readonly kind: string; readonly payload: Readonly<Record<string, unknown>> } & Record<string, unknown>

const child = spawn(
  process.execPath,
  [join(root, "src/main.ts"), "serve", "--stdio", "--state", join(folder, "state")],
  {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder }
  }
)
const received: Array<Frame> = []
const waiting: Array<() => void> = []
createInterface({ input: child.stdout }).on("line", (line) => {
  lines.push(`< ${line}`)
  received.push(JSON.parse(line))
  for (const look of waiting) look()
})

/** The first frame from the runner that is so, whenever it came. */
const until = (isIt: (frame: Frame) => boolean): Promise<Frame> =>
  new Promise((resolve) => {
    const look = () => {
      const frame = received.find(isIt)
      if (frame !== undefined) resolve(frame)
    }
    waiting.push(look)
    look()
  })

const eventOf = (type: string) => (frame: Frame) =>
  frame.kind === "event" && (frame.payload["event"] as Frame)["eventType"] === type

let head: Record<string, unknown> = {
  protocol: "paperclip.runner",
  version: 2,
  runnerInstanceId: null,
  connectionId: null
}
const send = (kind: string, payload: unknown, runId: string | null = null) => {
  const line = JSON.stringify({ ...head, kind, runId, payload })
  lines.push(`> ${line}`)
  child.stdin.write(`${line}\n`)
}

const seqs = new Map<string | null, number>()
const command = async (runId: string | null, type: string, payload: unknown) => {
  const controllerSeq = (seqs.get(runId) ?? 0) + 1
  seqs.set(runId, controllerSeq)
  const commandId = `${type}-${controllerSeq}`
  const issuedAt = "2026-01-01T00:00:00Z"
  const body = { schema: "paperclip.prp.command.v2", commandId, controllerSeq, type, issuedAt, payload }
  send("command", { command: body }, runId)
  return until((frame) => frame.kind === "command_result" && frame.payload["commandId"] === commandId)
}

send("auth_hello", { protocolMin: 1, protocolMax: 2, name: "control-plane", afterSourceSeq: null })
const welcome = await until(({ kind }) => kind === "welcome")
const { connectionId, runnerInstanceId } = welcome
head = { ...head, connectionId, runnerInstanceId }
send("ping", { nonce: "1" })
await until(({ kind }) => kind === "pong")
await command("run-1", "run.prepare", { provider: { kind: "bundled", cwd: folder, permissionMode: "ask" } })
await command("run-1", "session.open", {})
await command("run-1", "turn.start", { turnId: "turn-1", text: "run: echo hello" })
const asked = await until(eventOf("runtime_request.created"))
const { request } = (asked.payload["event"] as Frame).payload
const { requestId } = request as { requestId: string }
await command("run-1", "request.resolve", { requestId, response: { action: "accept" } })
await until(eventOf("turn.completed"))
await command("run-1", "session.close", {})
const last = await until(eventOf("run.terminal"))
send("ack", { ackedSourceSeq: (last.payload["event"] as Frame)["sourceSeq"] })
const end = await command(null, "runner.shutdown", {})
const { commandId, commandType, controllerSeq, status } = end.payload
send("command_result_ack", { commandId, commandType, controllerSeq, status })
await new Promise((resolve) => child.on("close", resolve))
rmSync(folder, { recursive: true, force: true })

/** The same name for the same thing in every transcript. */
const names = new Map<string, string>()
const named = (kind: string, found: string): string => {
  const known = names.get(found)
  if (known !== undefined) return known
  const count = [...names.values()].filter((name) => name.startsWith(`${kind}_`)).length + 1
  names.set(found, `${kind}_${count}`)
  return `${kind}_${count}`
}

const steady = (line: string): string =>
  line
    .replaceAll(folder, "/workspace")
    .replaceAll(/\b(runner|connection|session|request|launch)_[a-z0-9]{24}\b/g, (id, kind: string) => named(kind, id))
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T00:00:00.000Z")
    .replaceAll(/"(pid|processId|startTime|startTicks|durationMs|ageMs)":\d+/g, '"$1":1')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "00000000-0000-4000-8000-000000000000")

const [begin, finish] = ["<!-- transcript: npm run transcript -->\n", "<!-- end of transcript -->"]
const file = join(root, "docs/runnerd.md")
const page = readFileSync(file, "utf8")
const [before, rest] = page.split(begin)
const [, after] = (rest ?? "").split(finish)
if (before === undefined || after === undefined) throw new Error(`no place for the transcript in ${file}`)
writeFileSync(file, `${before}${begin}\n\`\`\`\n${lines.map(steady).join("\n")}\n\`\`\`\n\n${finish}${after}`)
