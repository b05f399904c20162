/** The examples, run as a reader runs them. */
import { fork, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"

const home = mkdtempSync(join(tmpdir(), "greenroom-examples-"))

const run = (example: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "../../examples", example)], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home },
    timeout: 60_000
  })

describe("the examples", () => {
  afterAll(() => {
    rmSync(home, { recursive: true, force: true })
  })

  it("embed.ts ends its turn, and leaves no process", { timeout: 60_000 }, () => {
    const { status, stderr, stdout } = run("embed.ts")
    expect(stdout, stderr).toMatch(/Completed, 0 processes left\n$/)
    expect(status).toBe(0)
  })

  it("runnerd.ts serves a control plane over the channel of its parent, and ends when it is told to", async () => {
    const child = fork(join(import.meta.dirname, "../../examples/runnerd.ts"), [join(home, "state")], {
      execPath: process.execPath,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home }
    })
    const exited = new Promise((resolve) => child.on("exit", resolve))
    const next = () =>
      new Promise<Record<string, unknown>>((resolve) =>
        child.once("message", (text) => resolve(JSON.parse(String(text))))
      )
    const send = (head: object, kind: string, payload: unknown) =>
      child.send(JSON.stringify({ ...head, kind, payload }))
    const nobody = { protocol: "paperclip.runner", version: 2, runnerInstanceId: null, connectionId: null, runId: null }
    send(nobody, "auth_hello", { protocolMin: 1, protocolMax: 2, name: null, afterSourceSeq: null })
    const welcome = await next()
    expect(welcome).toMatchObject({ kind: "welcome", payload: { authority: { _tag: "Operator" }, runs: [] } })
    const command = {
      schema: "paperclip.prp.command.v1",
      commandId: "shutdown",
      controllerSeq: 1,
      type: "runner.shutdown",
      issuedAt: "2026-01-01T00:00:00Z",
      payload: {}
    }
    send(welcome, "command", { command })
    const answered = await next()
    expect(answered).toMatchObject({ kind: "command_result", payload: { status: "completed" } })
    send(answered, "command_result_ack", answered["payload"])
    expect(await exited).toBe(0)
  })

  it("simulate.ts finds the seat that is sold twice, and none where an actor sells", () => {
    const { status, stderr, stdout } = run("simulate.ts")
    const lines = stdout.trim().split("\n")
    expect(lines[0], stderr).toBe("plain: 1000 schedules, a seat sold twice")
    expect(lines).toContain("  Grace finds a seat")
    expect(lines.at(-1)).toBe("actor: 1000 schedules, no violation")
    expect(status).toBe(0)
  })
})
