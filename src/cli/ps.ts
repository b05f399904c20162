/** `greenroom ps`: what a runner that serves is doing: its runs, its actors and the processes that it owns. Changes nothing. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connectRunner } from "../layers/transport/runnerConnection.ts"
import { connectUnixSocket } from "../layers/transport/unixSocket.ts"
import type { ConnectRefused, OutputClosed } from "../schema/errors.ts"
import { nativeAt } from "../schema/prp/native.ts"
import type { RunStatus } from "../schema/run.ts"
import * as Ids from "../services/Ids.ts"
import type { ConnectionLost, RunnerConnection } from "../services/RunnerClient.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"
import { type Paint, paintFor } from "./paint.ts"
import { socketPath } from "./serveFolder.ts"
import { shownLine } from "./shownText.ts"

export interface PsOptions {
  readonly state: string | undefined
  readonly socket: string | undefined
  readonly json: boolean
}

export const ps = Effect.fn("greenroom.ps")(function* (
  options: PsOptions
): Effect.fn.Return<ExitCode, ConnectRefused | ConnectionLost | OutputClosed, Scope.Scope> {
  const channel = yield* connectUnixSocket(socketPath(options.state, options.socket))
  const { welcome } = yield* connectRunner(channel, { name: null, inspect: true, events: false }).pipe(
    Effect.provide(Ids.layer)
  )
  const stdout = stdoutStream()
  yield* stdout.write(
    options.json ? jsonLine(welcome) : `${psLines(welcome, paintFor(stdout.isTerminal, process.env)).join("\n")}\n`
  )
  return exitCodes.completed
})

export const psLines = (
  { processes = [], runnerState, runs, runsOmitted, runnerVersion, tree = [] }: RunnerConnection["welcome"],
  paint: Paint
): ReadonlyArray<string> => [
  `greenroom ${shownLine(runnerVersion)}, ${runnerState}`,
  "",
  runs.length === 0 ? "no run that has not ended" : paint.bold("runs"),
  ...runs.flatMap((run) => runLines(run)),
  ...(runsOmitted === 0 ? [] : [`  and ${runsOmitted} more`]),
  "",
  processes.length === 0 ? "no process of an agent" : paint.bold("processes"),
  ...processes.map(processLine),
  "",
  paint.bold("actors"),
  ...tree.map(actorLine)
]

const runLines = (run: RunStatus): ReadonlyArray<string> => [
  `  ${shownLine(run.runId)}  ${run.runState}, session ${run.sessionState}, ${shownLine(run.agent)} in ${shownLine(run.cwd)}`,
  ...(run.activeTurnId === null ? [] : [`    turn ${shownLine(run.activeTurnId)}`]),
  ...run.openRequests.map((requestId) => `    waits for an answer to ${shownLine(requestId)}`)
]

const processLine = (process: unknown): string =>
  `  ${told(nativeAt(process, "identity", "pid"))}  ${told(nativeAt(process, "agent"))} of ${told(nativeAt(process, "runId"))}, ${told(nativeAt(process, "backend"))}`

const actorLine = (row: unknown): string => {
  const path = told(nativeAt(row, "path"))
  const indent = "  ".repeat(Math.max(1, path.split("/").length - 1))
  const waiting = nativeAt(row, "depth")
  const restarts = nativeAt(row, "restarts")
  return `${indent}${path.slice(path.lastIndexOf("/") + 1)}  ${told(nativeAt(row, "state"))}${
    waiting === 0 ? "" : `, ${told(waiting)} waiting`
  }${restarts === 0 ? "" : `, ${told(restarts)} restarts`}`
}

const told = (value: unknown): string =>
  typeof value === "string" ? shownLine(value) : typeof value === "number" ? String(value) : "unknown"
