/**
 * One of the two output streams of the command.
 *
 * Guarantees: a write completes when the operating system took the text, so a slow reader makes the writer wait; a reader that
 * is gone is a typed failure and never an exception, and so is a full disk, which says its code.
 */
import * as Effect from "effect/Effect"
import { fstatSync } from "node:fs"
import { OutputClosed } from "../schema/errors.ts"

export interface OutputStream {
  readonly isTerminal: boolean
  readonly columns: () => number
  readonly rows: () => number
  /** If interrupted, the text may be written in part. */
  readonly write: (text: string) => Effect.Effect<void, OutputClosed>
}

export const stdoutStream = (): OutputStream => (stdout ??= outputStream("stdout", process.stdout))

export const stderrStream = (): OutputStream => (stderr ??= outputStream("stderr", process.stderr))

/** Both are one terminal, pipe or file, as after `2>&1`. */
export const areOneStream = (): boolean => {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)]
    return out.dev === err.dev && out.ino === err.ino
  } catch {
    return false
  }
}

let stdout: OutputStream | undefined
let stderr: OutputStream | undefined

const outputStream = (name: "stdout" | "stderr", stream: NodeJS.WriteStream): OutputStream => {
  let failure: OutputClosed | undefined
  const closedBy = (cause: Error | undefined): OutputClosed => (failure ??= new OutputClosed(lossOf(name, cause)))
  // Without a listener the failure of a write ends the process.
  stream.on("error", closedBy)
  return {
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    write: (text) =>
      Effect.callback<void, OutputClosed>((resume) => {
        if (failure !== undefined || stream.destroyed) return resume(Effect.fail(closedBy(undefined)))
        stream.write(text, (error) => resume(error ? Effect.fail(closedBy(error)) : Effect.void))
      })
  }
}

/** A reader that is gone wants nothing, so that nothing is lost. */
const lossOf = (stream: "stdout" | "stderr", cause: Error | undefined) => {
  const code = cause !== undefined && "code" in cause && typeof cause.code === "string" ? cause.code : "EPIPE"
  return goneCodes.has(code) ? { stream } : { stream, systemCode: code }
}

const goneCodes: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EOF", "EIO", "ERR_STREAM_DESTROYED"])
