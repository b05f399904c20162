/**
 * A connection: one agent behind one link, the codec, and everything pending on it in both directions.
 *
 * Guarantees: entries reach the holder of the claim in the order of the wire, and the last one is `Closed` with the one cause
 * that everything pending got; every inbound request is answered exactly once, by its slot or here, or the connection is dead;
 * frames to the agent are written whole, one after another. The reader waits for room in the queue, and for the writer
 * only while the agent is owed as many answers in nobody's name as it may have requests open. An agent whose connection is
 * over is ended.
 * Bounds: the ordered queue, the open inbound requests, the write deadline.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { encodeFrame, type Frame, makeFrameDecoder, type Noise } from "../schema/acp/frame.ts"
import {
  type CloseReason,
  ConnectionClosed,
  FrameTooLarge,
  invariant,
  type LaunchError,
  type ResourceUnreleased
} from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { type AgentLink, AgentLinks, type CleanupReport, type Launch } from "../services/AgentLink.ts"
import { makeAnswerSlots } from "./answerSlot.ts"
import { type Duty, type Entry, makeFrameRouter, type Ticket } from "./frameRouter.ts"
import { type Begin, makeFrameWriter, type WriteMessage, type Written } from "./frameWriter.ts"
import * as Actor from "./kernel/Actor.ts"
import type { Registry } from "./kernel/Registry.ts"
import { type Batch, makeOrderedQueue } from "./orderedQueue.ts"

export type { Entry, Ticket } from "./frameRouter.ts"
export type { Begin, Written } from "./frameWriter.ts"

export interface Connection {
  readonly path: string
  readonly link: AgentLink
  /** The next entries; `undefined` after the last. One consumer: the holder of the claim. */
  readonly take: Effect.Effect<Batch<Entry> | undefined>
  /** Names a request before it is written, so that its response is known whenever it comes. */
  readonly ticket: (method: string) => Ticket
  /**
   * Hands the frame to the writer; its response comes as an entry. `begin` decides in the step in which the frame goes to the
   * agent whether it still should; by default it does. If interrupted before, nothing will be written.
   */
  readonly request: (
    ticket: Ticket,
    params: object,
    begin?: Begin
  ) => Effect.Effect<Written, ConnectionClosed | FrameTooLarge>
  /** As `request`, for a frame that has no answer. */
  readonly notify: (method: string, params: object) => Effect.Effect<Written, ConnectionClosed | FrameTooLarge>
  /** Ends the connection for a reason: `Closed` follows what is queued already. Idempotent, returns at once. */
  readonly retire: (reason: CloseReason) => Effect.Effect<void>
  /** The cause, once there is one. */
  readonly closed: Effect.Effect<ConnectionClosed>
  /** Ends the agent and proves it. Idempotent; if interrupted the ladder goes on. */
  readonly close: Effect.Effect<CleanupReport>
  readonly kill: Effect.Effect<CleanupReport>
  readonly noise: Noise
  readonly framesSeen: () => number
  readonly openRequests: () => number
  readonly depth: () => { readonly entries: number; readonly bytes: number }
}

/** Frames that may wait for the writer: every answer that is owed, those owed in nobody's name, and a few of our own. */
const writeQueueMax = limits.pendingInboundRequestsMax * 2 + 64

const stopWithin = limits.eofGraceMs + limits.termGraceMs + limits.killGraceMs + limits.writeMs

/** Starts the agent and reads it. The connection is owned by the scope. A failed or interrupted open leaves nothing. */
export const openConnection = Effect.fnUntraced(function* (
  name: string,
  launch: Launch
): Effect.fn.Return<Connection, LaunchError | ResourceUnreleased, AgentLinks | Registry | Scope.Scope> {
  const links = yield* AgentLinks
  const opened = Deferred.makeUnsafe<AgentLink>()
  const ref: Actor.ActorRef<WriteMessage> = yield* Actor.spawn<WriteMessage, LaunchError, Scope.Scope>({
    name,
    mailbox: { capacity: writeQueueMax, policy: "suspend" },
    stopWithin,
    behaviour: Effect.gen(function* () {
      Deferred.doneUnsafe(opened, Exit.succeed(yield* links.open(launch)))
      return { Write: (message) => writer.write(message) }
    })
  })
  const link = yield* Deferred.await(opened)
  const life = makeLife(link)
  const writer = makeFrameWriter({
    toLink: link.write,
    toMailbox: (message) => ref.tell(message),
    giveUp: life.giveUp,
    stdinClosed: life.stdinClosed,
    ending: life.cause
  })
  const slots = makeAnswerSlots({
    connection: ref.path,
    max: limits.pendingInboundRequestsMax,
    write: (bytes) => Effect.flatten(writer.hand(bytes))
  })
  const router = makeFrameRouter(slots)
  const queue = makeOrderedQueue<Entry>({ entriesMax: limits.queueFramesMax, bytesMax: limits.queueBytesMax })
  const decoder = makeFrameDecoder()
  const duty = yield* makeDuties(writer.hand, life.retire)
  let framesSeen = 0
  let nextId = 0

  /** What is owed does not wait for the consumer. If interrupted, that is by the end: what was read still stands before it. */
  const admit = (frames: ReadonlyArray<Frame>): Effect.Effect<void> => {
    framesSeen += frames.length
    const entries: Array<Entry> = []
    const duties: Array<Duty> = []
    for (const frame of frames) router.route(frame, entries, duties)
    const { admitted } = queue.offer(entries, bytesOf)
    return duties.length === 0 ? admitted : Effect.andThen(Effect.forEach(duties, duty, { discard: true }), admitted)
  }

  const read = Effect.gen(function* () {
    for (;;) {
      const chunk = yield* link.pull
      if (chunk === undefined) return yield* admit(decoder.end())
      yield* admit(decoder.push(chunk))
    }
  })

  /** One synchronous step: nothing pending survives it, and the last entry is in the queue. */
  const finish = (cause: ConnectionClosed) => {
    slots.connectionDied()
    writer.fail(cause)
    queue.force({ _tag: "Closed", cause, bytes: 0 }, 0)
    queue.end()
  }

  yield* Effect.forkScoped(life.run(read, finish))
  // Whatever ended it: an agent that nobody listens to does not go on working.
  yield* Effect.forkScoped(Effect.andThen(life.closed, link.close))

  const hand = (frame: object, begin?: Begin): Effect.Effect<Written, ConnectionClosed | FrameTooLarge> => {
    const encoded = encodeFrame(frame)
    return encoded instanceof FrameTooLarge ? Effect.fail(encoded) : writer.hand(encoded, begin)
  }

  /** What has been read until then is no answer to it. */
  const asked =
    (ticket: Ticket, begin: Begin | undefined): Begin =>
    () => {
      if (begin?.() === false) return false
      router.expect(ticket)
      queue.force({ _tag: "Asked", ticket, bytes: 0 }, 0)
      return true
    }

  const end = (how: Effect.Effect<CleanupReport>) =>
    Effect.uninterruptible(Effect.andThen(life.retire("released"), Effect.tap(how, ref.stop)))

  return {
    path: ref.path,
    link,
    take: queue.take,
    ticket: (method) => ({ id: nextId++, method }),
    request: (ticket, params, begin) =>
      Effect.suspend(() =>
        hand({ jsonrpc: "2.0", id: ticket.id, method: ticket.method, params }, asked(ticket, begin))
      ),
    notify: (method, params) => Effect.suspend(() => hand({ jsonrpc: "2.0", method, params })),
    retire: life.retire,
    closed: life.closed,
    close: end(link.close),
    kill: end(link.kill),
    noise: decoder.noise,
    framesSeen: () => framesSeen,
    openRequests: slots.open,
    depth: queue.depth
  }
})

const bytesOf = (entry: Entry): number => entry.bytes

/** When a connection ends and why: the first reason counts. */
const makeLife = (link: AgentLink) => {
  const retired = Latch.makeUnsafe(false)
  const closed = Deferred.makeUnsafe<ConnectionClosed>()
  let cause: ConnectionClosed | undefined

  const because = (reason: CloseReason): ConnectionClosed =>
    (cause ??= new ConnectionClosed({ reason, stderrTail: link.stderrTail() }))

  const giveUp = (reason: CloseReason): ConnectionClosed => {
    const given = because(reason)
    retired.openUnsafe()
    return given
  }

  /** The output has ended by itself. An agent that closed its output and lives on is of no use either. */
  const outputEnded = Effect.map(Effect.timeoutOption(link.exit, limits.drainAfterExitMs), (exit) => {
    if (exit._tag === "None") return because("output_ended")
    cause ??= new ConnectionClosed({ reason: "exited", exit: exit.value, stderrTail: link.stderrTail() })
    return cause
  })

  /** An agent that has exited says so in a moment; its output is read to the end then, and tells the cause with the exit. */
  const stdinClosed = Effect.flatMap(Effect.timeoutOption(link.exit, limits.drainAfterExitMs), (exit) =>
    exit._tag === "Some" ? Effect.flatMap(Deferred.await(closed), Effect.fail) : Effect.fail(giveUp("stdin_closed"))
  )

  return {
    giveUp,
    stdinClosed,
    cause: () => cause,
    retire: (reason: CloseReason) => Effect.sync(() => void giveUp(reason)),
    closed: Deferred.await(closed),
    run: (read: Effect.Effect<void>, finish: (cause: ConnectionClosed) => void) =>
      Effect.raceFirst(Effect.andThen(read, outputEnded), retired.await).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            const why = because(Exit.hasDies(exit) ? "crashed" : "released")
            finish(why)
            Deferred.doneUnsafe(closed, Exit.succeed(why))
          })
        ),
        Effect.tapDefect((defect) => Effect.logError("a defect ended the reading of an agent", defect))
      )
  }
}

/**
 * Answers in nobody's name go out one by one beside the reading. It waits only while as many as may be owed are unwritten, so
 * at most for the write deadline: by that an agent is retired which keeps asking and does not read.
 */
const makeDuties = Effect.fnUntraced(function* (
  hand: (bytes: Uint8Array) => Effect.Effect<Written, ConnectionClosed>,
  retire: (reason: CloseReason) => Effect.Effect<void>
) {
  const scope = yield* Effect.scope
  const room = Semaphore.makeUnsafe(limits.pendingInboundRequestsMax)

  const answer = Effect.fnUntraced(function* (frame: object) {
    const encoded = encodeFrame(frame)
    invariant(!(encoded instanceof FrameTooLarge), "connection.answerFits")
    yield* room.take(1)
    const written = Effect.ensuring(Effect.ignore(Effect.flatten(hand(encoded))), room.release(1))
    yield* Effect.forkIn(written, scope, { startImmediately: true })
  })

  return (duty: Duty): Effect.Effect<void> => {
    switch (duty._tag) {
      case "Refuse":
        return answer({ jsonrpc: "2.0", id: duty.id, error: { code: duty.code, message: duty.message } })
      case "AnswerSafely":
        return answer({ jsonrpc: "2.0", id: duty.id, result: duty.result })
      case "Retire":
        return retire(duty.reason)
    }
  }
})
