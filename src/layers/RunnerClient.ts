/** `RunnerClient` over the transports. Every connection is one of its own. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ConnectRefused } from "../schema/errors.ts"
import type { FrameChannel } from "../services/FrameChannel.ts"
import { Ids } from "../services/Ids.ts"
import { RunnerClient } from "../services/RunnerClient.ts"
import { connectRunner } from "./transport/runnerConnection.ts"
import { connectUnixSocket } from "./transport/unixSocket.ts"
import { connectWebSocket } from "./transport/webSocketClient.ts"

/** `open` gives a new channel each time. */
export const layerOver = (
  open: Effect.Effect<FrameChannel, ConnectRefused, Scope.Scope>
): Layer.Layer<RunnerClient, never, Ids> =>
  Layer.effect(
    RunnerClient,
    Effect.map(Ids, (ids) =>
      RunnerClient.of({
        connect: (options) =>
          Effect.provideService(
            Effect.flatMap(open, (channel) => connectRunner(channel, options)),
            Ids,
            ids
          )
      })
    )
  )

/** Of the runner that listens on this socket. */
export const layerUnixSocket = (path: string): Layer.Layer<RunnerClient, never, Ids> =>
  layerOver(connectUnixSocket(path))

/** Of the runner at this address, for the bearer of a token. */
export const layerWebSocket = (url: string, token: string): Layer.Layer<RunnerClient, never, Ids> =>
  layerOver(connectWebSocket(url, token))
