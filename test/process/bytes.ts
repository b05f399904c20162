/** Sends bytes through an owned `cat` and compares every one that comes back. */
import * as crypto from "node:crypto"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Backend } from "../../src/services/Os.ts"
import { open } from "./links.ts"

export interface ByteRun {
  readonly receivedBytes: number
  readonly equal: boolean
  readonly mebibytesPerSecond: number
}

const MiB = 1024 * 1024

export const runBytes = (backend: Backend, mebibytes: number) =>
  Effect.gen(function* () {
    const link = yield* open({ command: "cat", args: [], env: { PATH: "/usr/bin:/bin" }, cwd: "/", backend })
    const blocks = numberedBlocks()
    const started = performance.now()
    const writer = yield* Effect.forkChild(
      Effect.gen(function* () {
        for (let number = 0; number < mebibytes; number++) yield* link.write(Buffer.from(blocks(number)))
        yield* link.end
      })
    )
    let receivedBytes = 0
    let equal = true
    for (;;) {
      const piece = yield* link.pull
      if (piece === undefined) break
      equal = equal && isAt(piece, receivedBytes, blocks)
      receivedBytes += piece.length
    }
    yield* Fiber.join(writer)
    const seconds = (performance.now() - started) / 1000
    const run: ByteRun = {
      receivedBytes,
      equal: equal && receivedBytes === mebibytes * MiB,
      mebibytesPerSecond: Math.round(mebibytes / seconds)
    }
    return run
  })

/** Blocks of random bytes that differ in their number, so that none can stand for another. */
const numberedBlocks = () => {
  const block = crypto.randomBytes(MiB)
  return (number: number) => {
    block.writeUInt32LE(number, 0)
    return block
  }
}

const isAt = (piece: Uint8Array, offset: number, blocks: (number: number) => Buffer): boolean => {
  let done = 0
  while (done < piece.length) {
    const start = (offset + done) % MiB
    const length = Math.min(piece.length - done, MiB - start)
    const block = blocks(Math.floor((offset + done) / MiB))
    if (block.compare(piece, done, done + length, start, start + length) !== 0) return false
    done += length
  }
  return true
}
