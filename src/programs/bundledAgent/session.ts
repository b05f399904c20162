/**
 * A session of the bundled agent, what it offers (modes, models), and its memory in a file of its own below HOME.
 *
 * A session is on disk once it has had a prompt. Without a HOME it lives as long as the process.
 */
import type { SessionConfigOption, SessionModeState, SessionUpdate } from "@agentclientprotocol/sdk"
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { limits } from "../../schema/limits.ts"

export type Mode = "ask" | "auto"
export type Model = "demo-words" | "demo-lines"

export interface Session {
  readonly id: string
  readonly cwd: string
  title: string | undefined
  mode: Mode
  model: Model
  readonly history: Array<SessionUpdate>
  /** Numbers the messages and tool calls of the session. */
  nextItem: number
  /** Kinds of tools that are allowed for the rest of the session. */
  readonly allowed: Set<string>
  /** Stops the turn that runs. */
  turn: AbortController | undefined
  /** Settles when no turn runs. */
  idle: Promise<void>
}

export const newSession = (cwd: string): Session => ({
  id: crypto.randomUUID(),
  cwd,
  title: undefined,
  mode: "ask",
  model: "demo-words",
  history: [],
  nextItem: 1,
  allowed: new Set(),
  turn: undefined,
  idle: Promise.resolve()
})

export const isMode = (value: unknown): value is Mode => value === "ask" || value === "auto"
export const isModel = (value: unknown): value is Model => value === "demo-words" || value === "demo-lines"

export const modesOf = (session: Session): SessionModeState => ({
  currentModeId: session.mode,
  availableModes: [
    { id: "ask", name: "Ask", description: "Asks before every edit and every command" },
    { id: "auto", name: "Auto", description: "Never asks" }
  ]
})

export const configOptionsOf = (session: Session): Array<SessionConfigOption> => [
  {
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: session.model,
    options: [
      { value: "demo-words", name: "Demo, word by word" },
      { value: "demo-lines", name: "Demo, line by line" }
    ]
  }
]

/** Appends to the history; pieces of one message become one. The oldest updates make room. */
export const remember = (session: Session, update: SessionUpdate): void => {
  const last = session.history.at(-1)
  const joined = last === undefined ? undefined : joinedChunks(last, update)
  if (joined !== undefined) session.history.pop()
  session.history.push(joined ?? update)
  if (session.history.length > limits.bundledAgentHistoryUpdatesMax) session.history.shift()
}

const joinedChunks = (last: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined => {
  if (last.sessionUpdate !== "agent_message_chunk" && last.sessionUpdate !== "agent_thought_chunk") return undefined
  if (next.sessionUpdate !== last.sessionUpdate || next.messageId !== last.messageId) return undefined
  if (last.content.type !== "text" || next.content.type !== "text") return undefined
  const text = (last.content.text + next.content.text).slice(-limits.bundledAgentOutputCharactersMax)
  return { ...last, content: { type: "text", text } }
}

export interface SessionStore {
  readonly save: (session: Session) => void
  readonly find: (id: string) => Session | undefined
  readonly list: () => ReadonlyArray<{
    readonly sessionId: string
    readonly cwd: string
    readonly title: string | null
  }>
}

export const sessionStore = (home: string | undefined): SessionStore =>
  home === undefined || home === "" ? forgetful : storeIn(join(home, ".greenroom-agent", "sessions"))

const forgetful: SessionStore = { save: () => undefined, find: () => undefined, list: () => [] }

const storeIn = (folder: string): SessionStore => {
  const fileOf = (id: string): string => join(folder, `${id}.json`)
  const find = (id: string): Session | undefined => {
    // The id becomes a file name.
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined
    try {
      return restored(id, JSON.parse(readFileSync(fileOf(id), "utf8")))
    } catch {
      return undefined
    }
  }
  return {
    save: (session) => {
      const { cwd, title, mode, model, history, nextItem } = session
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(`${fileOf(session.id)}.new`, JSON.stringify({ cwd, title, mode, model, history, nextItem }), {
          mode: 0o600
        })
        renameSync(`${fileOf(session.id)}.new`, fileOf(session.id))
      } catch (error) {
        process.stderr.write(`the session could not be saved: ${String(error)}\n`)
      }
    },
    find,
    list: () =>
      idsIn(folder).flatMap((id) => {
        const session = find(id)
        return session === undefined ? [] : [{ sessionId: id, cwd: session.cwd, title: session.title ?? null }]
      })
  }
}

const idsIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .toSorted()
  } catch {
    return []
  }
}

const restored = (id: string, saved: SavedSession): Session => ({
  ...newSession(saved.cwd),
  id,
  title: saved.title,
  mode: saved.mode,
  model: saved.model,
  history: saved.history,
  nextItem: saved.nextItem
})

type SavedSession = Pick<Session, "cwd" | "title" | "mode" | "model" | "history" | "nextItem">
