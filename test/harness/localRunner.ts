/**
 * Hosts a fake harness for a controller. The harness is an owned process: when the run is over nothing of it is left, and
 * when the host of this runner dies, neither.
 *
 * Bounds: `queueMax` messages of the harness wait for the runner, then the harness waits; commands are read one by one.
 */
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import type { HarnessCommand, RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import type { HarnessExit } from "../../src/schema/prp/rules/terminalReconciliation.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../../src/services/AgentLink.ts"
import type { Backend, ProcessExit } from "../../src/services/Os.ts"
import { makeBoundedLines } from "./boundedLines.ts"
import { step } from "./runState.ts"
import { initialRun, type RunIdentity, type RunInput, type RunOutput } from "./runWork.ts"

export interface LocalRunnerOptions extends RunIdentity {
  /** Of the script. */
  readonly file: string
  readonly backend?: Backend
  readonly lineBytesMax?: number
  readonly readyMs?: number
}

/** Who gives the commands and is told. */
export interface Controller {
  /** Bytes of JSON Lines; `undefined` at their end. */
  readonly pull: Effect.Effect<Uint8Array | undefined>
  readonly say: (message: RunnerMessage) => Effect.Effect<void>
}

const program = fileURLToPath(new URL("../../fixtures/agents/harness/program.ts", import.meta.url))

/** One run, to its end. The report of the harness's clean-up, if one was started. If interrupted: the scope ends the harness. */
export const runLocalRunner: (
  options: LocalRunnerOptions,
  controller: Controller
) => Effect.Effect<CleanupReport | undefined, never, AgentLinks | Scope.Scope> = Effect.fnUntraced(
  function* (options, controller) {
    const links = yield* AgentLinks
    const inputs = yield* Queue.bounded<RunInput>(harnessBounds.queueMax)
    const handled = Latch.makeUnsafe()
    let link: AgentLink | undefined
    let report: CleanupReport | undefined
    let state = initialRun(options)

    const listen = Effect.fnUntraced(function* (opened: AgentLink) {
      const lines = makeBoundedLines(options.lineBytesMax ?? harnessBounds.lineBytesMax)
      for (let piece = yield* opened.pull; piece !== undefined; piece = yield* opened.pull) {
        for (const line of lines.push(piece)) yield* Queue.offer(inputs, { _tag: "Message", line })
      }
      report = yield* opened.close
      const { exit, survivors } = report
      yield* Queue.offer(inputs, ended(exitOf(exit), opened.stderrTail(), survivors.length))
    })
    const start = Effect.gen(function* () {
      link = yield* links.open(launchOf(options))
      yield* Effect.forkScoped(listen(link))
      yield* Effect.forkScoped(
        Effect.delay(Queue.offer(inputs, { _tag: "ReadyTimeout" }), options.readyMs ?? harnessBounds.readyMs)
      )
    }).pipe(
      Effect.catch(({ message }) =>
        Queue.offer(inputs, ended({ exitCode: null, success: false, signal: null }, [message], 0))
      )
    )
    const perform = (output: RunOutput) => {
      switch (output._tag) {
        case "Say":
          return controller.say({ schema: "paperclip.runner.stream.v1", message: output.message })
        case "Start":
          return start
        case "Tell":
          return link === undefined ? Effect.void : tell(link, output.command)
        case "Stop":
          return link === undefined ? Effect.void : Effect.forkScoped(link.close)
      }
    }
    yield* Effect.forkScoped(hear(controller, inputs, handled))
    let owesTurn = false
    while (state.phase !== "over") {
      const input = yield* Queue.take(inputs)
      const [next, outputs] = step(state, input)
      state = next
      for (const output of outputs) yield* perform(output)
      owesTurn ||= input._tag === "Command"
      if (!owesTurn || next.phase === "starting") continue
      owesTurn = false
      yield* handled.open
    }
    return report
  }
)

/** One command after the other: the next is read once this one was handled, so that the controller's pipe is the queue. */
const hear = Effect.fnUntraced(function* ({ pull }: Controller, inputs: Queue.Enqueue<RunInput>, handled: Latch.Latch) {
  const lines = makeBoundedLines(harnessBounds.lineBytesMax)
  for (let piece = yield* pull; piece !== undefined; piece = yield* pull) {
    for (const line of lines.push(piece)) {
      yield* handled.close
      yield* Queue.offer(inputs, { _tag: "Command", line })
      yield* handled.await
    }
  }
  yield* Queue.offer(inputs, { _tag: "ControllerClosed" })
})

const launchOf = ({ backend, file }: LocalRunnerOptions) => ({
  command: process.execPath,
  args: [program, path.resolve(file)],
  env: {},
  cwd: path.dirname(path.resolve(file)),
  graces: { eofMs: 0, termMs: harnessBounds.shutdownMs },
  ...(backend === undefined ? {} : { backend })
})

/** A harness that does not listen any more is about to end, and that will be told. */
const tell = (link: AgentLink, command: HarnessCommand) =>
  Effect.ignore(link.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`)))

const ended = (exit: HarnessExit, stderr: ReadonlyArray<string>, survivors: number): RunInput => ({
  _tag: "Ended",
  exit,
  stderr,
  survivors
})

const exitOf = (exit: ProcessExit): HarnessExit => {
  switch (exit._tag) {
    case "Code":
      return { exitCode: exit.code, success: exit.code === 0, signal: null }
    case "Signal":
      return exit.inferred ? inferredExit(exit.signal) : { exitCode: null, success: false, signal: exit.signal }
    case "Unknown":
      return { exitCode: null, success: false, signal: null }
  }
}

/** Under a shell: it told a status above 128, which is what a harness that exits by itself has too. */
const inferredExit = (signal: string): HarnessExit => {
  const number = Object.entries(os.constants.signals).find(([name]) => name === signal)?.[1]
  return number === undefined
    ? { exitCode: null, success: false, signal }
    : { exitCode: 128 + number, success: false, signal: null }
}
