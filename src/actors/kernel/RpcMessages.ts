/**
 * Protocols written as an effect/rpc group: the kernel calls the handlers directly, and the same handler record can be
 * served at a boundary.
 */
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type { Handlers } from "./Message.ts"
import { isLater } from "./work.ts"

/** The message of one rpc: its tag, and its payload under `payload`. */
export type RpcMessage<R extends Rpc.Any> = R extends Rpc.Any
  ? {
      readonly _tag: R["_tag"]
      readonly payload: Rpc.Payload<R>
      readonly "~reply"?: { readonly success: Rpc.Success<R>; readonly error: Rpc.Error<R> }
    }
  : never

/** The message union of a group. Streaming rpcs have no message form. */
export type GroupMessage<G extends RpcGroup.Any> = RpcMessage<RpcGroup.Rpcs<G>>

/** The same handlers in the form that `group.toLayer` takes. */
export type GroupHandlers<R extends Rpc.Any, S> = {
  readonly [Current in R as Current["_tag"]]: (
    payload: Rpc.Payload<Current>
  ) => Effect.Effect<Rpc.Success<Current>, Rpc.Error<Current>, S>
}

/**
 * The handlers of a group, run for a server at a boundary. A later reply is awaited. Give it handlers that ask an actor to
 * keep that actor's order; kernel handlers called this way run side by side.
 */
export function toGroupHandlers<R extends Rpc.Any, S = never>(
  group: RpcGroup.RpcGroup<R>,
  handlers: Handlers<RpcMessage<R>, S>
): GroupHandlers<R, S>
export function toGroupHandlers(
  group: { readonly requests: ReadonlyMap<string, unknown> },
  handlers: {
    readonly [tag: string]: { handle(message: unknown): Effect.Effect<unknown, unknown, unknown> }["handle"]
  }
): { readonly [tag: string]: (payload: unknown) => Effect.Effect<unknown, unknown, unknown> } {
  return Object.fromEntries(
    [...group.requests.keys()].map((tag) => [
      tag,
      (payload: unknown) =>
        Effect.flatMap(handlers[tag]!({ _tag: tag, payload }), (value) =>
          isLater(value) ? value.await : Effect.succeed(value)
        )
    ])
  )
}
