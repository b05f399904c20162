/**
 * The frame codec against the official SDK and against the least that any codec must do. All three read the same bytes from
 * memory, in alternating rounds of one process; a figure is the median over the rounds of the ratio within a round.
 */
import * as acp from "@agentclientprotocol/sdk"
import { makeFrameDecoder } from "../src/schema/acp/frame.ts"
import { sessionUpdateOf } from "../src/schema/acp/protocol.ts"

const framesCount = 200_000
const frameBytes = 312
const chunkBytes = 64 * 1024
const rounds = 5

/** Ratios of rates; `codecVsSdk` is better when larger, `codecVsFloor` when smaller. */
export const run = async (): Promise<Record<string, number>> => {
  const chunks = makeChunks()
  const vsSdk: Array<number> = []
  const vsFloor: Array<number> = []
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const floorMs = await timed(() => readWithFloor(chunks))
    const codecMs = await timed(() => readWithCodec(chunks))
    const sdkMs = await timed(() => readWithSdk(chunks))
    if (round === 0) continue
    vsSdk.push(sdkMs / codecMs)
    vsFloor.push(codecMs / floorMs)
  }
  return { codecVsSdk: median(vsSdk), codecVsFloor: median(vsFloor) }
}

/** Our decoder, and the address of every update as the connection reads it. */
const readWithCodec = (chunks: ReadonlyArray<Uint8Array>): number => {
  const decoder = makeFrameDecoder()
  let updates = 0
  for (const chunk of chunks) {
    for (const frame of decoder.push(chunk)) {
      if (frame._tag === "Notification" && sessionUpdateOf(frame.params) !== undefined) updates += 1
    }
  }
  return updates
}

/** Splitting and parsing, without a check, a bound or a state. */
const readWithFloor = (chunks: ReadonlyArray<Uint8Array>): number => {
  let updates = 0
  let rest: Buffer = Buffer.alloc(0)
  for (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      const message: { readonly method?: unknown } = JSON.parse(bytes.toString("utf8", from, end))
      if (message.method !== undefined) updates += 1
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
  return updates
}

/** The SDK as a client uses it: a stream of bytes, a connection, a handler for updates. */
const readWithSdk = (chunks: ReadonlyArray<Uint8Array>): Promise<number> => {
  const { promise, resolve } = Promise.withResolvers<number>()
  let updates = 0
  let next = 0
  const input = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = chunks[next]
      next += 1
      if (chunk !== undefined) controller.enqueue(chunk)
    }
  })
  const connection = acp
    .client()
    .onNotification("session/update", () => {
      updates += 1
      if (updates === framesCount) resolve(updates)
    })
    .connect(acp.ndJsonStream(new WritableStream<Uint8Array>(), input))
  return promise.finally(() => connection.close())
}

const timed = async (read: () => number | Promise<number>): Promise<number> => {
  const start = performance.now()
  const updates = await read()
  const elapsedMs = performance.now() - start
  if (updates !== framesCount) throw new Error(`read ${updates} of ${framesCount} updates`)
  return elapsedMs
}

const makeChunks = (): ReadonlyArray<Uint8Array> => {
  const output = Buffer.from(makeFrame().repeat(framesCount))
  const chunks: Array<Uint8Array> = []
  for (let from = 0; from < output.length; from += chunkBytes) {
    chunks.push(Uint8Array.from(output.subarray(from, from + chunkBytes)))
  }
  return chunks
}

/** One line of exactly `frameBytes`, its line end included: a piece of an agent's message. */
const makeFrame = (): string => {
  const line = (text: string) =>
    `${JSON.stringify({
      jsonrpc: "2.0",
      method: "session/update",
      params: {
        sessionId: "0f2c1a9e-5b7d-4c3e-8a6f-d1e2b3c4a5f6",
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: "message_1" }
      }
    })}\n`
  return line("word ".repeat(frameBytes).slice(0, frameBytes - line("").length))
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
