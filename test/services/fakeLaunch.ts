/** A small `Os` for the policies: processes of one launch, each with its own way to end. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Backend, OsProcess, ProcessExit, ProcessIdentity, SignalName } from "../../src/services/Os.ts"

export interface FakeProcess {
  readonly pid: number
  /** Milliseconds until a look shows it; it takes in what was sent to it before. */
  readonly bornAfter?: number
  /** Milliseconds after the step at which it ends; `undefined`: that step does not end it. */
  readonly afterEof?: number
  readonly afterTerm?: number
  /** Default 0; `undefined` in the map of `immortal` processes. */
  readonly immortal?: boolean
  /** Starts this process when it gets SIGTERM. */
  readonly forksAtTerm?: FakeProcess
}

export const identityOf = (pid: number, startTime = "100"): ProcessIdentity => ({
  pid,
  startTime,
  bootId: "boot",
  pidNamespace: "1"
})

/** The first process is the agent. */
export const makeFakeLaunch = (processes: ReadonlyArray<FakeProcess>, backend: Backend = "marked") => {
  const alive = new Map(processes.map((process) => [process.pid, process]))
  const exit = Deferred.makeUnsafe<ProcessExit>()
  const agent = processes[0]?.pid ?? 1
  const anchor = 1000
  const log: Array<string> = []
  let released = false

  const die = (pid: number, exited: ProcessExit) => {
    if (!alive.delete(pid)) return
    log.push(`end ${pid}`)
    if (pid === agent) Deferred.doneUnsafe(exit, Effect.succeed(exited))
  }
  const dieAfter = (pid: number, delayMs: number | undefined, exited: ProcessExit) => {
    if (delayMs === undefined) return Effect.void
    if (delayMs === 0) return Effect.sync(() => die(pid, exited))
    return Effect.asVoid(
      Effect.forkDetach(
        Effect.andThen(
          Effect.sleep(delayMs),
          Effect.sync(() => die(pid, exited))
        )
      )
    )
  }
  const endNamespace = Effect.sync(() => {
    released = true
    for (const pid of alive.keys()) die(pid, { _tag: "Signal", signal: "SIGKILL", inferred: true })
  })

  const signal = (identity: ProcessIdentity, name: SignalName) =>
    Effect.gen(function* () {
      log.push(`${name} ${identity.pid}`)
      if (backend === "namespace" && identity.pid === anchor) {
        if (name === "SIGKILL") yield* endNamespace
        return !released
      }
      const process = alive.get(identity.pid)
      if (process === undefined) return false
      const forked = process.forksAtTerm
      if (name === "SIGTERM" && forked !== undefined) alive.set(forked.pid, forked)
      const after = name === "SIGTERM" ? process.afterTerm : process.immortal === true ? undefined : 0
      yield* dieAfter(process.pid, after, { _tag: "Signal", signal: name, inferred: false })
      return true
    })
  const end = Effect.suspend(() => {
    log.push("eof")
    const ends = [...alive.values()].map(({ afterEof, pid }) => dieAfter(pid, afterEof, { _tag: "Code", code: 0 }))
    return Effect.asVoid(Effect.all(ends))
  })
  const process: OsProcess = {
    marker: "m",
    backend,
    identity: identityOf(backend === "namespace" ? anchor : agent),
    stdout: Effect.never,
    stderr: Effect.never,
    write: () => Effect.void,
    end,
    exit: Deferred.await(exit),
    closePipes: Effect.void,
    release: backend === "namespace" ? endNamespace : Effect.void
  }
  const os = {
    signal,
    census: () =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        [...alive.values()].filter(({ bornAfter = 0 }) => now >= bornAfter).map(({ pid }) => identityOf(pid))
      ),
    readIdentity: (pid: number) =>
      Effect.sync(() =>
        alive.has(pid) || (backend === "namespace" && pid === anchor && !released) ? identityOf(pid) : undefined
      )
  }
  return { process, os, alive, log, exit: (pid: number) => die(pid, { _tag: "Code", code: 0 }) }
}
