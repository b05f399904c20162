/**
 * One control plane and the runner, over a channel of frames.
 *
 * Guarantees: whatever comes is answered, or ends the connection with an error frame that says why, and touches nothing else;
 * a command starts in the order of arrival and is answered when it is done; nothing is said of runs beyond the authority; when
 * that ends, so does the connection. Bounds: the hello's time, and commands that are not answered: the next frame is read when
 * one is.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Authority } from "../schema/authority.ts"
import { ControlPlaneRefused, type FrameChannelClosed, type PrpRejected } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { supportedVersions } from "../schema/prp/rules/negotiation.ts"
import type { ControlFrame, Hello } from "../schema/prp/transportFrame.ts"
import { type Connection, frameText, readControlFrame } from "../schema/prp/transportText.ts"
import type { FrameChannel } from "../services/FrameChannel.ts"
import { Ids } from "../services/Ids.ts"
import { type Feed, openFeed, refused } from "./controlFeed.ts"
import { type Inspection, introduce, welcomeOf } from "./controlWelcome.ts"
import { DurableJournal } from "./durableJournal.ts"
import { Runs } from "./Runs.ts"

export type { Inspection } from "./controlWelcome.ts"

export interface ControlPlane {
  readonly channel: FrameChannel
  readonly authority: Authority
  /** Completes when the authority is not good any more; `Effect.never` for an operator. */
  readonly authorityEnded: Effect.Effect<"expired" | "revoked">
  /** What an operator is shown who asks for it. */
  readonly inspect?: Effect.Effect<Inspection>
}

/**
 * Speaks with the control plane until either ends, then closes the channel. Dies of what is a fault of ours.
 * If interrupted: says `runner_stopped` and closes; commands that were taken go on.
 */
export const serveControlPlane = Effect.fn("serveControlPlane")(function* (plane: ControlPlane) {
  const { sourceInstanceId: runnerInstanceId } = yield* DurableJournal
  const connectionId = yield* (yield* Ids).next("connection")
  const unversioned: Connection = { version: supportedVersions.max, runnerInstanceId, connectionId }
  yield* Effect.raceFirst(converse(plane, unversioned), outlived(plane)).pipe(
    Effect.onExit((exit) => part(plane.channel, unversioned, exit)),
    Effect.catchTags({ ControlPlaneRefused: () => Effect.void, FrameChannelClosed: () => Effect.void })
  )
})

const outlived = ({ authorityEnded }: ControlPlane) =>
  Effect.flatMap(authorityEnded, (why) => refused(`authority_${why}`, `the authority has ${endings[why]}`))

const endings = { expired: "expired", revoked: "been revoked" }

/** What was handed in before goes first; a peer that takes nothing is not waited for beyond the bound of a close. */
const part = (channel: FrameChannel, connection: Connection, exit: Exit.Exit<void, Refusal>) => {
  const refusal = lastWords(exit)
  const text = refusal && frameText(connection, "error", payloadOf(refusal))
  if (text === undefined) return channel.close
  return Effect.scoped(
    Effect.andThen(Effect.forkScoped(Effect.ignore(channel.write(text)), { startImmediately: true }), channel.close)
  )
}

type Refusal = ControlPlaneRefused | FrameChannelClosed

const payloadOf = ({ code, facts, reason }: ControlPlaneRefused) => ({ code, message: reason, ...facts })

const lastWords = (exit: Exit.Exit<void, Refusal>): ControlPlaneRefused | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const [first] = exit.cause.reasons
  if (first?._tag === "Fail") return first.error._tag === "ControlPlaneRefused" ? first.error : undefined
  const code = Exit.hasDies(exit) ? "internal_error" : "runner_stopped"
  return new ControlPlaneRefused({ code, reason: "the runner ends this connection", facts: {} })
}

/** Ends with the input of the peer, or with what ends the connection. */
const converse = (plane: ControlPlane, unversioned: Connection) =>
  Effect.scoped(
    Effect.gen(function* () {
      const hello = yield* takeHello(plane.channel)
      if (hello === undefined) return
      const introduction = yield* introduce(hello, plane.authority)
      const connection = { ...unversioned, version: introduction.version }
      const journal = yield* DurableJournal
      const runs = yield* Runs
      const feed = yield* openFeed({
        ...introduction,
        journal,
        connection,
        isVisible: (runId, seq) => runs.isVisible(plane.authority, runId, seq),
        write: plane.channel.write
      })
      const isInsider = plane.authority._tag === "Operator" && hello.payload.inspect === true
      const inspection = isInsider && plane.inspect !== undefined ? yield* plane.inspect : undefined
      const welcome = yield* welcomeOf(introduction, plane.authority, inspection)
      yield* plane.channel.write(frameText(connection, "welcome", welcome))
      yield* Effect.raceFirst(yield* listen(plane, connection, feed), feed.pump)
    })
  )

const takeHello = Effect.fnUntraced(function* (channel: FrameChannel) {
  const text = yield* Effect.timeoutOrElse(take(channel), {
    duration: limits.helloMs,
    orElse: () => refused("hello_timeout", `no hello within ${limits.helloMs} ms`)
  })
  if (text === undefined) return undefined
  const frame = yield* read(text)
  return frame.kind === "auth_hello" ? frame : yield* unexpected(frame, "the first frame is a hello")
})

/** Serves what the peer sends, until it has ended. */
const listen = Effect.fnUntraced(function* (plane: ControlPlane, connection: Connection, feed: Feed) {
  const { authority, channel } = plane
  const runs = yield* Runs
  const scope = yield* Scope.Scope
  const room = yield* Semaphore.make(limits.commandsInFlightMax)
  const broken = yield* Deferred.make<never, Refusal>()

  const perform = (runId: string | null, command: unknown) =>
    runs.command(authority, runId, command, connection.version).pipe(
      Effect.flatMap((reply) => channel.write(frameText(connection, "command_result", reply, runId))),
      Effect.onExit((exit) => (Exit.isFailure(exit) ? Deferred.failCause(broken, exit.cause) : Effect.void)),
      Effect.ensuring(room.release(1))
    )

  const serve = Effect.fnUntraced(function* (frame: Exclude<ControlFrame, Hello>) {
    switch (frame.kind) {
      case "ack":
        return yield* feed.acknowledge(frame.payload.ackedSourceSeq)
      case "command":
        yield* room.take(1)
        yield* Effect.forkIn(perform(frame.runId ?? null, frame.payload.command), scope, { startImmediately: true })
        return
      case "command_result_ack":
        // What a runner waits for is the word of its operator.
        return authority._tag === "Operator" ? yield* runs.acknowledged(frame.payload.commandId) : undefined
      case "ping":
        return yield* channel.write(frameText(connection, "pong", { nonce: frame.payload.nonce }))
    }
  })

  const next = Effect.gen(function* () {
    const text = yield* take(channel)
    if (text === undefined) return false
    const frame = yield* read(text)
    yield* compare(frame, connection)
    if (frame.kind === "auth_hello") return yield* unexpected(frame, "a connection has one hello")
    yield* serve(frame)
    return true
  })

  const loop: Effect.Effect<void, Refusal> = Effect.flatMap(next, (goesOn) => (goesOn ? loop : Effect.void))
  return Effect.raceFirst(loop, Deferred.await(broken))
})

const take = (channel: FrameChannel) =>
  Effect.catchTag(channel.take, "FrameChannelClosed", (closed): Effect.Effect<never, Refusal> => {
    switch (closed.code) {
      case "channel_frame_too_large":
        return refused("frame_too_large", "the frame is too large", { limitBytes: limits.transportFrameBytesMax })
      case "channel_not_text":
        return refused("frame_not_text", "the frame is no text in UTF-8")
      default:
        return Effect.fail(closed)
    }
  })

const read = (text: string): Effect.Effect<ControlFrame, ControlPlaneRefused> => {
  const frame = readControlFrame(text)
  return Result.isSuccess(frame) ? Effect.succeed(frame.success) : malformed(frame.failure)
}

const malformed = ({ code, issues: [first] }: PrpRejected) =>
  refused(code === "invalid_json" ? code : "schema_validation", first?.expectation ?? "the frame is not valid", {
    path: first?.path ?? ""
  })

const unexpected = ({ kind }: ControlFrame, why: string) => refused("unexpected_frame", why, { path: "/kind", kind })

const compare = (frame: ControlFrame, connection: Connection): Effect.Effect<void, ControlPlaneRefused> => {
  const wrong = (["runnerInstanceId", "connectionId", "version"] as const).find(
    (field) => frame[field] !== connection[field]
  )
  return wrong === undefined
    ? Effect.void
    : refused("binding_mismatch", "the frame is of another connection", { path: `/${wrong}` })
}
