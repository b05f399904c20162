/**
 * A control plane that takes a run through a permission to its end, whatever becomes of the runner, and keeps a book of all it
 * has heard.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { connectRunner } from "../../src/layers/transport/runnerConnection.ts"
import { connectUnixSocket } from "../../src/layers/transport/unixSocket.ts"
import type { CommandUnanswered } from "../../src/schema/errors.ts"
import type { Command } from "../../src/schema/prp/contract/command.ts"
import type { PrpValue } from "../../src/schema/prp/contract/kinds.ts"
import type { CommandReply } from "../../src/schema/run.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { RunnerConnection, SentCommand } from "../../src/services/RunnerClient.ts"
import { socketOf } from "./daemon.ts"

type Event = PrpValue<"event">

/** What was heard over all connections. */
export interface Book {
  readonly events: Map<number, Event>
  /** Events that came again as something else, or under another number. */
  readonly duplicated: Array<string>
  /** Answers by the id of the command. */
  readonly replies: Map<string, { readonly sent: SentCommand; readonly reply: CommandReply }>
  /** Answers that came again as something else. */
  readonly changed: Array<string>
  unanswered: SentCommand | undefined
}

export const newBook = (): Book => ({
  events: new Map(),
  duplicated: [],
  replies: new Map(),
  changed: [],
  unanswered: undefined
})

export const runId = "run-1"
export const turnId = "turn-1"
export const peerName = "control-plane"

export const typesOf = (book: Book): ReadonlyArray<string> => inOrder(book).map(({ eventType }) => eventType)

export const inOrder = ({ events }: Book): ReadonlyArray<Event> =>
  [...events].sort(([one], [other]) => one - other).map(([, event]) => event)

const hear = (book: Book, event: Event) => {
  const known = book.events.get(event.sourceSeq)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(event)) {
    book.duplicated.push(`number ${event.sourceSeq}`)
  }
  for (const [seq, other] of book.events) {
    if (other.sourceEventId === event.sourceEventId && seq !== event.sourceSeq)
      book.duplicated.push(other.sourceEventId)
  }
  book.events.set(event.sourceSeq, event)
}

export const connect = (folder: string) =>
  Effect.flatMap(connectUnixSocket(socketOf(folder)), (channel) => connectRunner(channel, { name: peerName })).pipe(
    Effect.provide(Ids.layer)
  )

/** Hears and acknowledges everything, until the connection ends. */
export const listen = (connection: RunnerConnection, book: Book) =>
  Effect.gen(function* () {
    for (;;) {
      const events = yield* connection.take
      for (const event of events) hear(book, event)
      yield* connection.acknowledge(events.at(-1)?.sourceSeq ?? 0)
    }
  }).pipe(Effect.ignore)

class NeverHeard extends Data.TaggedError("NeverHeard")<{ readonly heard: ReadonlyArray<string> }> {}

/** Polls the book. The bound is one of real time, far beyond what is needed. */
export const heard = (book: Book, isSo: (types: ReadonlyArray<string>) => boolean): Effect.Effect<void, NeverHeard> =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 3000; tries++) {
      if (isSo(typesOf(book))) return
      yield* Effect.sleep(10)
    }
    return yield* new NeverHeard({ heard: typesOf(book) })
  })

const isTurnOver = (types: ReadonlyArray<string>) =>
  types.some((type) => /^turn\.(completed|failed|interrupted|cancelled)$/.test(type))
export const isRunOver = (types: ReadonlyArray<string>) => types.includes("run.terminal")

/** Goes on where the book ends. Fails when the connection is lost. */
export const drive = Effect.fnUntraced(function* (connection: RunnerConnection, book: Book, workspace: string) {
  const note = (sent: SentCommand, reply: CommandReply) => {
    book.unanswered = undefined
    const before = book.replies.get(reply.commandId)
    if (before !== undefined && JSON.stringify(before.reply) !== JSON.stringify(reply)) {
      book.changed.push(`${reply.commandType} ${before.reply.status} then ${reply.status}`)
    }
    book.replies.set(reply.commandId, { sent, reply })
    return reply
  }

  const unanswered = (error: CommandUnanswered) => {
    book.unanswered = error
    return Effect.fail(error)
  }

  const again = (sent: SentCommand) =>
    connection.resend(sent).pipe(
      Effect.map((reply) => note(sent, reply)),
      Effect.catch(unanswered)
    )

  /** Under the next number, and once: what was answered is not sent under another. */
  const once = (commandId: string, type: Command["type"], payload: Readonly<Record<string, unknown>>) => {
    const known = book.replies.get(commandId)
    if (known !== undefined) return Effect.succeed(known.reply)
    const command = {
      schema: "paperclip.prp.command.v2",
      commandId,
      controllerSeq: book.replies.size + 1,
      type,
      issuedAt: "2026-01-01T00:00:00Z",
      payload
    }
    return again({ runId, command })
  }

  /** Nobody knows whether it was carried out before the crash, so it is asked for anew. */
  const insist = (id: string, type: Command["type"], payload: Readonly<Record<string, unknown>>) =>
    Effect.flatMap(once(id, type, payload), (reply) =>
      reply.status === "indeterminate" ? once(`${id}-again`, type, payload) : Effect.succeed(reply)
    )

  if (book.unanswered !== undefined) yield* again(book.unanswered)
  // What was answered before is answered so for ever.
  for (const { sent } of book.replies.values()) yield* again(sent)
  const prepare = { provider: { kind: "bundled", cwd: workspace, permissionMode: "ask" } }
  yield* insist("prepare", "run.prepare", prepare)
  if ((yield* insist("open", "session.open", {})).status !== "completed") return yield* heard(book, isRunOver)
  const started = yield* once("start", "turn.start", { turnId, text: "run: echo effect >> effect.txt" })
  if (started.status !== "completed") return yield* heard(book, isRunOver)
  yield* heard(book, (types) => types.includes("runtime_request.created") || isTurnOver(types))
  const asked = inOrder(book).find(({ eventType }) => eventType === "runtime_request.created")
  const request: unknown = asked?.payload["request"]
  if (typeof request === "object" && request !== null && "requestId" in request) {
    yield* once("resolve", "request.resolve", { requestId: request.requestId, response: { action: "accept" } })
  }
  yield* heard(book, isTurnOver)
  yield* once("close", "session.close", {})
  yield* heard(book, isRunOver)
})

/** One connection, for as long as it lasts. Answers whether the plan was gone through. */
export const converse = (folder: string, workspace: string, book: Book): Promise<boolean> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const connection = yield* connect(folder)
      const listening = yield* Effect.forkScoped(listen(connection, book))
      const driven = drive(connection, book, workspace).pipe(
        Effect.as(true),
        Effect.catchTag("CommandUnanswered", () => Effect.succeed(false))
      )
      const isDone = yield* Effect.raceFirst(driven, Effect.as(Fiber.await(listening), false))
      if (isDone) yield* Effect.ignore(connection.command(null, "runner.shutdown", {}))
      return isDone
    }).pipe(Effect.scoped)
  )
