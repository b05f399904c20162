/**
 * A bounded pipe of bytes between processes: a write completes once all of it has fitted, which may need a reader; it fails
 * once nobody holds the other end. The end of the stream comes when the last writer has let go.
 */
import * as Effect from "effect/Effect"
import { StdinClosed } from "../schema/errors.ts"

interface Write {
  rest: Uint8Array
  readonly done: (taken: boolean) => void
}

export class FakePipe<Holder> {
  readonly readers = new Set<Holder>()
  readonly writers = new Set<Holder>()
  private readonly bytesMax: number
  private pieces: Array<Uint8Array> = []
  private bytes = 0
  private writes: Array<Write> = []
  private closing: Array<Holder> = []
  private isPaused = false
  private wake: (() => void) | undefined

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Bytes go in in the order of the calls. If interrupted, some of them may be in the pipe. */
  write(bytes: Uint8Array): Effect.Effect<void, StdinClosed> {
    return Effect.callback((resume) => {
      if (this.readers.size === 0) return resume(Effect.fail(new StdinClosed({ reason: "EPIPE" })))
      const write: Write = {
        rest: bytes,
        done: (taken) => resume(taken ? Effect.void : Effect.fail(new StdinClosed({ reason: "EPIPE" })))
      }
      this.writes.push(write)
      this.fill()
      return Effect.sync(() => {
        this.writes = this.writes.filter((other) => other !== write)
      })
    })
  }

  /** The next piece; `undefined` at the end, and when the reader has let go. One consumer. If interrupted no byte is lost. */
  readonly read: Effect.Effect<Uint8Array | undefined> = Effect.suspend(() => {
    if (!this.isReadable()) return Effect.andThen(this.changed, this.read)
    const piece = this.pieces.shift()
    if (piece === undefined) return Effect.undefined
    this.bytes -= piece.length
    this.fill()
    return Effect.succeed(piece)
  })

  /** Reading finds nothing from now on, or again what there is. */
  pause(isPaused: boolean): void {
    this.isPaused = isPaused
    this.notify()
  }

  /** Lets go of both ends; what this holder still writes is lost. */
  drop(holder: Holder): void {
    this.readers.delete(holder)
    this.writers.delete(holder)
    if (this.readers.size === 0) {
      this.pieces = []
      this.bytes = 0
    }
    if (this.readers.size === 0 || this.writers.size === 0) this.end()
    this.notify()
  }

  /** Lets go of the writing end once what was asked to be written is in. */
  dropAfterWrites(holder: Holder): void {
    if (this.writes.length === 0) return this.drop(holder)
    this.closing.push(holder)
  }

  /** There is a piece, or the end. */
  private isReadable(): boolean {
    if (this.readers.size === 0) return true
    return !this.isPaused && (this.pieces.length > 0 || this.writers.size === 0)
  }

  private readonly changed = Effect.callback<void>((resume) => {
    if (this.isReadable()) return resume(Effect.void)
    this.wake = () => resume(Effect.void)
    return Effect.sync(() => {
      this.wake = undefined
    })
  })

  private notify(): void {
    const wake = this.wake
    this.wake = undefined
    wake?.()
  }

  private end(): void {
    const writes = this.writes
    this.writes = []
    for (const { done } of writes) done(false)
  }

  private fill(): void {
    for (;;) {
      const write = this.writes[0]
      if (write === undefined) break
      const room = this.bytesMax - this.bytes
      const piece = write.rest.subarray(0, room)
      if (piece.length > 0) this.pieces.push(piece)
      this.bytes += piece.length
      write.rest = write.rest.subarray(piece.length)
      if (write.rest.length > 0) break
      this.writes.shift()
      write.done(true)
    }
    if (this.pieces.length > 0) this.notify()
    if (this.writes.length > 0) return
    for (const holder of this.closing.splice(0)) this.drop(holder)
  }
}
