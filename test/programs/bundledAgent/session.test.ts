import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { newSession, remember, sessionStore } from "../../../src/programs/bundledAgent/session.ts"
import { limits } from "../../../src/schema/limits.ts"

let home = ""
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "greenroom-home-"))
})
afterEach(() => rmSync(home, { recursive: true }))

const piece = (text: string, messageId: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
  messageId
})

describe("the history of a session", () => {
  it("joins the pieces of one message and keeps messages apart", () => {
    const session = newSession("/w")
    for (const [text, id] of [
      ["a ", "1"],
      ["b", "1"],
      ["c", "2"]
    ] as const)
      remember(session, piece(text, id))
    expect(session.history).toEqual([piece("a b", "1"), piece("c", "2")])
  })

  it("keeps as many updates as the bound, the last ones", () => {
    const session = newSession("/w")
    for (let index = 1; index <= limits.bundledAgentHistoryUpdatesMax; index++)
      remember(session, piece("x", `${index}`))
    expect(session.history).toHaveLength(limits.bundledAgentHistoryUpdatesMax)
    remember(session, piece("last", "last"))
    expect(session.history).toHaveLength(limits.bundledAgentHistoryUpdatesMax)
    expect([session.history[0], session.history.at(-1)]).toEqual([piece("x", "2"), piece("last", "last")])
  })

  it("keeps the end of a message that is longer than the bound", () => {
    const session = newSession("/w")
    const full = "x".repeat(limits.bundledAgentOutputCharactersMax - 1)
    remember(session, piece(full, "1"))
    remember(session, piece("y", "1"))
    expect(session.history).toEqual([piece(`${full}y`, "1")])
    remember(session, piece("z", "1"))
    expect(session.history).toEqual([piece(`${full.slice(1)}yz`, "1")])
  })
})

describe("the memory of sessions", () => {
  it("gives back what it was given", () => {
    const session = { ...newSession("/w"), title: "t", history: [piece("a", "1")], nextItem: 5 }
    sessionStore(home).save(session)
    const found = sessionStore(home).find(session.id)
    expect(found).toMatchObject({ id: session.id, cwd: "/w", title: "t", history: [piece("a", "1")], nextItem: 5 })
    expect(sessionStore(home).list()).toEqual([{ sessionId: session.id, cwd: "/w", title: "t" }])
  })

  it("finds nothing under a name that is no id, nor in a broken file", () => {
    const store = sessionStore(home)
    store.save(newSession("/w"))
    const [file = ""] = readdirSync(join(home, ".greenroom-agent", "sessions"))
    const id = file.slice(0, -".json".length)
    expect(store.find(`../sessions/${id}`)).toBeUndefined()
    writeFileSync(join(home, ".greenroom-agent", "sessions", file), "{")
    expect(store.find(id)).toBeUndefined()
    expect(store.list()).toEqual([])
  })

  it("forgets where there is no home, and goes on where home cannot be written", () => {
    for (const store of [sessionStore(undefined), sessionStore(join(home, "file"))]) {
      writeFileSync(join(home, "file"), "")
      const session = newSession("/w")
      store.save(session)
      expect(store.find(session.id)).toBeUndefined()
      expect(store.list()).toEqual([])
    }
  })
})
