/**
 * The frame codec beside the official SDK, and beside the least that any codec must do. All three read the same bytes from
 * memory. A figure is the median over the rounds of the ratio within a round.
 */
import * as acp from "@agentclientprotocol/sdk"
import { makeFrameDecoder } from "../src/schema/acp/frame.ts"
import { sessionUpdateOf } from "../src/schema/acp/protocol.ts"
import { inTurns, median, microsEach } from "./measure.ts"

const framesCount = 200_000
const frameBytes = 312
const chunkBytes = 64 * 1024
const rounds = 5

export const run = async (): Promise<Record<string, number>> => {
  const chunks = makeChunks()
  const { codec, floor, sdk } = await inTurns(rounds, {
    floor: () => microsEachFrame(() => readWithFloor(chunks)),
    codec: () => microsEachFrame(() => readWithCodec(chunks)),
    sdk: () => microsEachFrame(() => readWithSdk(chunks))
  })
  return {
    codecMicros: median(codec),
    codecVsSdk: median(codec.map((micros, round) => (sdk[round] ?? Number.NaN) / micros)),
    codecVsFloor: median(codec.map((micros, round) => micros / (floor[round] ?? Number.NaN)))
  }
}

const microsEachFrame = (read: () => number | Promise<number>): Promise<number> =>
  microsEach(framesCount, async () => {
    const updates = await read()
    if (updates !== framesCount) throw new Error(`read ${updates} of ${framesCount} updates`)
  })

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
