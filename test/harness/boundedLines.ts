/** Lines of bytes, none of which is longer than the bound. */
import { makeLineBuffer } from "../../src/schema/acp/lineBuffer.ts"

export interface BoundedLines {
  /** The lines that end in these bytes. `undefined` stands for one beyond the bound, as soon as it is. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string | undefined>
}

/** The end of a line does not count. */
export const makeBoundedLines = (bytesMax: number): BoundedLines => {
  const buffer = makeLineBuffer(bytesMax)
  const decoder = new TextDecoder()
  let isTooLong = false

  const take = (bytes: Uint8Array, lines: Array<string | undefined>) => {
    if (isTooLong || buffer.append(bytes) === bytes.length) return
    isTooLong = true
    lines.push(undefined)
  }
  const end = (lines: Array<string | undefined>) => {
    if (!isTooLong) lines.push(decoder.decode(buffer.view()))
    isTooLong = false
    buffer.clear()
  }
  return {
    push: (bytes) => {
      const lines: Array<string | undefined> = []
      let from = 0
      for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, from)) {
        take(bytes.subarray(from, at), lines)
        end(lines)
        from = at + 1
      }
      take(bytes.subarray(from), lines)
      return lines
    }
  }
}
