/**
 * `greenroom serve`: the durable runner behind a transport, until it is told to end.
 *
 * Guarantees: one runner per folder of state; what the last one left there is ended, and said to be, before it listens; on a
 * signal every run ends, every process is gone, and only then the command returns. stdout has the frames with `--stdio`, else
 * one line of JSON that says where it listens.
 */
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { serveControlPlane } from "../actors/ControlConnection.ts"
import { DurableJournal } from "../actors/durableJournal.ts"
import type { Journal } from "../actors/Journal.ts"
import { Runner } from "../actors/Runner.ts"
import { Runs } from "../actors/Runs.ts"
import * as Greenroom from "../layers/Greenroom.ts"
import * as catalogue from "../layers/providers/catalogue.ts"
import { profileFilePath, readProfiles } from "../layers/providers/profileFile.ts"
import * as sqlite from "../layers/store/sqlite.ts"
import { serveStdio } from "../layers/transport/stdio.ts"
import { serveUnixSocket } from "../layers/transport/unixSocket.ts"
import type {
  ListenRefused,
  OutputClosed,
  PlatformUnsupported,
  ProfileInvalid,
  StoreFailed,
  StoreRefused,
  TokenFolderUnusable
} from "../schema/errors.ts"
import { version } from "../schema/version.ts"
import type { FrameChannel } from "../services/FrameChannel.ts"
import * as Ids from "../services/Ids.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stderrStream, stdoutStream } from "./outputStream.ts"
import { serveFolder, socketPath } from "./serveFolder.ts"
import { makeInterrupts } from "./signals.ts"

export interface ServeOptions {
  /** Where the journal, the socket and the tokens are. Default: `serve` in the user's folder of state. */
  readonly state: string | undefined
  /** Default: `runner.sock` in there. */
  readonly socket: string | undefined
  /** Frames on stdin and stdout in place of the socket; their end is the end of the runner. */
  readonly stdio: boolean
  /** The port of a WebSocket on loopback, for tokens; 0 picks one. */
  readonly listen: number | undefined
  readonly home: "user" | "private"
  /** A commit is on the disk before anybody hears of it. */
  readonly sync: boolean
}

export type ServeError =
  | ListenRefused
  | OutputClosed
  | PlatformUnsupported
  | ProfileInvalid
  | StoreFailed
  | StoreRefused
  | TokenFolderUnusable

export const serve = Effect.fn("greenroom.serve")(function* (
  options: ServeOptions
): Effect.fn.Return<ExitCode, ServeError, Scope.Scope> {
  const interrupts = yield* makeInterrupts
  const own = yield* readProfiles(profileFilePath(process.env))
  const folder = serveFolder(options.state)
  const runner = Greenroom.durable({
    hostEnv: process.env,
    home: options.home,
    providers: catalogue.layer(own),
    store: sqlite.layer({ file: join(folder, "journal.sqlite"), synchronous: options.sync ? "FULL" : "NORMAL" })
  })
  const services = yield* Layer.build(Layer.merge(runner, Ids.layer))
  return yield* Effect.provideContext(serving(options, folder, interrupts.cancelled), services)
})

const serving = Effect.fnUntraced(function* (
  options: ServeOptions,
  folder: string,
  interrupted: Effect.Effect<string>
) {
  const runs = yield* Runs
  const { sourceInstanceId } = yield* DurableJournal
  const inspect = Effect.all({ tree: (yield* Runner).tree, processes: runs.processes })
  const services = yield* Effect.context<DurableJournal | Ids.Ids | Journal | Runs>()
  const asOperator = (channel: FrameChannel) =>
    Effect.provideContext(
      serveControlPlane({ channel, authority: { _tag: "Operator" }, authorityEnded: Effect.never, inspect }),
      services
    )
  const socket = options.stdio ? undefined : socketPath(options.state, options.socket)
  if (socket !== undefined) yield* serveUnixSocket({ path: socket, serve: asOperator })
  const web = options.listen === undefined ? undefined : yield* listenWebSocket(options.listen, folder)
  const address = { runnerInstanceId: sourceInstanceId, socket: socket ?? null, webSocket: web?.url ?? null }
  const ends = [Effect.as(runs.ended, "it was told to"), Effect.map(interrupted, (signal) => `of ${signal}`)]
  if (options.stdio) {
    yield* say(`serving on stdin and stdout${web === undefined ? "" : ` and on ${web.url}`}`)
    ends.push(Effect.as(serveStdio(asOperator), "its stdin has ended"))
  } else {
    yield* stdoutStream().write(jsonLine(address))
    yield* say(`serving on ${[socket, web?.url].filter((one) => one !== undefined).join(" and on ")}`)
  }
  const why = yield* Effect.raceAllFirst(ends)
  yield* say(`ending, because ${why}`)
  return exitCodes.completed
})

/** For bearers of tokens. Loaded only where it is asked for. */
const listenWebSocket = Effect.fnUntraced(function* (port: number, folder: string) {
  const { serveWebSocket } = yield* Effect.promise(() => import("../layers/transport/webSocket.ts"))
  const { tokenFolder } = yield* Effect.promise(() => import("../layers/transport/tokenFolder.ts"))
  const runs = yield* Runs
  const health = Effect.sync(() => ({ runnerState: runs.runnerState(), version }))
  return yield* serveWebSocket({
    port,
    health,
    tokens: yield* tokenFolder(join(folder, "tokens")),
    serve: serveControlPlane
  })
})

const say = (text: string) => Effect.ignore(stderrStream().write(`greenroom: ${text}\n`))
