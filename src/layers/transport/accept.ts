/**
 * Connections of a listener, each served in a fiber of its own.
 *
 * Guarantees: when the scope closes, all are told and closed, and then the listener. Bounds: connections; one more is closed
 * at once.
 */
import type * as net from "node:net"
import type { Duplex } from "node:stream"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { limits } from "../../schema/limits.ts"

export interface Accepting<Connection extends Duplex> {
  /** Takes it, unless there are too many. */
  readonly offer: (connection: Connection) => void
}

/** A defect of one is logged, and is nobody else's. */
export const acceptConnections = Effect.fnUntraced(function* <Connection extends Duplex, R>(
  serve: (connection: Connection) => Effect.Effect<void, never, R>
) {
  const waiting = yield* Queue.bounded<Connection>(limits.transportConnectionsMax)
  const open = new Set<Connection>()
  yield* Effect.addFinalizer(() => Effect.sync(() => open.forEach((connection) => connection.destroy())))
  const owner = yield* Scope.fork(yield* Scope.Scope, "parallel")
  const serveOne = (connection: Connection) =>
    serve(connection).pipe(
      Effect.ensuring(Effect.sync(() => connection.destroy())),
      Effect.ignoreCause({ log: "Error", message: "A connection of a control plane has crashed" })
    )
  yield* Queue.take(waiting).pipe(
    Effect.flatMap((connection) => Effect.forkIn(serveOne(connection), owner)),
    Effect.forever,
    Effect.forkIn(owner)
  )
  const accepting: Accepting<Connection> = {
    offer: (connection) => {
      connection.on("error", ignore)
      if (open.size >= limits.transportConnectionsMax || owner.state._tag === "Closed") return void connection.destroy()
      open.add(connection)
      connection.once("close", () => open.delete(connection))
      Queue.offerUnsafe(waiting, connection)
    }
  }
  return accepting
})

/** A server that is closed with the scope, once no connection is left. */
export const ownedServer = <Server extends net.Server>(make: () => Server): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(make), (server) =>
    Effect.callback<void>((resume) => {
      if (!server.listening) return resume(Effect.void)
      server.close(() => resume(Effect.void))
    })
  )

const ignore = () => {}
