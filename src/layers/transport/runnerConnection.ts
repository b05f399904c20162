/**
 * The side of the control plane, over a channel of frames.
 *
 * Guarantees: an event is one of the contract and none before it is missing, or the connection ends; a command whose answer
 * did not come is handed back. Bounds: events that wait to be taken; the next frame is read when there is room.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { openWhole } from "../../actors/openWhole.ts"
import { limits } from "../../schema/limits.ts"
import { supportedVersions } from "../../schema/prp/rules/negotiation.ts"
import type { Welcome } from "../../schema/prp/transportFrame.ts"
import { frameText } from "../../schema/prp/transportText.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import type { Ids } from "../../services/Ids.ts"
import type { ConnectionLost, ConnectOptions, RunnerConnection } from "../../services/RunnerClient.ts"
import { makeRunnerCommands } from "./runnerCommands.ts"
import { makeInbox, pingId, refusedBy, takeFrame, unusable } from "./runnerInbox.ts"

/** Says hello over the channel, which the scope owns from now on. If interrupted the channel is closed. */
export const connectRunner = (
  channel: FrameChannel,
  options: ConnectOptions
): Effect.Effect<RunnerConnection, ConnectionLost, Scope.Scope | Ids> =>
  openWhole(
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => channel.close)
      const welcome = yield* greet(channel, options)
      const connection = {
        version: welcome.payload.selectedVersion,
        runnerInstanceId: welcome.runnerInstanceId,
        connectionId: welcome.connectionId
      }
      const inbox = makeInbox(channel, {
        connection,
        after: welcome.payload.afterSourceSeq,
        keepsEvents: options.events ?? true
      })
      const commands = yield* makeRunnerCommands(channel, connection, inbox, welcome.payload.runs)
      yield* Effect.forkScoped(inbox.receive, { startImmediately: true })
      let pings = 0
      const made: RunnerConnection = {
        ...commands,
        runnerInstanceId: welcome.runnerInstanceId ?? "",
        welcome: welcome.payload,
        take: inbox.take,
        acknowledge: (ackedSourceSeq) => channel.write(frameText(connection, "ack", { ackedSourceSeq })),
        ping: Effect.suspend(() => {
          const nonce = String(pings++)
          return Effect.asVoid(inbox.answer(pingId(nonce), channel.write(frameText(connection, "ping", { nonce }))))
        }),
        end: channel.close
      }
      return made
    })
  )

const greet = Effect.fnUntraced(function* (
  channel: FrameChannel,
  { afterSourceSeq, inspect = false, name, runnerInstanceId, versions }: ConnectOptions
): Effect.fn.Return<Welcome, ConnectionLost> {
  const { max, min } = versions ?? supportedVersions
  const hello = { protocolMin: min, protocolMax: max, name, afterSourceSeq: afterSourceSeq ?? null, inspect }
  const head = { version: max, runnerInstanceId: runnerInstanceId ?? null, connectionId: null }
  yield* channel.write(frameText(head, "auth_hello", hello))
  const frame = yield* Effect.timeoutOrElse(takeFrame(channel), {
    duration: limits.helloMs,
    orElse: () => Effect.fail(unusable(`no welcome within ${limits.helloMs} ms`))
  })
  if (frame.kind === "error") return yield* refusedBy(frame)
  return frame.kind === "welcome" ? frame : yield* unusable("the first frame is no welcome")
})
