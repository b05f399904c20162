import { describe, expect, it } from "@effect/vitest"
import { makeLineBuffer } from "../../../src/schema/acp/lineBuffer.ts"
import { limits } from "../../../src/schema/limits.ts"

const mebibyte = 1024 * 1024

/** How often the bytes were moved to another buffer while they came in pieces. */
const moves = (totalBytes: number, pieceBytes: number): number => {
  const buffer = makeLineBuffer(64 * mebibyte)
  const piece = new Uint8Array(pieceBytes)
  const seen = new Set<ArrayBufferLike>()
  for (let taken = 0; taken < totalBytes; taken += pieceBytes) {
    buffer.append(piece)
    seen.add(buffer.view().buffer)
  }
  return seen.size
}

describe("makeLineBuffer", () => {
  it("moves the bytes of a long line a few times, not once per piece", () => {
    expect(moves(30 * mebibyte, 65_536)).toBeLessThan(20)
    expect(moves(mebibyte, 64)).toBeLessThan(20)
  })

  it("takes what fits and says how much", () => {
    const buffer = makeLineBuffer(5)
    expect(buffer.append(Uint8Array.of(1, 2, 3))).toBe(3)
    expect(buffer.append(Uint8Array.of(4, 5))).toBe(2)
    expect(buffer.append(Uint8Array.of(6))).toBe(0)
    expect([...buffer.view()]).toStrictEqual([1, 2, 3, 4, 5])
    buffer.clear()
    expect(buffer.length()).toBe(0)
    expect(buffer.append(Uint8Array.of(7, 8, 9, 10, 11, 12))).toBe(5)
    expect([...buffer.view()]).toStrictEqual([7, 8, 9, 10, 11])
  })

  it("holds a copy", () => {
    const buffer = makeLineBuffer(5)
    const bytes = Uint8Array.of(1, 2)
    buffer.append(bytes)
    bytes.fill(0)
    expect([...buffer.view()]).toStrictEqual([1, 2])
  })

  it("never allocates more than its bound, and gives a large buffer back", () => {
    const buffer = makeLineBuffer(3 * mebibyte)
    buffer.append(new Uint8Array(2 * mebibyte))
    buffer.append(new Uint8Array(mebibyte))
    expect(buffer.view().buffer.byteLength).toBe(3 * mebibyte)
    buffer.clear()
    expect(buffer.view().buffer.byteLength).toBe(0)
  })

  it("uses a buffer up to the bound for the next line, too", () => {
    const keptOf = (bytes: number) => {
      const buffer = makeLineBuffer(mebibyte)
      buffer.append(new Uint8Array(bytes))
      buffer.clear()
      return buffer.view().buffer.byteLength
    }
    expect(keptOf(limits.keptLineBytesMax)).toBe(limits.keptLineBytesMax)
    expect(keptOf(limits.keptLineBytesMax + 1)).toBe(0)
  })
})
