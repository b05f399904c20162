/**
 * A socket in the file system, for the operator alone: whoever may open it may do everything.
 *
 * Guarantees: the folder is 0700 and ours, the socket 0600; a socket is replaced only when nobody answers on it, anything else
 * at its path never. The check of who answers and the replacement are not one step: who starts two runners at one path at the
 * same time may find one of them without it.
 */
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { ConnectRefused, ListenRefused } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import { errorCode } from "../process/pipes.ts"
import { refusalOf } from "../store/privateFile.ts"
import { acceptConnections, ownedServer } from "./accept.ts"
import { lineChannel } from "./lineChannel.ts"
import { duplexOf } from "./streams.ts"

/** What the system has room for. */
export const socketPathBytesMax: number =
  process.platform === "darwin" ? limits.socketPathBytesMaxOnMac : limits.socketPathBytesMax

/**
 * Listens, and serves each connection in a fiber of the scope. Completes when it listens. When the scope closes, connections
 * are closed, then the socket is gone.
 */
export const serveUnixSocket = Effect.fn("serveUnixSocket")(function* <R>(options: {
  readonly path: string
  readonly serve: (channel: FrameChannel) => Effect.Effect<void, never, R>
}): Effect.fn.Return<void, ListenRefused, R | Scope.Scope> {
  const file = path.resolve(options.path)
  yield* prepareFolder(file)
  yield* removeStale(file)
  const server = yield* ownedServer(() => net.createServer())
  const { offer } = yield* acceptConnections((socket: net.Socket) =>
    options.serve(lineChannel(duplexOf(socket), limits.transportFrameBytesMax))
  )
  server.on("connection", offer)
  yield* listen(server, file)
})

/** Closed with the scope. */
export const connectUnixSocket = Effect.fn("connectUnixSocket")(function* (
  file: string
): Effect.fn.Return<FrameChannel, ConnectRefused, Scope.Scope> {
  if (Buffer.byteLength(path.resolve(file)) > socketPathBytesMax) {
    return yield* new ConnectRefused({
      address: file,
      reason: "path_too_long",
      detail: `a socket's path has at most ${socketPathBytesMax} bytes`
    })
  }
  const socket = yield* connected(path.resolve(file))
  const channel = lineChannel(duplexOf(socket), limits.runnerFrameBytesMax)
  yield* Effect.addFinalizer(() => channel.close)
  return channel
})

const connected = (file: string): Effect.Effect<net.Socket, ConnectRefused> =>
  Effect.callback((resume) => {
    const socket = net.createConnection(file)
    socket.once("connect", () => resume(Effect.succeed(socket)))
    socket.on("error", (error) => {
      const detail = errorCode(error)
      const reason = connectReasons[detail] ?? "failed"
      resume(Effect.fail(new ConnectRefused({ address: file, reason, detail })))
    })
    return Effect.sync(() => socket.destroy())
  })

const connectReasons: Readonly<Record<string, ConnectRefused["reason"]>> = {
  ENOENT: "no_server",
  ECONNREFUSED: "no_server",
  EACCES: "not_allowed",
  EPERM: "not_allowed"
}

const refused = (file: string, reason: ListenRefused["reason"], detail: string, limitBytes?: number) =>
  Effect.fail(new ListenRefused({ address: file, reason, detail, ...(limitBytes === undefined ? {} : { limitBytes }) }))

const prepareFolder = (file: string): Effect.Effect<void, ListenRefused> =>
  Effect.suspend(() => {
    const bytes = Buffer.byteLength(file)
    if (bytes > socketPathBytesMax) {
      return refused(file, "path_too_long", `${bytes} bytes; the limit is ${socketPathBytesMax}`, socketPathBytesMax)
    }
    try {
      const folder = path.dirname(file)
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      const found = refusalOf(fs.lstatSync(folder), "folder")
      return found === undefined ? Effect.void : refused(file, ...found)
    } catch (error) {
      return refused(file, "unusable", errorCode(error))
    }
  })

const socketAt = (file: string): fs.Stats | undefined => fs.lstatSync(file, { throwIfNoEntry: false })

/** Removes the socket that a runner left which was killed. */
const removeStale = Effect.fnUntraced(function* (file: string) {
  const found = socketAt(file)
  if (found === undefined) return
  if (!found.isSocket()) return yield* refused(file, "foreign", "something else is at this path")
  const probe = yield* Effect.exit(connected(file))
  if (Exit.isSuccess(probe)) {
    probe.value.destroy()
    return yield* refused(file, "in_use", "somebody answers on this socket")
  }
  yield* Effect.suspend(() => {
    // Another one that starts now may have put its own in place.
    if (socketAt(file)?.ino !== found.ino) return refused(file, "in_use", "somebody else is starting there")
    fs.rmSync(file)
    return Effect.void
  })
})

const listen = (server: net.Server, file: string): Effect.Effect<void, ListenRefused> =>
  Effect.callback((resume) => {
    server.once("error", (error) => {
      const detail = errorCode(error)
      resume(refused(file, detail === "EADDRINUSE" ? "in_use" : "unusable", detail))
    })
    server.listen(file, () => {
      fs.chmodSync(file, 0o600)
      resume(Effect.void)
    })
  })
