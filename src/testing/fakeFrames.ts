/** Frames of agents in this process: their bytes, and taking them one by one. */
import * as Effect from "effect/Effect"
import type { OrderedQueue } from "../actors/orderedQueue.ts"

export type Json = Readonly<Record<string, unknown>>

const encoder = new TextEncoder()

/** Frames as an agent writes them, in one piece. */
export const encodeFrames = (frames: ReadonlyArray<Json>): Uint8Array =>
  encoder.encode(frames.map((frame) => `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`).join(""))

/** Takes pieces of a stream and gives the frames that are whole by then. */
export const makeFrameReader = (): ((bytes: Uint8Array) => ReadonlyArray<Json>) => {
  const decoder = new TextDecoder()
  let rest = ""
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  }
}

/** Takes one by one from a queue that gives all it has; `undefined` at its end. */
export const takeOneOrEnd = <A>(queue: OrderedQueue<A>): Effect.Effect<A | undefined> => {
  let rest: ReadonlyArray<A> = []
  return Effect.gen(function* () {
    if (rest.length === 0) rest = (yield* queue.take)?.entries ?? []
    const [first, ...others] = rest
    rest = others
    return first
  })
}

/** As `takeOneOrEnd`; waits for ever at the end. */
export const takeOne = <A>(queue: OrderedQueue<A>): Effect.Effect<A> =>
  Effect.flatMap(takeOneOrEnd(queue), (one) => (one === undefined ? Effect.never : Effect.succeed(one)))
