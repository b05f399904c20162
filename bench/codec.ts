/**
 * The frame codec beside the official SDK, and beside the least that any codec must do. All three read the same bytes from
 * memory. A figure is the median over the rounds of the ratio within a round.
 */
import * as acp from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { openConnection } from "../src/actors/Connection.ts"
import * as Registry from "../src/actors/kernel/Registry.ts"
import { Runner } from "../src/actors/Runner.ts"
import * as Greenroom from "../src/layers/Greenroom.ts"
import type { Provider } from "../src/services/Provider.ts"
import { memoryAgent, memorySessionId } from "./memoryAgent.ts"
import { makeFrameDecoder } from "../src/schema/acp/frame.ts"
import { sessionUpdateOf } from "../src/schema/acp/protocol.ts"
import { inTurns, median, microsEach } from "./measure.ts"

export const framesCount = 200_000
const frameBytes = 312
const chunkBytes = 64 * 1024
const rounds = 5

export const run = async (): Promise<Record<string, number>> => {
  const chunks = makeChunks()
  const { decoder, queue, consumer, floor, sdk } = await inTurns(rounds, {
    floor: () => microsEachFrame(() => readWithFloor(chunks)),
    decoder: () => microsEachFrame(() => readWithDecoder(chunks)),
    queue: () => microsEachFrame(() => readFromQueue(chunks)),
    consumer: () => microsEachFrame(() => readAsConsumer(chunks)),
    sdk: () => microsEachFrame(() => readWithSdk(chunks))
  })
  const ratio = (of: ReadonlyArray<number>, to: ReadonlyArray<number>) =>
    median(of.map((micros, round) => micros / (to[round] ?? Number.NaN)))
  return {
    decoderMicros: median(decoder),
    queueMicros: median(queue),
    consumerMicros: median(consumer),
    codecVsSdk: ratio(sdk, queue),
    codecVsFloor: ratio(queue, floor),
    consumerVsSdk: ratio(sdk, consumer)
  }
}

const microsEachFrame = (read: () => number | Promise<number>): Promise<number> =>
  microsEach(framesCount, async () => {
    const updates = await read()
    if (updates !== framesCount) throw new Error(`read ${updates} of ${framesCount} updates`)
  })

/** To the ordered queue of a connection, as the holder of its claim takes from it. */
const readFromQueue = (chunks: ReadonlyArray<Uint8Array>): Promise<number> =>
  Effect.gen(function* () {
    const connection = yield* openConnection("bench", launch)
    yield* Effect.flatten(connection.request(connection.ticket("session/prompt"), {}))
    let updates = 0
    while (updates < framesCount) {
      const batch = yield* connection.take
      for (const entry of batch?.entries ?? []) if (entry._tag === "Update") updates += 1
    }
    return updates
  }).pipe(Effect.scoped, Effect.provide(Layer.merge(memoryAgent(chunks), Registry.layer)), Effect.runPromise)

/** To whoever reads the events of a turn: projected, sequenced, delivered. */
const readAsConsumer = (chunks: ReadonlyArray<Uint8Array>): Promise<number> =>
  Effect.gen(function* () {
    const session = yield* (yield* Runner).open({ ...openOptions, provider: memoryProvider })
    const prompt = yield* session.prompt("go")
    let updates = 0
    yield* Stream.runForEachArray(prompt.events, (events) =>
      Effect.sync(() => {
        for (const event of events) if (event.eventType === "item.delta") updates += 1
      })
    )
    return updates
  }).pipe(Effect.scoped, Effect.provide(Layer.provide(Greenroom.overLinks, memoryAgent(chunks))), Effect.runPromise)

const launch = { command: "memory", args: [], env: {}, cwd: "/" }

export const memoryProvider: Provider = {
  id: "memory",
  name: "Memory",
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
    toolKindTrusted: false,
    closesToolsOnCancel: true
  },
  locate: () => Effect.succeed({ _tag: "Found", command: "memory", args: [], version: undefined }),
  launch: () => Effect.succeed(launch)
}

export const openOptions = { cwd: "/", home: "private", hostEnv: {}, policy: "ask" } as const

/** Our decoder alone, and the address of every update as the connection reads it. */
const readWithDecoder = (chunks: ReadonlyArray<Uint8Array>): number => {
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
export const readWithSdk = (chunks: ReadonlyArray<Uint8Array>): Promise<number> => {
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

export const makeChunks = (): ReadonlyArray<Uint8Array> => {
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
        sessionId: memorySessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: "message_1" }
      }
    })}\n`
  return line("word ".repeat(frameBytes).slice(0, frameBytes - line("").length))
}
