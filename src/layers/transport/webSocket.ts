/**
 * A WebSocket on loopback, for bearers of tokens; and whether the runner is well, for everybody there.
 *
 * Guarantees: it listens on 127.0.0.1 alone; nobody is a control plane without a token that is good, and why one is not is
 * told nobody; a page in a browser is refused. Bounds: connections, and as many again that are no control planes; the time of
 * a handshake and of a request; a message.
 */
import * as http from "node:http"
import type { Duplex } from "node:stream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { WebSocketServer } from "ws"
import type { Authority } from "../../schema/authority.ts"
import { ListenRefused } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import type { TokenGrant, Tokens } from "../../services/Tokens.ts"
import { errorCode } from "../process/pipes.ts"
import { acceptConnections } from "./accept.ts"
import { duplexOf } from "./streams.ts"
import { PatientWebSocket, socketOptions, webSocketChannel } from "./webSocketChannel.ts"

export interface AuthorizedPlane {
  readonly channel: FrameChannel
  readonly authority: Authority
  readonly authorityEnded: TokenGrant["ended"]
}

const host = "127.0.0.1"

/**
 * Listens, and serves each bearer of a token in a fiber of the scope. Completes when it listens; port 0 picks one. When the
 * scope closes, connections are closed, then nobody listens.
 */
export const serveWebSocket = Effect.fn("serveWebSocket")(function* <R>(options: {
  readonly port: number
  readonly tokens: Tokens["Service"]
  /** What `GET /health` says, as JSON. */
  readonly health: Effect.Effect<object>
  readonly serve: (plane: AuthorizedPlane) => Effect.Effect<void, never, R>
}): Effect.fn.Return<{ readonly url: string; readonly port: number }, ListenRefused, R | Scope.Scope> {
  const server = yield* ownedHttpServer
  const handshakes = makeHandshakes()
  const offerUpgrade = yield* acceptAsked(
    Effect.fnUntraced(function* (socket: Duplex, upgrade: Upgrade) {
      const admitting = admit(socket, upgrade, options.tokens, handshakes)
      const plane = Option.flatten(yield* Effect.timeoutOption(admitting, limits.helloMs))
      if (Option.isSome(plane)) yield* options.serve(plane.value)
    })
  )
  const offerRequest = yield* acceptAsked((_, exchange: Exchange) =>
    Effect.asVoid(Effect.timeoutOption(respond(exchange, options.health), limits.helloMs))
  )
  server.on("upgrade", (request, socket, head) => offerUpgrade(socket, { request, head }))
  server.on("request", (request, response) => offerRequest(request.socket, { request, response }))
  const port = yield* listen(server, options.port)
  return { url: `ws://${host}:${port}/`, port }
})

/** Closed with the scope; who is in the middle of a request is not waited for. */
const ownedHttpServer = Effect.acquireRelease(
  Effect.sync(() => {
    const server = http.createServer({
      headersTimeout: limits.helloMs,
      requestTimeout: limits.helloMs,
      connectionsCheckingInterval: limits.handshakeCheckMs
    })
    server.maxConnections = 2 * limits.transportConnectionsMax
    return server
  }),
  (server) =>
    Effect.callback<void>((resume) => {
      if (!server.listening) return resume(Effect.void)
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    })
)

const makeHandshakes = () =>
  new WebSocketServer({
    ...socketOptions(limits.transportFrameBytesMax),
    noServer: true,
    clientTracking: false,
    handleProtocols: () => false,
    WebSocket: PatientWebSocket
  })

/** Connections that come with what was asked over them. */
const acceptAsked = Effect.fnUntraced(function* <Asked, R>(
  serve: (socket: Duplex, asked: Asked) => Effect.Effect<void, never, R>
) {
  const asked = new WeakMap<Duplex, Asked>()
  const accepting = yield* acceptConnections((socket: Duplex) => {
    const question = asked.get(socket)
    return question === undefined ? Effect.void : serve(socket, question)
  })
  return (socket: Duplex, question: Asked) => {
    asked.set(socket, question)
    accepting.offer(socket)
  }
})

interface Upgrade {
  readonly request: http.IncomingMessage
  readonly head: Buffer
}

interface Exchange {
  readonly request: http.IncomingMessage
  readonly response: http.ServerResponse
}

const pathOf = ({ url = "" }: http.IncomingMessage): string => url.split("?", 1)[0] ?? ""

/** A browser always says where a page comes from, and no page has any business here. */
const isOfPage = ({ headers }: http.IncomingMessage): boolean => headers.origin !== undefined

/** `None`: it was refused, and told so. */
const admit = Effect.fnUntraced(function* (
  socket: Duplex,
  { head, request }: Upgrade,
  tokens: Tokens["Service"],
  handshakes: ReturnType<typeof makeHandshakes>
): Effect.fn.Return<Option.Option<AuthorizedPlane>> {
  if (isOfPage(request)) return yield* refuse(socket, 403)
  if (pathOf(request) !== "/") return yield* refuse(socket, 404)
  const grant = yield* Effect.option(tokens.verify(bearerOf(request)))
  if (Option.isNone(grant)) return yield* refuse(socket, 401, "WWW-Authenticate: Bearer\r\n")
  const { authority, ended } = grant.value
  let channel: FrameChannel | undefined
  handshakes.handleUpgrade(request, socket, head, (opened) => {
    channel = webSocketChannel(opened, limits.transportFrameBytesMax)
  })
  if (channel !== undefined) return Option.some({ channel, authority, authorityEnded: ended })
  yield* duplexOf(socket).end
  return Option.none()
})

/** Without one: a text that is no token. */
const bearerOf = ({ headers }: http.IncomingMessage): string =>
  /^Bearer ([!-~]+)$/i.exec(headers.authorization ?? "")?.[1] ?? ""

/** Completes when the answer is out. */
const refuse = Effect.fnUntraced(function* (socket: Duplex, status: number, headers = "") {
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n`
  socket.write(`${head}${headers}\r\n`)
  yield* duplexOf(socket).end
  return Option.none<never>()
})

/** Completes when the answer is out. */
const respond = Effect.fnUntraced(function* ({ request, response }: Exchange, health: Effect.Effect<object>) {
  const status = statusOf(request)
  const body = status === 200 ? JSON.stringify(yield* health) : ""
  yield* Effect.callback<void>((resume) => {
    response.once("close", () => resume(Effect.void))
    response.writeHead(status, {
      Connection: "close",
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store"
    })
    response.end(body, () => resume(Effect.void))
  })
})

const statusOf = (request: http.IncomingMessage): number => {
  if (isOfPage(request)) return 403
  if (pathOf(request) === "/") return 426
  return pathOf(request) === "/health" && request.method === "GET" ? 200 : 404
}

const listen = (server: http.Server, wanted: number): Effect.Effect<number, ListenRefused> =>
  Effect.callback((resume) => {
    const refused = (error: unknown) => {
      const detail = errorCode(error)
      const reason = detail === "EADDRINUSE" ? "in_use" : "unusable"
      resume(Effect.fail(new ListenRefused({ address: `${host}:${wanted}`, reason, detail })))
    }
    server.once("error", refused)
    try {
      server.listen({ host, port: wanted }, () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : wanted))
      })
    } catch (error) {
      refused(error)
    }
  })
