/**
 * One agent process as an `AgentLink`: its pipes, its end, and the proof that nothing of it is left.
 *
 * Guarantees: stderr is drained from birth; the exit of the agent is not the end of its output, which is drained within a
 * bound; the ladder runs once, to its end whoever asked for it goes away, and every caller gets its report.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import { limits } from "../../schema/limits.ts"
import type { AgentLink, CleanupReport, Launch } from "../../services/AgentLink.ts"
import { gracesOf, terminate } from "../../services/ladder.ts"
import type { Os, OsProcess } from "../../services/Os.ts"
import { sensitiveValues } from "../../schema/redaction.ts"
import { makeStderrTail } from "../../services/stderrTail.ts"
import { makeAgentOutput } from "./agentOutput.ts"

/** Takes over a process that was just spawned. Somebody must close the link. Uninterruptible. */
export const makeOwnedLink = Effect.fnUntraced(function* (
  os: Os["Service"],
  process: OsProcess,
  launch: Launch
): Effect.fn.Return<AgentLink> {
  const scope = yield* Scope.make()
  const tail = makeStderrTail(sensitiveValues(launch.env))
  const output = makeAgentOutput(process.stdout)
  const readers = [
    yield* Effect.forkIn(output.reader, scope),
    yield* Effect.forkIn(readInto(process.stderr, tail.push), scope)
  ]
  const drained = yield* Effect.forkIn(drainAfterExit(process, output.drain, readers), scope)

  const hurry = Latch.makeUnsafe()
  const report = Deferred.makeUnsafe<CleanupReport>()
  const end = Effect.gen(function* () {
    output.drain("discard")
    const result = yield* terminate(os, process, gracesOf(launch), hurry)
    yield* Effect.timeoutOption(Fiber.await(drained), limits.drainAfterExitMs)
    yield* process.closePipes
    yield* Fiber.awaitAll(readers)
    if (result.survivors.length === 0) yield* os.ledger.remove(process.marker)
    yield* Scope.close(scope, Exit.void)
    return result
  })
  // Of nobody but this link, which every owner awaits: in a scope that is being closed it would not even begin.
  let ending = false
  const startEnd = Effect.suspend(() => {
    if (ending) return Effect.void
    ending = true
    return Effect.forkDetach(Deferred.into(end, report), { uninterruptible: true })
  }).pipe(Effect.uninterruptible)
  const close = Effect.andThen(startEnd, Deferred.await(report))
  return {
    pull: output.pull,
    write: process.write,
    end: process.end,
    exit: process.exit,
    identity: process.identity,
    backend: process.backend,
    stderrTail: tail.lines,
    close,
    kill: Effect.andThen(hurry.open, close)
  }
})

const readInto = (pipe: Effect.Effect<Uint8Array | undefined>, push: (bytes: Uint8Array) => void) =>
  Effect.gen(function* () {
    for (;;) {
      const piece = yield* pipe
      if (piece === undefined) return
      push(piece)
    }
  })

/** Somebody who inherited a pipe may hold it open for ever, so the pipes are closed when the bound is over. */
const drainAfterExit = Effect.fnUntraced(function* (
  process: OsProcess,
  drain: (mode: "hold") => void,
  readers: ReadonlyArray<Fiber.Fiber<void>>
) {
  yield* process.exit
  drain("hold")
  yield* Effect.timeoutOption(Fiber.awaitAll(readers), limits.drainAfterExitMs)
  // On a busy host the timer may be served before what has been in the pipe for long.
  for (let turn = 0; turn < limits.drainReadTurnsMin; turn++) yield* Effect.yieldNow
  yield* process.closePipes
})
