/**
 * What travels between a control plane and a runner: one JSON text per frame, over a line-delimited stream or as a message of a
 * WebSocket. The control plane connects and speaks first.
 *
 * `auth_hello`, `welcome`, then in any order: `command`, `ack`, `command_result_ack`, `ping` to the runner; `event`,
 * `command_result`, `pong` back. `error` is the last frame before the runner closes. Frames are open: what is not known in them
 * is ignored. The ids of the runner and of the connection are compared on every frame behind the welcome.
 */
import * as Schema from "effect/Schema"
import { Authority } from "../authority.ts"
import { StableId } from "../identity.ts"
import { CommandReply, RunnerState, RunStatus } from "../run.ts"
import { anyProperty, Count, Id, open, Revision } from "./contract/primitives.ts"

export const transportProtocol = "paperclip.runner"

const NullableId = Schema.NullOr(Id)

const head = {
  protocol: Schema.Literal(transportProtocol),
  /** That of the hello is the highest that its sender speaks; then the negotiated one. */
  version: Revision,
  /** `null` only in a hello that takes any runner. */
  runnerInstanceId: NullableId,
  environmentLeaseId: Schema.optionalKey(NullableId),
  /** The run that a command or an event belongs to. */
  runId: Schema.optionalKey(NullableId),
  normalizedSessionId: Schema.optionalKey(NullableId),
  turnId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  itemId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** Minted by the runner, `null` in the hello. */
  connectionId: NullableId,
  connectionLeaseId: Schema.optionalKey(NullableId)
}

const frame = <const Kind extends string, Payload extends Schema.Constraint>(kind: Kind, payload: Payload) =>
  open({ ...head, kind: Schema.Literal(kind), payload })

export const Hello = frame(
  "auth_hello",
  open({
    protocolMin: Revision,
    protocolMax: Revision,
    /** A peer with a name: events are kept until it has acknowledged them. Without: an observer, nothing is kept for it. */
    name: Schema.NullOr(StableId),
    /**
     * The number of the last event that it has. `null`: behind what it has acknowledged; of an observer, only what comes from
     * now on.
     */
    afterSourceSeq: Schema.NullOr(Count),
    /** The welcome of an operator shall show the tree of actors and the processes. */
    inspect: Schema.optionalKey(Schema.Boolean)
  })
)
export type Hello = typeof Hello.Type

export const Welcome = frame(
  "welcome",
  open({
    selectedVersion: Revision,
    runnerVersion: Schema.String,
    runnerState: RunnerState,
    authority: Authority,
    /** The first event of this connection comes behind this number. */
    afterSourceSeq: Count,
    producedSourceSeq: Count,
    /** Runs that have not ended, as far as the authority reaches, and how many more there are than fit here. */
    runs: Schema.Array(RunStatus),
    runsOmitted: Count,
    tree: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    processes: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })
)
export type Welcome = typeof Welcome.Type

export const EventFrame = frame(
  "event",
  open({
    event: anyProperty,
    /** The number of the event before this one on this connection: between them there is nothing for this peer. */
    previousSourceSeq: Count
  })
)
export type EventFrame = typeof EventFrame.Type

/** Cumulative. */
export const AckFrame = frame("ack", open({ ackedSourceSeq: Count }))

export const CommandFrame = frame("command", open({ command: anyProperty }))

export const CommandResultFrame = frame("command_result", CommandReply)

export const CommandResultAckFrame = frame(
  "command_result_ack",
  open({ commandId: Id, commandType: Schema.String, controllerSeq: Revision, status: Schema.String })
)

const Nonce = open({ nonce: Schema.String })
export const PingFrame = frame("ping", Nonce)
export const PongFrame = frame("pong", Nonce)

/** Why the runner closes. `code` is stable; what else is there belongs to it. */
export const ErrorFrame = frame("error", open({ code: Schema.String, message: Schema.String }))
export type ErrorFrame = typeof ErrorFrame.Type

/** From the control plane. */
export const ControlFrame = Schema.Union([Hello, AckFrame, CommandFrame, CommandResultAckFrame, PingFrame])
export type ControlFrame = typeof ControlFrame.Type

/** From the runner. */
export const RunnerFrame = Schema.Union([Welcome, EventFrame, CommandResultFrame, PongFrame, ErrorFrame])
export type RunnerFrame = typeof RunnerFrame.Type
