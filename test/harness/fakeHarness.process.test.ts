import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { makeFolder } from "../process/startHost.ts"

const program = fileURLToPath(new URL("../../fixtures/agents/harness/program.ts", import.meta.url))
const folder = makeFolder()
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const scriptFile = (name: string, text: string): string => {
  const file = path.join(folder, `${name}.json`)
  fs.writeFileSync(file, text)
  return file
}

const waiting = scriptFile(
  "waiting",
  JSON.stringify({
    schema: "paperclip.fake_harness.script.v1",
    name: "waiting",
    steps: [
      { kind: "await_resolution", request_id: "r" },
      { kind: "exit", code: 7 }
    ]
  })
)

/** A harness by itself, which hears the lines, and nothing more unless its input is kept open. */
const heard = async (
  lines: ReadonlyArray<string>,
  { file = waiting, waits = {}, keepsOpen = false }: { file?: string; waits?: object; keepsOpen?: boolean } = {}
) => {
  const child = childProcess.spawn(process.execPath, [program, file, JSON.stringify(waits)])
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (piece) => (stdout += piece))
  child.stderr.on("data", (piece) => (stderr += piece))
  child.stdin.on("error", () => {})
  child.stdin.write(lines.map((line) => `${line}\n`).join(""))
  if (!keepsOpen) child.stdin.end()
  const code = await new Promise((resolve) => child.on("close", resolve))
  child.stdin.destroy()
  const said = stdout.split("\n").filter((line) => line !== "")
  return { code, stderr, said: said.map((line): unknown => JSON.parse(line)) }
}

const command = (type: string, payload: unknown): string =>
  JSON.stringify({ schema: "paperclip.fake_harness.command.v1", commandId: "c", type, payload })

const open = command("session.open", {})
const start = command("turn.start", { turnId: "t" })
const resolve = command("request.resolve", { requestId: "r", response: { action: "accept" } })

describe("a fake harness by itself", { timeout: 60_000 }, () => {
  it("drops every line that is no command, and every command that it does not wait for", async () => {
    const dropped = ["", "{", "null", "1", "[]", command("turn.start", null), command("request.resolve", undefined)]
    const others = [command("turn.interrupt", {}), command("request.resolve", { requestId: "another" })]
    const { code, said, stderr } = await heard([open, start, resolve].flatMap((line) => [...dropped, ...others, line]))
    expect({ code, stderr }).toEqual({ code: 7, stderr: "" })
    expect(nativeAt(said.at(-1), "payload", "payload")).toEqual({ requestId: "r", response: { action: "accept" } })
    expect(said.map((message) => nativeAt(message, "messageSeq"))).toEqual(said.map((_, index) => index + 1))
  })

  it("hears a line of lineBytesMax, and none that is one byte longer", async () => {
    const empty = command("turn.start", { turnId: "t", text: "é" })
    const line = (bytes: number) =>
      command("turn.start", { turnId: "t", text: `é${"x".repeat(bytes - Buffer.byteLength(empty))}` })
    const { lineBytesMax } = harnessBounds
    expect((await heard([open, line(lineBytesMax), resolve])).code).toBe(7)
    expect(await heard([open, line(lineBytesMax + 1), resolve])).toMatchObject({
      code: 1,
      stderr: "input ended before turn.start\n"
    })
  })

  it("hears more commands than queueMax, one after the other", async () => {
    const noise = Array.from({ length: 20 * harnessBounds.queueMax }, () => command("turn.interrupt", {}))
    expect((await heard([open, ...noise, start, ...noise, resolve])).code).toBe(7)
  })

  it("waits for a command no longer than commandMs, and for an answer no longer than resolutionMs", async () => {
    const hasWaited = async (lines: ReadonlyArray<string>, waits: object) =>
      await heard(lines, { waits: { commandMs: 60_000, resolutionMs: 60_000, ...waits }, keepsOpen: true })
    expect(await hasWaited([], { commandMs: 50 })).toMatchObject({
      code: 1,
      stderr: "timed out waiting for session.open\n"
    })
    expect(await hasWaited([open, start], { resolutionMs: 50 })).toMatchObject({
      code: 1,
      stderr: "timed out waiting for request.resolve\n"
    })
  })

  it.each([
    ["that is not there", path.join(folder, "absent.json"), /^the script cannot be read: ENOENT.*\n$/],
    ["that is no JSON", scriptFile("broken", "{"), /^the script cannot be read: .*\n$/],
    ["that is another document", scriptFile("null", "null"), /^the file is no script of a fake harness\n$/]
  ])("says in a line that it cannot play a file %s", async (_what, file, stderr) => {
    expect(await heard([], { file })).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr), said: [] })
  })
})
