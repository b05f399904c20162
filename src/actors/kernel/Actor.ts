/**
 * The actor model: `spawn` starts an actor, `ActorRef` is what others hold of it.
 *
 * One fiber in one scope with one bounded mailbox; one message at a time; every ask is answered exactly once.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ActorCrashed, ActorStopped, AskTimedOut, MailboxFull, ResourceUnreleased } from "../../schema/errors.ts"
import type { AnyMessage, Failure, Handlers, Later, Success, Tagged } from "./Message.ts"
import type { Registry } from "./Registry.ts"
import { Self } from "./Self.ts"
import { start } from "./start.ts"

export { Self } from "./Self.ts"

/** `starting` also while a crashed actor is rebuilt. `unreleased`: missed its stop deadline and is not proven gone. */
export type ActorState = "starting" | "running" | "stopping" | "stopped" | "unreleased"

export interface MailboxOptions {
  /** Messages of each of the two lanes that may wait, reserved room included. */
  readonly capacity: number
  /** What a full lane does to the next sender: make it wait, or fail it with `MailboxFull`. */
  readonly policy: "suspend" | "reject"
}

export interface Options<M extends AnyMessage, E, R> {
  /** Last segment of the path, unique among the living siblings, e.g. `turn:t3`. */
  readonly name: string
  readonly mailbox: MailboxOptions
  /** Tags that travel on the control lane, which overtakes the data lane. */
  readonly control?: ReadonlyArray<M["_tag"]>
  /** Tags whose handler is interrupted when its ask is interrupted or past its deadline. */
  readonly interruptible?: ReadonlyArray<M["_tag"]>
  /** What has not been closed this long after a stop makes the actor `unreleased`. */
  readonly stopWithin: Duration.Input
  /** Closed to newcomers while an unreleased actor holds it. */
  readonly resourceKey?: string
  /** Acquires the actor's resources in its scope and returns its handlers. Run again after a crash that is restarted. */
  readonly behaviour: Effect.Effect<Handlers<M, Self | Scope.Scope>, E, R>
}

export interface AskOptions {
  readonly deadline?: Duration.Input
}

export interface ActorRef<M extends AnyMessage> {
  readonly path: string
  /**
   * Sends the message and waits for its one answer.
   * If interrupted (or past the deadline): a message that has not started is withdrawn; a started handler goes on, unless its
   * tag is `interruptible`, and its reply is counted as late.
   */
  readonly ask: <T extends M>(
    message: T,
    options?: AskOptions
  ) => Effect.Effect<
    Success<Tagged<M, T["_tag"]>>,
    Failure<Tagged<M, T["_tag"]>> | ActorStopped | ActorCrashed | MailboxFull | AskTimedOut
  >
  /** Completes once the message is in the mailbox. If interrupted before: nothing was sent. */
  readonly tell: (message: M) => Effect.Effect<void, ActorStopped | MailboxFull>
  /** Takes room in the lane of `tag` now, for one message later. If interrupted: no room is taken. */
  readonly reserve: <Tag extends M["_tag"]>(
    tag: Tag
  ) => Effect.Effect<Reservation<Tagged<M, Tag>>, ActorStopped | MailboxFull>
  /**
   * Takes no further message, interrupts the handler at work, closes the children, then the scope. Completes once stopped, or
   * unreleased when that takes longer than `stopWithin`. Idempotent. If interrupted: the stop goes on.
   */
  readonly stop: Effect.Effect<void>
  /** As `stop`, without grace: every ask is answered now, and what does not close at once is unreleased. Does not wait. */
  readonly kill: Effect.Effect<void>
  /** The final exit, once; restarts are not heard. Fails with `ResourceUnreleased` inside for an actor that is unreleased. */
  readonly watch: Effect.Effect<Exit.Exit<void, unknown>>
  readonly state: () => ActorState
}

/** Room for one message. Its one `send` or `ask` never fails for want of room; unused, it must be released. */
export interface Reservation<M extends AnyMessage> {
  readonly send: (message: M) => Effect.Effect<void, ActorStopped>
  readonly ask: (
    message: M,
    options?: AskOptions
  ) => Effect.Effect<Success<M>, Failure<M> | ActorStopped | ActorCrashed | AskTimedOut>
  /** Gives the room back. Idempotent; nothing after the room was used. */
  readonly release: Effect.Effect<void>
}

/**
 * Starts an actor below the caller's `Self` (at the root without one) that the caller's `Scope` owns: its closing stops the
 * actor. Completes when the actor runs, or has been stopped meanwhile. A failed start leaves nothing.
 * If interrupted: what had started is stopped first.
 */
export const spawn = <M extends AnyMessage, E, R>(
  options: Options<M, E, R>
): Effect.Effect<ActorRef<M>, E | ResourceUnreleased, Exclude<R, Scope.Scope | Self> | Scope.Scope | Registry> =>
  Effect.flatMap(Scope.Scope, (owner) => start(options, { owner }))

/**
 * Inside a handler: answers this message with the result of `work`, which is forked into the actor's scope, so that the next
 * message gets its turn. A defect of the work is a crash of the actor.
 * If the ask is interrupted: `work` is interrupted when the tag is `interruptible`, else goes on and its reply is late.
 */
export const later = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Later<A, E>, never, R | Self> =>
  Effect.flatMap(Self, (self) => self.later(work))
