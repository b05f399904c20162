/** Lines and ways to feed them, for the tests of the codec. */
import { type Frame, makeFrameDecoder } from "../../../src/schema/acp/frame.ts"

const encoder = new TextEncoder()

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

export const notification = (params: unknown, method = "session/update"): object => ({ jsonrpc: "2.0", method, params })

export const request = (id: unknown, params: unknown = {}, method = "session/request_permission"): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const response = (id: unknown, result: unknown): object => ({ jsonrpc: "2.0", id, result })

export const lines = (...values: ReadonlyArray<object | string>): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("")

export interface Decoded {
  readonly frames: ReadonlyArray<Frame>
  readonly noise: ReturnType<typeof makeFrameDecoder>["noise"]
}

/** Decodes chunks and the end after them. */
export const decodeChunks = (chunks: ReadonlyArray<Uint8Array>, frameBytesMax?: number): Decoded => {
  const decoder = makeFrameDecoder(frameBytesMax === undefined ? undefined : { frameBytesMax })
  const frames = chunks.flatMap((chunk) => decoder.push(chunk))
  return { frames: [...frames, ...decoder.end()], noise: decoder.noise }
}

export const decode = (output: string | Uint8Array, frameBytesMax?: number): Decoded =>
  decodeChunks([typeof output === "string" ? bytesOf(output) : output], frameBytesMax)

/** Cuts bytes into pieces of the given sizes, used in turn; a size of 0 is a piece of nothing. */
export const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let from = 0
  for (let turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    // A full round of nothing would never end.
    const taken = size === 0 && turn >= sizes.length ? 1 : size
    chunks.push(bytes.slice(from, from + taken))
    from += taken
  }
  return chunks
}

/** What a frame says, without sizes and the raw line. */
export const gist = (frame: Frame): object => {
  switch (frame._tag) {
    case "Request":
      return { request: frame.method, id: frame.id, params: frame.params }
    case "Notification":
      return { notification: frame.method, params: frame.params }
    case "Response":
      return frame.error === undefined ? { id: frame.id, result: frame.result } : { id: frame.id, error: frame.error }
    case "Invalid":
      return { invalid: frame.reason, answer: frame.id, responseTo: frame.responseTo }
    case "Oversized":
      return { oversized: frame.kind, id: frame.id, method: frame.method }
  }
}

export const gists = (decoded: Decoded): ReadonlyArray<object> => decoded.frames.map(gist)
