/** What a runner sends: events to be taken, and answers for those who wait for them. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { makeOrderedQueue } from "../../actors/orderedQueue.ts"
import { utf8Bytes } from "../../schema/characters.ts"
import { FrameChannelClosed, RunnerRefused } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import { decodePrp } from "../../schema/prp/contract/decode.ts"
import type { PrpValue } from "../../schema/prp/contract/kinds.ts"
import type { ErrorFrame, EventFrame, RunnerFrame } from "../../schema/prp/transportFrame.ts"
import { type Connection, readRunnerFrame } from "../../schema/prp/transportText.ts"
import type { CommandReply } from "../../schema/run.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import type { ConnectionLost, RunnerConnection } from "../../services/RunnerClient.ts"

export interface Inbox {
  /** Reads until the connection ends; never fails, whoever waits is told. Ends the channel. */
  readonly receive: Effect.Effect<void>
  readonly take: RunnerConnection["take"]
  /** Sends, and waits for the answer to this id: a reply, or `undefined` for a pong. Two may wait for one id. */
  readonly answer: (
    id: string,
    send: Effect.Effect<void, FrameChannelClosed>
  ) => Effect.Effect<CommandReply | undefined, ConnectionLost>
}

type Waiting = Deferred.Deferred<CommandReply | undefined, ConnectionLost>

export const makeInbox = (
  channel: FrameChannel,
  options: { readonly connection: Connection; readonly after: number; readonly keepsEvents: boolean }
): Inbox => {
  const { connection, keepsEvents } = options
  const events = makeOrderedQueue<PrpValue<"event">>({
    entriesMax: limits.subscriberEventsMax,
    bytesMax: limits.subscriberBytesMax
  })
  const waiting = new Map<string, Set<Waiting>>()
  let lastSeq = options.after
  let lost: ConnectionLost | undefined

  const settle = (id: string, answer: CommandReply | undefined) => {
    for (const one of waiting.get(id) ?? []) Deferred.doneUnsafe(one, Effect.succeed(answer))
  }

  const receiveEvent = Effect.fnUntraced(function* ({ payload }: EventFrame, bytes: number) {
    const event = decodePrp("event", payload.event)
    if (Result.isFailure(event)) return yield* unusable("an event is not one of the contract")
    if (payload.previousSourceSeq !== lastSeq) return yield* unusable("an event is missing")
    lastSeq = event.success.sourceSeq
    if (keepsEvents) yield* events.offerAll([event.success], () => bytes)
  })

  const receiveFrame = (frame: RunnerFrame, bytes: number): Effect.Effect<void, ConnectionLost> => {
    if (frame.runnerInstanceId !== connection.runnerInstanceId || frame.connectionId !== connection.connectionId) {
      return unusable("a frame is of another connection")
    }
    switch (frame.kind) {
      case "event":
        return receiveEvent(frame, bytes)
      case "command_result":
        return Effect.sync(() => settle(frame.payload.commandId, frame.payload))
      case "pong":
        return Effect.sync(() => settle(pingId(frame.payload.nonce), undefined))
      case "error":
        return refusedBy(frame)
      case "welcome":
        return unusable("a second welcome")
    }
  }

  const end = (why: ConnectionLost) => {
    lost = why
    events.end()
    for (const those of waiting.values()) for (const one of those) Deferred.doneUnsafe(one, Effect.fail(why))
  }

  const receive = Effect.forever(
    Effect.flatMap(takeText(channel), (text) =>
      Effect.flatMap(readFrame(text), (frame) => receiveFrame(frame, utf8Bytes(text)))
    )
  ).pipe(
    Effect.catch((why: ConnectionLost) =>
      Effect.andThen(
        Effect.sync(() => end(why)),
        channel.close
      )
    ),
    Effect.onInterrupt(() => Effect.sync(() => end(unusable("closed by this side"))))
  )

  const answer: Inbox["answer"] = (id, send) =>
    Effect.suspend(() => {
      if (lost !== undefined) return Effect.fail(lost)
      const one: Waiting = Deferred.makeUnsafe()
      const those = waiting.get(id) ?? new Set()
      waiting.set(id, those.add(one))
      return Effect.ensuring(
        Effect.andThen(send, Deferred.await(one)),
        Effect.sync(() => {
          those.delete(one)
          if (those.size === 0) waiting.delete(id)
        })
      )
    })

  return {
    receive,
    answer,
    take: Effect.flatMap(events.take, (batch) =>
      batch === undefined ? Effect.fail(lost ?? unusable("closed by this side")) : Effect.succeed(batch.entries)
    )
  }
}

/** Beside the ids of commands, which have no space in them. */
export const pingId = (nonce: string) => `ping ${nonce}`

const takeText = (channel: FrameChannel) =>
  Effect.flatMap(channel.take, (text) =>
    text === undefined ? Effect.fail(closed("the runner has ended")) : Effect.succeed(text)
  )

const readFrame = (text: string): Effect.Effect<RunnerFrame, FrameChannelClosed> => {
  const frame = readRunnerFrame(text)
  return Result.isSuccess(frame) ? Effect.succeed(frame.success) : Effect.fail(unusable("not a frame of a runner"))
}

export const takeFrame = (channel: FrameChannel) => Effect.flatMap(takeText(channel), readFrame)

export const refusedBy = ({ payload: { code, message, ...facts } }: ErrorFrame): Effect.Effect<never, RunnerRefused> =>
  Effect.fail(new RunnerRefused({ code, reason: message, facts }))

/** What the runner said cannot be gone on with. */
export const unusable = (reason: string) => new FrameChannelClosed({ code: "channel_failed", reason })

const closed = (reason: string) => new FrameChannelClosed({ code: "channel_closed", reason })
