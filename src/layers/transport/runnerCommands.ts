/** Commands to a runner, each under the next number of its run. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { CommandUnanswered } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import { type Connection, frameText } from "../../schema/prp/transportText.ts"
import type { CommandReply, RunStatus } from "../../schema/run.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import { Ids } from "../../services/Ids.ts"
import type { ConnectionLost, RunnerConnection, SentCommand } from "../../services/RunnerClient.ts"
import { type Inbox, unusable } from "./runnerInbox.ts"

const numberedWrongly = new Set(["controller_sequence_gap", "command_history_compacted"])

/** What waits for the word that its answer has arrived. */
const lastCommands = new Set(["runner.suspend", "runner.shutdown"])

export const makeRunnerCommands = Effect.fnUntraced(function* (
  channel: FrameChannel,
  connection: Connection,
  inbox: Inbox,
  runs: ReadonlyArray<RunStatus>
) {
  const ids = yield* Ids
  const nextSeq = new Map<string | null, number>(runs.map((run) => [run.runId, run.lastControllerSeq + 1]))

  const resend = ({ command, runId }: SentCommand): Effect.Effect<CommandReply, CommandUnanswered> => {
    const unanswered = ({ code }: ConnectionLost) => Effect.fail(new CommandUnanswered({ runId, command, cause: code }))
    const send = Effect.suspend(() => channel.write(frameText(connection, "command", { command }, runId)))
    return inbox.answer(String(command["commandId"]), send).pipe(
      Effect.flatMap((reply) => (reply === undefined ? unusable("no answer") : Effect.succeed(reply))),
      Effect.catch(unanswered),
      Effect.tap(acknowledge)
    )
  }

  const acknowledge = ({ commandId, commandType, controllerSeq, status }: CommandReply) =>
    lastCommands.has(commandType)
      ? Effect.ignore(
          channel.write(frameText(connection, "command_result_ack", { commandId, commandType, controllerSeq, status }))
        )
      : Effect.void

  const numbered = (runId: string | null): number => {
    const seq = nextSeq.get(runId) ?? 1
    nextSeq.set(runId, seq + 1)
    return seq
  }

  /** Numbered in the step in which it is sent, so that the order of both is the same. */
  const sendNumbered = (
    runId: string | null,
    command: Readonly<Record<string, unknown>>
  ): Effect.Effect<CommandReply, CommandUnanswered> =>
    Effect.suspend(() => resend({ runId, command: { ...command, controllerSeq: numbered(runId) } }))

  const command: RunnerConnection["command"] = Effect.fn("RunnerConnection.command")(function* (
    runId,
    type,
    payload,
    { commandId, deadline, precondition } = {}
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const body = {
      schema: `paperclip.prp.command.v${connection.version}`,
      type,
      issuedAt: instant(nowMs),
      ...(deadline === undefined ? {} : { deadlineAt: instant(nowMs + Duration.toMillis(deadline)) }),
      ...(precondition === undefined ? {} : { precondition }),
      payload
    }
    let reply = yield* sendNumbered(runId, { ...body, commandId: commandId ?? (yield* ids.next("command")) })
    for (let again = 0; again < limits.commandRenumberingsMax; again++) {
      const { code, expectedSeq } = reply
      if (expectedSeq === undefined || !numberedWrongly.has(code ?? "")) break
      nextSeq.set(runId, expectedSeq)
      reply = yield* sendNumbered(runId, { ...body, commandId: yield* ids.next("command") })
    }
    return reply
  })

  return { command, resend }
})

const instant = (ms: number): string => DateTime.formatIso(DateTime.makeUnsafe(ms))
