/**
 * Protocols written as an effect/rpc group: the kernel calls the handlers directly, and the same handler record can be
 * served at a boundary.
 */
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type { Handlers } from "./Message.ts"

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

/** Runs a record of kernel handlers as the handlers of the group, for a server at a boundary. */
export declare const toGroupHandlers: <R extends Rpc.Any, S>(
  group: RpcGroup.RpcGroup<R>,
  handlers: Handlers<RpcMessage<R>, S>
) => GroupHandlers<R, S>
