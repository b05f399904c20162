/**
 * `greenroom attach`: watches a run of a runner that serves, and answers what its agent asks.
 *
 * Guarantees: the run does not notice; Ctrl-C only detaches. Whoever answers first has answered, and everybody else is told
 * so. What the log still has of the run is shown first. Nothing is waited for where no such run goes on.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { connectRunner } from "../layers/transport/runnerConnection.ts"
import { connectUnixSocket } from "../layers/transport/unixSocket.ts"
import { type ConnectRefused, type OutputClosed, UsageInvalid } from "../schema/errors.ts"
import { isEmittedEvent } from "../schema/prp/event.ts"
import type { RequestAnswer } from "../schema/request.ts"
import * as Ids from "../services/Ids.ts"
import type { ConnectionLost, RunnerConnection } from "../services/RunnerClient.ts"
import { startDialogue } from "./dialogue.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { type Follower, makeFollower } from "./follower.ts"
import { makeKeyboard } from "./keyboard.ts"
import { areOneStream, stderrStream, stdoutStream } from "./outputStream.ts"
import { paintFor } from "./paint.ts"
import { makeScreen } from "./screen.ts"
import { socketPath } from "./serveFolder.ts"
import { shownLine } from "./shownText.ts"
import { makeInterrupts } from "./signals.ts"

export interface AttachOptions {
  /** Default: the one run that has not ended. */
  readonly run: string | undefined
  readonly state: string | undefined
  readonly socket: string | undefined
  readonly json: boolean
}

export type AttachError = ConnectRefused | ConnectionLost | OutputClosed | UsageInvalid

export const attach = Effect.fn("greenroom.attach")(function* (
  options: AttachOptions
): Effect.fn.Return<ExitCode, AttachError, Scope.Scope> {
  const terminal = stderrStream()
  const paint = paintFor(terminal.isTerminal, process.env)
  const screen = makeScreen(stdoutStream(), terminal, areOneStream())
  const interrupts = yield* makeInterrupts
  const say = (text: string) => Effect.ignore(screen.print([{ channel: "notice", text: `${text}\n` }]))
  const connection = yield* connected(socketPath(options.state, options.socket))
  const runId = yield* chosenRun(connection, options.run)
  const follower = makeFollower({ screen, interrupts, paint, json: options.json })
  yield* startDialogue({
    follower,
    screen,
    terminal,
    interrupts,
    paint,
    keyboard: process.stdin.isTTY === true && terminal.isTerminal ? yield* makeKeyboard(process.stdin) : undefined,
    answer: (requestId, answer) => Effect.flatMap(answered(connection, follower, runId, requestId, answer), say)
  })
  yield* say(paint.dim(`attached to ${shownLine(runId)}; Ctrl-C detaches`))
  const following = yield* Effect.forkScoped(followed(follower, connection, runId))
  const isDetached = yield* Effect.raceFirst(
    Effect.as(Fiber.join(following), false),
    Effect.as(interrupts.cancelled, true)
  )
  yield* say(`greenroom: ${isDetached ? "detached, the run goes on" : "the run is over"}`)
  return exitCodes.completed
})

/** From the oldest event on that is still there. */
const connected = Effect.fnUntraced(function* (path: string) {
  const from = (afterSourceSeq: number) =>
    Effect.flatMap(connectUnixSocket(path), (channel) => connectRunner(channel, { name: null, afterSourceSeq }))
  return yield* from(0).pipe(
    Effect.catchTag("RunnerRefused", (refusal) => {
      const oldest = refusal.facts["oldestSourceSeq"]
      return typeof oldest === "number" ? from(oldest - 1) : Effect.fail(refusal)
    }),
    Effect.provide(Ids.layer)
  )
})

const chosenRun = (
  { welcome: { runs } }: RunnerConnection,
  asked: string | undefined
): Effect.Effect<string, UsageInvalid> => {
  if (asked !== undefined) return Effect.succeed(asked)
  const [only, ...others] = runs
  if (only !== undefined && others.length === 0) return Effect.succeed(only.runId)
  const reason =
    only === undefined ? "no run is under way" : `name one of ${runs.map(({ runId }) => shownLine(runId)).join(", ")}`
  return Effect.fail(new UsageInvalid({ option: "run", reason }))
}

/** The choice by its id, with the word of PRP for what it means. */
const answered = Effect.fnUntraced(function* (
  connection: RunnerConnection,
  follower: Follower,
  runId: string,
  requestId: string,
  answer: RequestAnswer
) {
  const choice = follower
    .view()
    .questions.find((question) => question.requestId === requestId)
    ?.choices.find(({ optionId }) => answer._tag === "Selected" && optionId === answer.optionId)
  const payload =
    choice === undefined
      ? { requestId, response: { action: "cancel" } }
      : {
          requestId,
          optionId: choice.optionId,
          response: { action: choice.kind.startsWith("allow") ? "accept" : "decline" }
        }
  const reply = yield* Effect.result(connection.command(runId, "request.resolve", payload))
  if (reply._tag === "Failure") return "greenroom: the connection was lost, nobody knows whether this was answered"
  return reply.success.status === "completed"
    ? "greenroom: answered"
    : `greenroom: not answered: ${shownLine(reply.success.reason ?? reply.success.code ?? "refused")}`
})

/** Shows what is told of the run, up to its terminal. A run that has none and is not under way is not waited for. */
const followed = Effect.fnUntraced(function* (follower: Follower, connection: RunnerConnection, runId: string) {
  const { afterSourceSeq, producedSourceSeq, runs, runsOmitted } = connection.welcome
  const mayGoOn = runsOmitted > 0 || runs.some((run) => run.runId === runId)
  const last = mayGoOn ? Infinity : producedSourceSeq
  let seen = afterSourceSeq
  while (seen < last) {
    const taken = yield* connection.take
    const told: ReadonlyArray<unknown> = taken
    const own = told.filter(isEmittedEvent).filter((event) => event.runId === runId)
    yield* follower.show(own)
    if (own.some(({ eventType }) => eventType === "run.terminal")) return
    seen = taken.at(-1)?.sourceSeq ?? seen
  }
  const reason = `no run ${shownLine(runId)} is under way, and the log does not have the end of one`
  return yield* new UsageInvalid({ option: "run", reason })
})
