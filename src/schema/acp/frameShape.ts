/**
 * Whether a line can be parsed safely. A few MiB of brackets keep the parser busy for minutes, and a value nested some
 * thousand levels deep parses well but overflows the stack of whoever writes it as JSON again.
 */
import { limits } from "../limits.ts"

/** Which bound a line exceeds: `bytes` its length, `nesting` its depth, `values` what it holds. */
export type Excess = "bytes" | "nesting" | "values"

/** A shorter line can exceed neither bound and still be JSON: every level takes two bytes. */
export const simpleLineBytesMax = limits.frameDepthMax * 2

/** Looks at the line from `from` to `end`; goes no further than to the first excess. */
export const shapeExcess = (bytes: Uint8Array, from: number, end: number): Excess | undefined => {
  let depth = 0
  let values = 1
  for (let index = from; index < end; index += 1) {
    switch (bytes[index]) {
      case 0x22:
        index = endOfString(bytes, index + 1, end)
        break
      case 0x2c:
        values += 1
        if (values > limits.frameValuesMax) return "values"
        break
      case 0x7b:
      case 0x5b:
        depth += 1
        values += 1
        if (depth > limits.frameDepthMax) return "nesting"
        if (values > limits.frameValuesMax) return "values"
        break
      case 0x7d:
      case 0x5d:
        depth -= 1
    }
  }
  return undefined
}

/** The index of the closing quote, or `end`. A short string is walked through, a long one searched natively. */
const endOfString = (bytes: Uint8Array, from: number, end: number): number => {
  const walked = Math.min(end, from + walkedBytesMax)
  let index = from
  while (index < walked) {
    const byte = bytes[index]
    if (byte === 0x22) return index
    index += byte === 0x5c ? 2 : 1
  }
  let quote = bytes.indexOf(0x22, index)
  while (quote !== -1 && isEscaped(bytes, quote)) quote = bytes.indexOf(0x22, quote + 1)
  return quote === -1 ? end : quote
}

const walkedBytesMax = 48

/** By an odd number of backslashes. The string's own opening quote ends them at the latest. */
const isEscaped = (bytes: Uint8Array, quote: number): boolean => {
  let index = quote
  while (bytes[index - 1] === 0x5c) index -= 1
  return (quote - index) % 2 === 1
}
