/** A runner as a control plane has it: commands to it, its answers, and its events. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CommandUnanswered, ConnectRefused, FrameChannelClosed, RunnerRefused } from "../schema/errors.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import type { PrpValue } from "../schema/prp/contract/kinds.ts"
import type { VersionRange } from "../schema/prp/rules/negotiation.ts"
import type { Welcome } from "../schema/prp/transportFrame.ts"
import type { CommandReply } from "../schema/run.ts"

export interface ConnectOptions {
  /** Events are kept for a peer with a name until it has acknowledged them. `null`: an observer. */
  readonly name: string | null
  /** The number of the last event that is here. Default: behind what was acknowledged; of an observer, from now on. */
  readonly afterSourceSeq?: number
  /** Default: what we speak. */
  readonly versions?: VersionRange
  /** Refuse any other runner. */
  readonly runnerInstanceId?: string
  readonly inspect?: boolean
  /** `false`: events are let go of as they come, for who only sends commands. Default `true`. */
  readonly events?: boolean
}

export interface CommandOptions {
  /** Default: a new one. */
  readonly commandId?: string
  /** From now on. */
  readonly deadline?: Duration.Input
  readonly precondition?: Command["precondition"]
}

/** What was sent, to be sent again. */
export type SentCommand = Pick<CommandUnanswered, "runId" | "command">

export type ConnectionLost = RunnerRefused | FrameChannelClosed

/**
 * Whatever the runner sends comes in its order, answers behind the events before them: while `subscriberEventsMax` events wait
 * to be taken, nothing more is read. So take events beside waiting for answers, or connect without them.
 */
export interface RunnerConnection {
  readonly runnerInstanceId: string
  readonly welcome: Welcome["payload"]
  /**
   * Sends a command under the next number of its run (`null`: of the runner), and waits for its answer. A number that was taken
   * meanwhile is corrected, a few times, under a new id. The answer to `runner.suspend` and `runner.shutdown` is acknowledged.
   * If interrupted: it was sent, or was not.
   */
  readonly command: (
    runId: string | null,
    type: Command["type"],
    payload: Readonly<Record<string, unknown>>,
    options?: CommandOptions
  ) => Effect.Effect<CommandReply, CommandUnanswered>
  /** The same command once more, over this connection. */
  readonly resend: (sent: SentCommand) => Effect.Effect<CommandReply, CommandUnanswered>
  /** The next events, at least one. Fails once the connection has ended and all are taken. One consumer. */
  readonly take: Effect.Effect<ReadonlyArray<PrpValue<"event">>, ConnectionLost>
  /** Everything up to this event has been dealt with. Completes when it is on its way. */
  readonly acknowledge: (sourceSeq: number) => Effect.Effect<void, FrameChannelClosed>
  /** Completes with the answer of the runner. */
  readonly ping: Effect.Effect<void, ConnectionLost>
  /** Closes the connection, as its scope does. Idempotent. */
  readonly end: Effect.Effect<void>
}

export class RunnerClient extends Context.Service<
  RunnerClient,
  {
    /** A connection of its own, that the scope owns. Events of a peer that are not acknowledged come again. */
    readonly connect: (
      options: ConnectOptions
    ) => Effect.Effect<RunnerConnection, ConnectRefused | ConnectionLost, Scope.Scope>
  }
>()("greenroom/services/RunnerClient") {}
