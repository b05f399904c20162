/**
 * One child by `node:child_process`, in a session of its own: signals of a terminal reach the host only.
 *
 * Guarantees: a failed spawn is a value, whichever of its two ways Node reports it; errors are never unhandled.
 */
import * as childProcess from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ProcessExit } from "../../services/Os.ts"
import { errorCode } from "./pipes.ts"

export interface ChildRequest {
  readonly file: string
  /** What the program sees as its own name. */
  readonly name?: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface Child {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Exact, because we are the parent. */
  readonly exit: Deferred.Deferred<ProcessExit>
  /** Lets the host end although this child lives. */
  readonly unref: () => void
  /** Makes the host wait for its exit again. */
  readonly ref: () => void
  /** SIGKILL, if the child was not reaped yet: only then is its number its own. */
  readonly kill: () => void
}

/** Starts a child with three pipes. The failure is the error code. Uninterruptible. */
export const spawnChild = (request: ChildRequest): Effect.Effect<Child, string> =>
  Effect.uninterruptible(
    Effect.callback((resume) => {
      const started = start(request)
      if (Result.isFailure(started)) return resume(Effect.fail(started.failure))
      const child = started.success
      const exit = Deferred.makeUnsafe<ProcessExit>()
      child.on("error", (error) => resume(Effect.fail(errorCode(error))))
      child.on("exit", (code, signal) => Deferred.doneUnsafe(exit, Effect.succeed(exitOf(code, signal))))
      const { pid, stdin, stdout, stderr } = child
      // Without a number the error event is on its way.
      if (pid === undefined) return
      for (const pipe of [stdin, stdout, stderr]) pipe.on("error", ignore)
      const unref = () => {
        child.unref()
        for (const pipe of [stdin, stdout, stderr]) unrefPipe(pipe)
      }
      const kill = () => {
        child.kill("SIGKILL")
      }
      resume(Effect.succeed({ pid, stdin, stdout, stderr, exit, unref, ref: () => child.ref(), kill }))
    })
  )

const start = ({ args, cwd, env, file, name }: ChildRequest) =>
  Result.try({
    try: () =>
      childProcess.spawn(file, args, {
        cwd,
        env,
        argv0: name ?? file,
        detached: true,
        stdio: ["pipe", "pipe", "pipe"]
      }),
    catch: errorCode
  })

const exitOf = (code: number | null, signal: NodeJS.Signals | null): ProcessExit => {
  if (signal !== null) return { _tag: "Signal", signal, inferred: false }
  if (code !== null) return { _tag: "Code", code }
  return { _tag: "Unknown", reason: "Node reported neither code nor signal" }
}

/** The pipes of a child are sockets, which the types of Node do not say. */
const unrefPipe = (pipe: Readable | Writable) => {
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref()
}

const ignore = () => {}
