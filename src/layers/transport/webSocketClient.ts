/** Connects to a runner over a WebSocket, as the bearer of a token. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ConnectRefused } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { FrameChannel } from "../../services/FrameChannel.ts"
import { errorCode } from "../process/pipes.ts"
import { PatientWebSocket, socketOptions, webSocketChannel } from "./webSocketChannel.ts"

/** `url` begins with `ws:` or `wss:`. Closed with the scope. If interrupted there is no connection. */
export const connectWebSocket = (
  url: string,
  token: string
): Effect.Effect<FrameChannel, ConnectRefused, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.timeoutOrElse(connected(url, token), {
      duration: limits.helloMs,
      orElse: () => connectRefused(url, "timed_out", `no answer within ${limits.helloMs} ms`)
    }),
    (channel) => channel.close,
    { interruptible: true }
  )

const connected = (url: string, token: string): Effect.Effect<FrameChannel, ConnectRefused> =>
  Effect.callback((resume) => {
    const socket = socketTo(url, token)
    if (socket === undefined) return resume(connectRefused(url, "failed", "no address of a WebSocket, or no token"))
    socket.once("open", () => resume(Effect.succeed(webSocketChannel(socket, limits.runnerFrameBytesMax))))
    socket.once("unexpected-response", (request, { statusCode = 0 }) => {
      resume(connectRefused(url, refusals[statusCode] ?? "failed", `status ${statusCode}`))
      request.destroy()
    })
    socket.on("error", (error) => {
      const detail = errorCode(error)
      resume(connectRefused(url, detail === "ECONNREFUSED" ? "no_server" : "failed", detail))
    })
    return Effect.sync(() => socket.terminate())
  })

/** `undefined`: what is given cannot be asked for. The error of it may repeat the token. */
const socketTo = (url: string, token: string): PatientWebSocket | undefined => {
  try {
    return new PatientWebSocket(url, {
      ...socketOptions(limits.runnerFrameBytesMax),
      headers: { Authorization: `Bearer ${token}` }
    })
  } catch {
    return undefined
  }
}

const refusals: Readonly<Record<number, ConnectRefused["reason"]>> = { 401: "unauthorized", 403: "not_allowed" }

const connectRefused = (address: string, reason: ConnectRefused["reason"], detail: string) =>
  Effect.fail(new ConnectRefused({ address, reason, detail }))
