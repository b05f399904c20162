/**
 * The bytes of a line whose end has not come yet. Bytes are copied in, each a constant number of times on average, so a
 * line of any size in pieces of any size costs time in proportion to its length, and no piece is kept alive.
 */
import { limits } from "../limits.ts"

export interface LineBuffer {
  readonly length: () => number
  /** Takes as many bytes as fit below the capacity given at the start, and says how many. */
  readonly append: (bytes: Uint8Array) => number
  /** The bytes so far. Valid until the next `append` or `clear`. */
  readonly view: () => Uint8Array
  readonly clear: () => void
}

const firstBytes = 1024

export const makeLineBuffer = (bytesMax: number): LineBuffer => {
  let buffer = new Uint8Array(0)
  let length = 0
  const reserve = (needed: number) => {
    if (needed <= buffer.length) return
    const grown = new Uint8Array(Math.min(bytesMax, Math.max(firstBytes, needed, buffer.length * 2)))
    grown.set(buffer.subarray(0, length))
    buffer = grown
  }
  return {
    length: () => length,
    append: (bytes) => {
      const taken = Math.min(bytes.length, bytesMax - length)
      reserve(length + taken)
      buffer.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), length)
      length += taken
      return taken
    },
    view: () => buffer.subarray(0, length),
    clear: () => {
      length = 0
      if (buffer.length > limits.keptLineBytesMax) buffer = new Uint8Array(0)
    }
  }
}
