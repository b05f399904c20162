import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { startDemoModel } from "../../src/programs/demoModel.ts"
import type { DemoModel, ModelScript } from "../../src/programs/demoModel.ts"
import { limits } from "../../src/schema/limits.ts"

const ends: Array<() => unknown> = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const start = async (script?: ModelScript): Promise<DemoModel> => {
  const model = await startDemoModel({ script })
  ends.push(model.close)
  return model
}

const until = async (what: string, holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + 15_000
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${what}: not within 15 s`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const post = (model: DemoModel, path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${model.origin}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal })
  })

interface SentEvent {
  readonly event: string | undefined
  readonly data: string
}

const eventsOf = async (response: Response): Promise<ReadonlyArray<SentEvent>> =>
  (await response.text())
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1],
      data: /^data: (.*)$/m.exec(block)?.[1] ?? ""
    }))

const jsonOf = (events: ReadonlyArray<SentEvent>): ReadonlyArray<Record<string, unknown>> =>
  events.filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data))

const call = { name: "bash", args: { command: "ls" } }
const script: ModelScript = [{ text: "Two words", calls: [call] }, { text: "Done" }]

/** The same conversation on every wire. */
const wires = {
  chat: {
    path: "/v1/chat/completions",
    tools: [
      { type: "function", function: { name: "bash", parameters: { properties: { command: { type: "string" } } } } }
    ],
    conversation: (content: unknown) => ({
      messages: [
        { role: "system", content: "s" },
        { role: "user", content }
      ]
    }),
    image: { type: "image_url", image_url: { url: "data:image/png;base64,MTIzNDU=" } },
    text: (text: string) => ({ type: "text", text }),
    withResult: (result: string) => ({
      messages: [
        { role: "user", content: "run: ls" },
        { role: "assistant", content: null, tool_calls: [] },
        { role: "tool", tool_call_id: "c", content: result }
      ]
    })
  },
  responses: {
    path: "/v1/responses",
    tools: [{ type: "function", name: "bash", parameters: { properties: { command: { type: "string" } } } }],
    conversation: (content: unknown) => ({ input: [{ type: "message", role: "user", content }] }),
    image: { type: "input_image", image_url: "data:image/png;base64,MTIzNDU=" },
    text: (text: string) => ({ type: "input_text", text }),
    withResult: (result: string) => ({
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "run: ls" }] },
        { type: "function_call", name: "bash", arguments: "{}", call_id: "c" },
        { type: "function_call_output", call_id: "c", output: result }
      ]
    })
  },
  messages: {
    path: "/v1/messages?beta=true",
    tools: [{ name: "bash", input_schema: { properties: { command: { type: "string" } } } }],
    conversation: (content: unknown) => ({ messages: [{ role: "user", content }] }),
    image: { type: "image", source: { type: "base64", media_type: "image/png", data: "MTIzNDU=" } },
    text: (text: string) => ({ type: "text", text }),
    withResult: (result: string) => ({
      messages: [
        { role: "user", content: "run: ls" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "bash", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: result }] },
            { type: "text", text: "<system-reminder>be good</system-reminder>" }
          ]
        }
      ]
    })
  }
} as const

type WireName = keyof typeof wires

const ask = (model: DemoModel, wire: WireName, fields: object, signal?: AbortSignal): Promise<Response> =>
  post(model, wires[wire].path, { model: "m", tools: wires[wire].tools, ...fields }, signal)

const said = async (model: DemoModel, wire: WireName, content: unknown) => {
  await (await ask(model, wire, wires[wire].conversation(content))).text()
  return model.log.at(-1)?.turn
}

describe("the demo model", () => {
  it("streams chat completions", async () => {
    const model = await start(script)
    const response = await ask(model, "chat", { stream: true, ...wires.chat.conversation("hi") })
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const events = await eventsOf(response)
    expect(events.at(-1)?.data).toBe("[DONE]")
    const chunks = jsonOf(events)
    expect(chunks.every((chunk) => chunk["object"] === "chat.completion.chunk" && chunk["id"] === "chatcmpl-1")).toBe(
      true
    )
    expect(chunks.map((chunk) => chunk["choices"])).toEqual([
      [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
      [{ index: 0, delta: { content: "Two " }, finish_reason: null }],
      [{ index: 0, delta: { content: "words" }, finish_reason: null }],
      [
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 0, id: "call_1_0", type: "function", function: { name: "bash", arguments: "" } }]
          },
          finish_reason: null
        }
      ],
      [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, function: { arguments: '{"command":"ls"}' } }] },
          finish_reason: null
        }
      ],
      [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
      []
    ])
    expect(chunks.at(-1)?.["usage"]).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  })

  it("streams responses", async () => {
    const model = await start(script)
    const events = await eventsOf(
      await ask(model, "responses", { stream: true, ...wires.responses.conversation("hi") })
    )
    expect(events.map(({ event }) => event)).toEqual([
      "response.created",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed"
    ])
    const data = jsonOf(events)
    expect(data.map((event) => event["sequence_number"])).toEqual(data.map((_, index) => index))
    expect(data.map((event) => event["type"])).toEqual(events.map(({ event }) => event))
    expect(data.at(-2)).toMatchObject({
      output_index: 1,
      item: { type: "function_call", name: "bash", arguments: '{"command":"ls"}' }
    })
    expect(data.at(-1)).toMatchObject({
      response: {
        status: "completed",
        output: [{ type: "message" }, { call_id: "call_1_0" }],
        usage: { total_tokens: 15 }
      }
    })
  })

  it("streams messages", async () => {
    const model = await start(script)
    const events = await eventsOf(await ask(model, "messages", { stream: true, ...wires.messages.conversation("hi") }))
    expect(events.map(({ event }) => event)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop"
    ])
    const data = jsonOf(events)
    expect(data[5]).toMatchObject({
      index: 1,
      content_block: { type: "tool_use", id: "call_1_0", name: "bash", input: {} }
    })
    expect(data[6]).toMatchObject({ delta: { type: "input_json_delta", partial_json: '{"command":"ls"}' } })
    expect(data[8]).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } })
  })

  it("answers whole where no stream is asked for", async () => {
    const model = await start([...script, ...script, ...script])
    const bodies: Array<unknown> = []
    for (const wire of ["chat", "chat", "responses", "responses", "messages", "messages"] as const)
      bodies.push(await (await ask(model, wire, wires[wire].conversation("hi"))).json())
    expect(bodies).toMatchObject([
      {
        object: "chat.completion",
        choices: [
          {
            finish_reason: "tool_calls",
            message: { content: "Two words", tool_calls: [{ function: { name: "bash" } }] }
          }
        ]
      },
      { choices: [{ finish_reason: "stop", message: { content: "Done" } }], usage: { total_tokens: 15 } },
      { object: "response", output: [{ content: [{ text: "Two words" }] }, { name: "bash" }] },
      { output: [{ content: [{ text: "Done" }] }], usage: { total_tokens: 15 } },
      {
        type: "message",
        stop_reason: "tool_use",
        content: [{ text: "Two words" }, { name: "bash", input: { command: "ls" } }]
      },
      { stop_reason: "end_turn", content: [{ text: "Done" }], usage: { input_tokens: 10, output_tokens: 5 } }
    ])
  })

  it("lists its models, counts tokens, and knows no other route", async () => {
    const model = await start()
    expect(await (await fetch(`${model.origin}/v1/models`)).json()).toMatchObject({ data: [{ id: "demo" }] })
    expect(await (await post(model, "/v1/messages/count_tokens", {})).json()).toEqual({ input_tokens: 10 })
    expect((await fetch(`${model.origin}/v1/messages`)).status).toBe(404)
    expect((await post(model, "/v1/embeddings", {})).status).toBe(404)
    expect((await post(model, "/v1/messages", [])).status).toBe(400)
    expect(model.log).toEqual([])
  })

  it("gives a call without tools a fixed reply that takes no turn", async () => {
    const model = await start([{ text: "first" }])
    const utility = await ask(model, "chat", { ...wires.chat.conversation("title?"), tools: [] })
    expect(await utility.json()).toMatchObject({ choices: [{ message: { content: "Demo conversation" } }] })
    expect(await said(model, "chat", "hi")).toEqual({ text: "first" })
    expect(await said(model, "chat", "hi")).toEqual({ text: "The script is over." })
    model.setScript([{ text: "again" }])
    expect(await said(model, "chat", "hi")).toEqual({ text: "again" })
    expect(model.log.map((entry) => entry.utility)).toEqual([true, false, false, false])
  })

  for (const wire of ["chat", "responses", "messages"] as const) {
    it(`keeps a hanging answer on ${wire} open until the client is gone`, async () => {
      const model = await start([{ text: "some words", hang: true }, { hang: true }, { hang: true }])
      for (const stream of [true, true, false]) {
        const client = new AbortController()
        const before = model.aborted()
        const response = ask(model, wire, { stream, ...wires[wire].conversation("hi") }, client.signal)
        response.catch(() => undefined)
        if (stream) await (await response).body?.getReader().read()
        else await until("an open answer", () => model.open() === 1)
        expect(model.aborted()).toBe(before)
        client.abort()
        await until("an aborted answer", () => model.aborted() === before + 1)
        expect(model.open()).toBe(0)
      }
      expect(model.log.map((entry) => entry.aborted)).toEqual([true, true, true])
    })

    it(`fails on ${wire} with the scripted status`, async () => {
      const model = await start([{ status: 503 }])
      const response = await ask(model, wire, wires[wire].conversation("hi"))
      expect(response.status).toBe(503)
      expect(await response.json()).toHaveProperty("error")
    })

    it(`streams with a pause behind each word on ${wire}`, async () => {
      const model = await start([{ text: "one two", chunkDelayMs: 1 }])
      expect(await (await ask(model, wire, { stream: true, ...wires[wire].conversation("hi") })).text()).toContain(
        "two"
      )
    })

    it(`follows the rules of a prompt on ${wire}`, async () => {
      const model = await start()
      expect(await said(model, wire, "run: ls -la")).toEqual({
        text: "I run a command for this.",
        calls: [{ name: "bash", args: { command: "ls -la" } }]
      })
      expect(await said(model, wire, [wires[wire].text("<now>noon</now>\nsay hello")])).toEqual({ text: "hello" })
      await ask(model, wire, wires[wire].withResult("README.md\nsrc"))
      expect(model.log.at(-1)?.turn).toEqual({ text: "The shell said: README.md src" })
    })

    it(`reports the images of a prompt on ${wire}`, async () => {
      const model = await start()
      const { text, image } = wires[wire]
      expect(await said(model, wire, [text("say ok"), image])).toEqual({ text: "image seen: image/png 5\nok" })
      expect(await said(model, wire, [image])).toEqual({ text: "image seen: image/png 5" })
      expect(model.log.map(({ images }) => images)).toEqual([
        [{ type: "image/png", bytes: 5 }],
        [{ type: "image/png", bytes: 5 }]
      ])
    })
  }

  it("takes a prompt behind a tool result for a new one", async () => {
    const model = await start()
    const { messages } = wires.chat.withResult("x")
    await ask(model, "chat", { messages: [...messages, { role: "user", content: "say new" }] })
    expect(model.log.at(-1)?.turn).toEqual({ text: "new" })
  })

  it("does not take up an old prompt again", async () => {
    const model = await start()
    const messages = [
      { role: "user", content: "run: ls" },
      { role: "assistant", content: "no" },
      { role: "user", content: "<reminder>be good</reminder>" }
    ]
    await ask(model, "chat", { messages })
    expect(model.log.at(-1)?.turn).toEqual({ text: "There is nothing to do." })
  })

  it("does not ask Codex for more where every command is asked for anyway", async () => {
    const model = await start()
    const string = { type: "string" }
    const tools = [{ name: "exec_command", parameters: { properties: { cmd: string, sandbox_permissions: string } } }]
    const { input } = wires.responses.conversation("run: ls")
    const argumentsUnder = async (policy: string) => {
      const context = { type: "message", role: "developer", content: [{ type: "input_text", text: policy }] }
      await ask(model, "responses", { tools, input: [context, ...input] })
      return model.log.at(-1)?.turn.calls?.[0]?.args
    }
    for (const policy of ["`approval_policy` is `unless-trusted`", "<approval_policy>untrusted</approval_policy>"])
      expect(await argumentsUnder(policy)).toEqual({ cmd: "ls" })
    const asking = { cmd: "ls", sandbox_permissions: "require_escalated" }
    for (const policy of ["`approval_policy` is `on-request`", "untrusted commands"])
      expect(await argumentsUnder(policy)).toEqual(asking)
  })

  it("refuses a request of more bytes than the bound", async () => {
    const model = await start()
    const status = async (bytes: number): Promise<number> => {
      const frame = JSON.stringify({ model: "", messages: [] })
      return (await fetch(`${model.origin}/v1/messages`, { method: "POST", body: frame.padEnd(bytes) })).status
    }
    expect(await status(limits.demoModelRequestBytesMax)).toBe(200)
    expect(await status(limits.demoModelRequestBytesMax + 1)).toBe(413)
  })

  it("keeps the last entries of its log", async () => {
    const model = await start()
    for (let index = 0; index <= limits.demoModelLogEntriesMax; index++) {
      await said(model, "chat", "say x")
      if (index === limits.demoModelLogEntriesMax - 1) expect(model.log[0]?.number).toBe(1)
    }
    expect(model.log).toHaveLength(limits.demoModelLogEntriesMax)
    expect(model.log[0]?.number).toBe(2)
  })
})

describe("the demo model as a process", () => {
  const program = fileURLToPath(new URL("../../src/programs/demoModel.ts", import.meta.url))

  const startProcess = async (args: ReadonlyArray<string>) => {
    const child: ChildProcess = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "pipe"] })
    const seen = { out: "", error: "", code: undefined as number | null | undefined }
    child.stdout?.on("data", (text) => (seen.out += String(text)))
    child.stderr?.on("data", (text) => (seen.error += String(text)))
    child.on("exit", (code) => (seen.code = code))
    ends.push(() => {
      if (seen.code === undefined) child.kill("SIGKILL")
    })
    await until("a line or the end", () => seen.out.endsWith("\n") || seen.code !== undefined)
    return { child, seen }
  }

  it("prints its origin, follows its script, and ends with its input", async () => {
    const folder = mkdtempSync(join(tmpdir(), "greenroom-model-"))
    ends.push(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, "script.json"), JSON.stringify([{ text: "from the file" }]))
    const { child, seen } = await startProcess(["--script", join(folder, "script.json")])
    const { origin }: { origin: string } = JSON.parse(seen.out)
    expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const body = JSON.stringify({ tools: wires.chat.tools, messages: [] })
    const answer = await fetch(`${origin}/v1/chat/completions`, { method: "POST", body })
    expect(await answer.text()).toContain("from the file")
    // An answer that is open does not keep it.
    const hanging = JSON.stringify({ tools: wires.chat.tools, ...wires.chat.conversation("wait"), stream: true })
    fetch(`${origin}/v1/chat/completions`, { method: "POST", body: hanging }).catch(() => undefined)
    child.stdin?.end()
    await until("the exit", () => seen.code !== undefined)
    expect(seen.code).toBe(0)
  })

  it("says what is wrong with its arguments or its script", async () => {
    expect((await startProcess(["--port", "1"])).seen).toMatchObject({ code: 64, out: "" })
    const { seen } = await startProcess(["--script", program])
    await until("words", () => seen.error !== "")
    expect(seen.code).toBe(64)
  })
})
