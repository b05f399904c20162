/**
 * A small deterministic coding agent, as a process of its own: ACP v1 over stdio, written with the official SDK, so that our
 * codec always meets the reference peer. What it does follows from the prompt by the rules of promptRules.ts.
 *
 * It asks before every edit and command, notices a cancel at every point, and leaves nothing behind: at the end of its input
 * and at SIGTERM it stops what runs and exits 0.
 */
import { agent, ndJsonStream, RequestError } from "@agentclientprotocol/sdk"
import type { InitializeResponse } from "@agentclientprotocol/sdk"
import { version } from "../schema/version.ts"
import { runPrompt } from "./bundledAgent/prompt.ts"
import { configOptionsOf, isMode, isModel, modesOf, newSession, sessionStore } from "./bundledAgent/session.ts"
import type { Session } from "./bundledAgent/session.ts"

const store = sessionStore(process.env["HOME"])
const sessions = new Map<string, Session>()

const existing = (sessionId: string): Session => {
  const session = sessions.get(sessionId)
  if (session === undefined) throw RequestError.sessionNotFound(sessionId)
  return session
}

/** The session, taken from memory or from disk, with no turn running. */
const reopened = (sessionId: string): Session => {
  const session = sessions.get(sessionId) ?? store.find(sessionId)
  if (session === undefined) throw RequestError.sessionNotFound(sessionId)
  if (session.turn !== undefined) throw RequestError.invalidRequest({ sessionId }, "a prompt is running")
  sessions.set(sessionId, session)
  return session
}

const offersOf = (session: Session) => ({ modes: modesOf(session), configOptions: configOptionsOf(session) })

const initializeResult: InitializeResponse = {
  protocolVersion: 1,
  agentInfo: { name: "greenroom-agent", title: "Greenroom's bundled agent", version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    sessionCapabilities: { close: {}, list: {}, resume: {} }
  },
  authMethods: []
}

const app = agent({ name: "greenroom-agent" })
  .onRequest("initialize", () => initializeResult)
  .onRequest("session/prompt", async ({ params, client }) => {
    const session = existing(params.sessionId)
    if (session.turn !== undefined) throw RequestError.invalidRequest(undefined, "a prompt is running")
    const turn = new AbortController()
    session.turn = turn
    const ending = runPrompt(session, params.prompt, client, turn.signal).finally(() => {
      session.turn = undefined
      store.save(session)
    })
    session.idle = ending.then(
      () => undefined,
      () => undefined
    )
    return { stopReason: await ending }
  })
  // Registered after the prompt: a cancel right behind it must find its turn.
  .onNotification("session/cancel", ({ params }) => {
    sessions.get(params.sessionId)?.turn?.abort()
  })
  .onRequest("session/new", ({ params }) => {
    if (!params.cwd.startsWith("/")) throw RequestError.invalidParams(undefined, "cwd must be absolute")
    const session = newSession(params.cwd)
    sessions.set(session.id, session)
    return { sessionId: session.id, ...offersOf(session) }
  })
  .onRequest("session/load", async ({ params, client }) => {
    const session = reopened(params.sessionId)
    for (const update of session.history) await client.notify("session/update", { sessionId: session.id, update })
    return offersOf(session)
  })
  .onRequest("session/resume", ({ params }) => offersOf(reopened(params.sessionId)))
  .onRequest("session/list", ({ params }) => {
    const known = new Map(store.list().map((session) => [session.sessionId, session]))
    for (const { id, cwd, title } of sessions.values()) known.set(id, { sessionId: id, cwd, title: title ?? null })
    const here = [...known.values()].filter(({ cwd }) => typeof params.cwd !== "string" || params.cwd === cwd)
    return { sessions: here }
  })
  .onRequest("session/close", async ({ params }) => {
    const session = existing(params.sessionId)
    session.turn?.abort()
    await session.idle
    sessions.delete(params.sessionId)
  })
  .onRequest("session/set_mode", async ({ params, client }) => {
    const session = existing(params.sessionId)
    if (!isMode(params.modeId)) throw RequestError.invalidParams({ available: ["ask", "auto"] }, "no such mode")
    session.mode = params.modeId
    const update = { sessionUpdate: "current_mode_update", currentModeId: session.mode } as const
    await client.notify("session/update", { sessionId: session.id, update })
  })
  .onRequest("session/set_config_option", ({ params }) => {
    const session = existing(params.sessionId)
    if (params.configId !== "model" || !isModel(params.value))
      throw RequestError.invalidParams({ available: ["model"] }, "no such option or value")
    session.model = params.value
    return { configOptions: configOptionsOf(session) }
  })

/** Each write resolves when the pipe took it: a turn is no faster than its host. */
const output = new WritableStream<Uint8Array>({
  write: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
})

const input = new ReadableStream<Uint8Array>({
  start: (controller) => {
    process.stdin.on("data", (bytes: Buffer) => controller.enqueue(bytes))
    process.stdin.on("end", () => controller.close())
    process.stdin.on("error", (error) => controller.error(error))
  }
})

/** Stops every turn, waits until its command is gone, and exits 0. */
const end = async (): Promise<void> => {
  for (const session of sessions.values()) session.turn?.abort()
  await Promise.all([...sessions.values()].map((session) => session.idle))
  process.exit(0)
}

// A host that is gone is noticed at the end of the input.
process.stdout.on("error", () => undefined)
process.on("SIGTERM", end)
const connection = app.connect(ndJsonStream(output, input))
void connection.closed.then(end, end)
