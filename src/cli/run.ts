/**
 * `greenroom run`: one prompt, followed to its end.
 *
 * Guarantees: when it returns, everything that it started is gone or named as left; the last line says so, whatever happened.
 * stdout has data only: the agent's answer, or with `--json` one event envelope on each line; everything else is on stderr.
 * Its one error is a mistake of the command line, found before anything was started.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { UsageInvalid } from "../schema/errors.ts"
import { type ExitCode, exitCodeOf } from "./exitCode.ts"
import { makeFleet } from "./fleet.ts"
import { makeFollower } from "./follower.ts"
import { mcpServersOf } from "./mcpOption.ts"
import { areOneStream, stderrStream, stdoutStream } from "./outputStream.ts"
import { paintFor } from "./paint.ts"
import { performRun, unlessGivenUp } from "./performRun.ts"
import { openRecording } from "./recording.ts"
import type { RunOptions } from "./runOptions.ts"
import { makeScreen } from "./screen.ts"
import { type Interrupts, makeInterrupts } from "./signals.ts"
import { lastLine, processCounts, reasonLines } from "./summary.ts"

export const run = Effect.fn("greenroom.run")(function* (
  options: RunOptions
): Effect.fn.Return<ExitCode, UsageInvalid, Scope.Scope> {
  const startMs = yield* Clock.currentTimeMillis
  const mcpServers = yield* mcpServersOf(options.mcp)
  const record = options.record === undefined ? undefined : yield* openRecording(options.record)
  const terminal = stderrStream()
  const paint = paintFor(terminal.isTerminal, process.env)
  const screen = makeScreen(stdoutStream(), terminal, areOneStream())
  const interrupts = yield* makeInterrupts
  const fleet = makeFleet()
  const follower = makeFollower({ screen, interrupts, paint, json: options.json })
  const say = (text: string) => Effect.ignore(screen.print([{ channel: "notice", text: `${text}\n` }]))
  yield* Effect.forkScoped(sayInterrupts(interrupts, say))
  yield* Effect.forkScoped(Effect.andThen(interrupts.killed, fleet.kill))

  const end = yield* performRun({
    options,
    mcpServers,
    record,
    fleet,
    follower,
    interrupts,
    screen,
    terminal,
    paint
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => Effect.succeed({ _tag: "Failed", error } as const))
  )
  const processes = processCounts(fleet.reports())
  const elapsedMs = (yield* Clock.currentTimeMillis) - startMs
  const lines = [
    ...reasonLines(end).map((line) => `${paint.red("greenroom:")} ${line}`),
    lastLine(end, elapsedMs, follower.view().counts, processes)
  ]
  yield* unlessGivenUp(say(lines.join("\n")), end, interrupts)
  return exitCodeOf(end, processes.left.length)
})

const sayInterrupts = Effect.fnUntraced(function* (interrupts: Interrupts, say: (text: string) => Effect.Effect<void>) {
  if ((yield* interrupts.cancelled) === "SIGPIPE") return
  yield* say("greenroom: cancelling; Ctrl-C again kills the agent")
  yield* interrupts.killed
  yield* say("greenroom: killing the agent")
})
