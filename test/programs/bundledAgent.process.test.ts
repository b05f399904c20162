import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { AgentPeer, choose } from "./AgentPeer.ts"

let home = ""
let cwd = ""
const peers: Array<AgentPeer> = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "greenroom-agent-home-"))
  cwd = mkdtempSync(join(tmpdir(), "greenroom-agent-cwd-"))
})
afterEach(() => {
  for (const peer of peers.splice(0)) peer.kill()
  for (const folder of [home, cwd]) rmSync(folder, { recursive: true })
})

const start = async (): Promise<AgentPeer> => {
  const peer = new AgentPeer(home)
  peers.push(peer)
  await peer.initialize()
  return peer
}

const startSession = async (): Promise<readonly [AgentPeer, string]> => {
  const peer = await start()
  const { sessionId } = await peer.agent.request("session/new", { cwd, mcpServers: [] })
  return [peer, sessionId]
}

const notes = (): string => readFileSync(join(cwd, "NOTES.md"), "utf8")

/** The pid that a command wrote into a file of the workspace, once it is there. */
const pidIn = async (peer: AgentPeer, file: string): Promise<number> => {
  const path = join(cwd, file)
  await peer.until(file, () => existsSync(path) && readFileSync(path, "utf8").endsWith("\n"))
  return Number(readFileSync(path, "utf8"))
}

const isAlive = (pid: number): boolean => {
  try {
    // A zombie has no command line.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== ""
  } catch {
    return false
  }
}

const longCommand = "run: echo $$ > pid; exec sleep 60"

describe("the bundled agent", () => {
  it("says what it can do", async () => {
    const peer = new AgentPeer(home)
    peers.push(peer)
    const answer = await peer.initialize()
    expect(answer.protocolVersion).toBe(1)
    expect(answer.agentInfo?.name).toBe("greenroom-agent")
    expect(answer.agentCapabilities?.loadSession).toBe(true)
    expect(answer.agentCapabilities?.promptCapabilities).toEqual({ image: true, audio: false, embeddedContext: true })
    expect(answer.agentCapabilities?.sessionCapabilities).toEqual({ close: {}, list: {}, resume: {} })
    expect(await peer.end()).toEqual({ code: 0, signal: null })
  })

  it("looks, plans, edits a file, runs a command and reports", async () => {
    writeFileSync(join(cwd, "README.md"), "# Hello\n")
    const [peer, session] = await startSession()
    expect(await peer.prompt(session, "Fix the bug")).toEqual({ stopReason: "end_turn" })
    expect(notes()).toBe("- Fix the bug\n")
    expect(peer.asked.map(({ toolCall }) => toolCall.kind)).toEqual(["edit", "execute"])
    expect(peer.asked[0]?.toolCall.content).toEqual([
      { type: "diff", path: join(cwd, "NOTES.md"), oldText: null, newText: "- Fix the bug\n" }
    ])
    expect(peer.tools).toEqual([
      "search pending",
      "search completed",
      "read pending",
      "read completed",
      "edit pending",
      "edit completed",
      "execute pending",
      "execute in_progress",
      "execute completed"
    ])
    const plans = peer.updates.flatMap((update) => (update.sessionUpdate === "plan" ? [update.entries] : []))
    expect(plans.map((entries) => entries.map((entry) => entry.status[0]).join(""))).toEqual([
      "ippp",
      "cipp",
      "ccip",
      "ccci",
      "cccc"
    ])
    expect(peer.said("agent_thought_chunk")).toContain("Run wc -l NOTES.md")
    expect(peer.said()).toBe("I created NOTES.md.\nI ran `wc -l NOTES.md` (exit code 0).")
    expect(peer.updates.filter((update) => update.sessionUpdate === "agent_message_chunk").length).toBeGreaterThan(5)
  })

  it("does the same again in a fresh workspace", async () => {
    const texts: Array<string> = []
    for (const folder of ["one", "two"]) {
      const peer = await start()
      mkdirSync(join(cwd, folder))
      const { sessionId } = await peer.agent.request("session/new", { cwd: join(cwd, folder), mcpServers: [] })
      await peer.prompt(sessionId, 'create a.txt with "x"; run: cat a.txt; exit 3')
      texts.push(JSON.stringify(peer.updates).replaceAll(`/${folder}`, ""))
    }
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).toContain('"exitCode":3')
  })

  for (const how of ["reject_once", "never_offered"])
    it(`changes nothing after the answer ${how}, and says so`, async () => {
      const [peer, session] = await startSession()
      peer.decide = choose(how)
      expect(await peer.prompt(session, "Fix the bug")).toEqual({ stopReason: "end_turn" })
      expect(existsSync(join(cwd, "NOTES.md"))).toBe(false)
      expect(peer.tools.at(-1)).toBe("edit failed")
      expect(peer.asked).toHaveLength(1)
      expect(peer.said()).toBe("I did not change NOTES.md: it was rejected. I stop here.")
    })

  it("does not run a rejected command", async () => {
    const [peer, session] = await startSession()
    peer.decide = () => ({ outcome: { outcome: "cancelled" } })
    await peer.prompt(session, "run: touch ran")
    expect(existsSync(join(cwd, "ran"))).toBe(false)
    expect(peer.tools.at(-1)).toBe("execute failed")
  })

  it("does not ask again for a kind that is allowed for the session, nor in mode auto", async () => {
    const [peer, session] = await startSession()
    peer.decide = choose("allow_always")
    await peer.prompt(session, "one")
    await peer.prompt(session, "two")
    expect(peer.asked).toHaveLength(2)
    const other = await peer.agent.request("session/new", { cwd, mcpServers: [] })
    await peer.agent.request("session/set_mode", { sessionId: other.sessionId, modeId: "auto" })
    await peer.prompt(other.sessionId, "three")
    expect(peer.asked).toHaveLength(2)
    expect(notes()).toBe("- one\n- two\n- three\n")
  })

  it("refuses files outside of the workspace without asking", async () => {
    symlinkSync(home, join(cwd, "link"))
    const [peer, session] = await startSession()
    for (const file of ["../x.txt", "link/x.txt", "link", "missing/x.txt", `${home}/x.txt`])
      await peer.prompt(session, `add "no" to ${file}`)
    expect(peer.asked).toEqual([])
    expect(existsSync(join(home, "x.txt"))).toBe(false)
    expect(peer.tools.filter((tool) => tool === "edit failed")).toHaveLength(5)
  })

  it("does not overwrite a file that changed while it asked", async () => {
    const [peer, session] = await startSession()
    peer.decide = () => {
      writeFileSync(join(cwd, "NOTES.md"), "mine\n")
      return { outcome: { outcome: "selected", optionId: "allow_once" } }
    }
    await peer.prompt(session, 'add "yours" to NOTES.md')
    expect(notes()).toBe("mine\n")
    expect(peer.tools.at(-1)).toBe("edit failed")
  })

  it("shows the output of a command while it runs", async () => {
    const [peer, session] = await startSession()
    const prompt = peer.prompt(
      session,
      "run: echo first; while [ ! -e go ]; do sleep 0.01; done; echo second >&2; exit 4"
    )
    await peer.until("the first output", () => JSON.stringify(peer.updates).includes('"text":"first\\n"'))
    writeFileSync(join(cwd, "go"), "")
    await prompt
    expect(peer.tools.at(-1)).toBe("execute failed")
    expect(JSON.stringify(peer.updates)).toContain("first\\nsecond\\nexit code 4")
  })

  it("describes images and attachments", async () => {
    const [peer, session] = await startSession()
    await peer.prompt(
      session,
      "say ok",
      { type: "image", mimeType: "image/png", data: Buffer.from("12345").toString("base64") },
      { type: "resource_link", name: "spec", uri: "file:///spec.md" },
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "four" } }
    )
    expect(peer.said()).toBe(
      "I see an image (image/png, 5 bytes).\nYou point to spec (file:///spec.md).\n" +
        "You attached file:///a.txt (text/plain, 4 bytes).\nok"
    )
  })

  it("streams by lines with the other model", async () => {
    const [peer, session] = await startSession()
    const { configOptions } = await peer.agent.request("session/set_config_option", {
      sessionId: session,
      configId: "model",
      value: "demo-lines"
    })
    expect(configOptions[0]).toMatchObject({ id: "model", category: "model", currentValue: "demo-lines" })
    await peer.prompt(session, "say one two three")
    expect(peer.updates.filter((update) => update.sessionUpdate === "agent_message_chunk")).toHaveLength(1)
  })

  it("refuses what it does not have", async () => {
    const [peer, session] = await startSession()
    const { agent } = peer
    const set = { sessionId: session, configId: "model", value: "gpt" }
    await expect(agent.request("session/set_config_option", set)).rejects.toMatchObject({ code: -32602 })
    await expect(agent.request("session/set_mode", { sessionId: session, modeId: "x" })).rejects.toMatchObject({
      code: -32602
    })
    await expect(peer.prompt("nobody", "say x")).rejects.toMatchObject({ code: -32002 })
    const load = { sessionId: "../../etc/passwd", cwd, mcpServers: [] }
    await expect(agent.request("session/load", load)).rejects.toMatchObject({ code: -32002 })
    await expect(agent.request("session/new", { cwd: "here", mcpServers: [] })).rejects.toMatchObject({ code: -32602 })
  })

  it("answers cancelled in the middle of a stream, and takes the next prompt", async () => {
    const [peer, session] = await startSession()
    const prompt = peer.prompt(session, "wait")
    await peer.until("two words", () => peer.said().includes("waiting waiting"))
    await expect(peer.prompt(session, "say x")).rejects.toMatchObject({ code: -32600 })
    await peer.cancel(session)
    expect(await prompt).toEqual({ stopReason: "cancelled" })
    const from = peer.updates.length
    expect(await peer.prompt(session, "say next")).toEqual({ stopReason: "end_turn" })
    expect(peer.said("agent_message_chunk", from)).toBe("next")
  })

  it("answers cancelled when the cancel comes right behind the prompt", async () => {
    const [peer, session] = await startSession()
    const prompt = peer.prompt(session, "wait")
    await peer.cancel(session)
    expect(await prompt).toEqual({ stopReason: "cancelled" })
  })

  it("ignores a cancel when nothing runs", async () => {
    const [peer, session] = await startSession()
    await peer.cancel(session)
    expect(await peer.prompt(session, "say on")).toEqual({ stopReason: "end_turn" })
  })

  it("answers cancelled while it asks, and does nothing when the answer comes late", async () => {
    const [peer, session] = await startSession()
    const late = Promise.withResolvers<undefined>()
    peer.decide = async () => {
      await late.promise
      return { outcome: { outcome: "selected", optionId: "allow_once" } }
    }
    const prompt = peer.prompt(session, "Fix the bug")
    await peer.until("a question", () => peer.asked.length === 1)
    await peer.cancel(session)
    expect(await prompt).toEqual({ stopReason: "cancelled" })
    expect(peer.tools.at(-1)).toBe("edit failed")
    late.resolve(undefined)
    expect(await peer.prompt(session, "say still here")).toEqual({ stopReason: "end_turn" })
    expect(existsSync(join(cwd, "NOTES.md"))).toBe(false)
  })

  it("kills its command at a cancel", async () => {
    const [peer, session] = await startSession()
    const prompt = peer.prompt(session, longCommand)
    const pid = await pidIn(peer, "pid")
    await peer.cancel(session)
    expect(await prompt).toEqual({ stopReason: "cancelled" })
    expect(peer.tools.at(-1)).toBe("execute failed")
    expect(isAlive(pid)).toBe(false)
  })

  for (const how of ["the end of its input", "SIGTERM"])
    it(`kills its command and exits 0 at ${how}`, async () => {
      const [peer, session] = await startSession()
      peer.prompt(session, longCommand).catch(() => undefined)
      const pid = await pidIn(peer, "pid")
      if (how === "SIGTERM") peer.child.kill("SIGTERM")
      else peer.child.stdin?.end()
      expect(await peer.exited()).toEqual({ code: 0, signal: null })
      expect(isAlive(pid)).toBe(false)
    })

  it("exits with code 7 when it is asked to crash", async () => {
    const [peer, session] = await startSession()
    await expect(peer.prompt(session, "crash")).rejects.toThrow()
    expect(await peer.exited()).toEqual({ code: 7, signal: null })
    expect(peer.said()).toBe("I crash now.")
  })

  it("replays a session in another process, before it answers", async () => {
    const [first, session] = await startSession()
    await first.prompt(session, "Fix the bug")
    await first.end()
    const second = await start()
    const { sessions } = await second.agent.request("session/list", { cwd })
    expect(sessions).toEqual([{ sessionId: session, cwd, title: "Fix the bug" }])
    const answer = await second.agent.request("session/load", { sessionId: session, cwd, mcpServers: [] })
    expect(answer).toMatchObject({ modes: { currentModeId: "ask" }, configOptions: [{ id: "model" }] })
    expect(second.updates[0]).toEqual({
      sessionUpdate: "user_message_chunk",
      content: { type: "text", text: "Fix the bug" }
    })
    expect(second.said()).toBe(first.said())
    expect(second.tools).toEqual(first.tools)
    // Whole messages now.
    expect(second.updates.filter((update) => update.sessionUpdate === "agent_message_chunk")).toHaveLength(1)
    expect(await second.prompt(session, "say more")).toEqual({ stopReason: "end_turn" })
  })

  it("resumes without a replay, and closes", async () => {
    const [first, session] = await startSession()
    await first.prompt(session, "say hello")
    await first.end()
    const second = await start()
    await second.agent.request("session/resume", { sessionId: session, cwd, mcpServers: [] })
    expect(second.updates).toEqual([])
    const prompt = second.prompt(session, "wait")
    await second.until("a word", () => second.said() !== "")
    await second.agent.request("session/close", { sessionId: session })
    expect(await prompt).toEqual({ stopReason: "cancelled" })
    await expect(second.prompt(session, "say x")).rejects.toMatchObject({ code: -32002 })
  })
})
