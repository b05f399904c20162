/**
 * One actor as the kernel sees it: what `ActorRef` and `Self` show of it, and the fields that its life works on.
 *
 * The kernel forgets the types of messages and replies here; `Actor.spawn` gives them back. What an operation decides, it
 * decides in one synchronous stretch, which no scheduler can split.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { type ActorStopped, AskTimedOut, InvariantViolated, MailboxFull } from "../../schema/errors.ts"
import type { ActorState, AskOptions, MailboxOptions } from "./Actor.ts"
import { gone } from "./answers.ts"
import { end, kill, stop } from "./closing.ts"
import { Deadlines } from "./Deadlines.ts"
import { Envelope } from "./Envelope.ts"
import type { ErasedBehaviour, ErasedHandlers, ErasedRef } from "./erase.ts"
import { crash } from "./latch.ts"
import { type Lane, Mailbox } from "./Mailbox.ts"
import type { AnyMessage, Later } from "./Message.ts"
import type { ActorTable } from "./Registry.ts"
import { Self, type SelfShape } from "./Self.ts"
import { monotonicMs } from "./time.ts"
import { fork, type Work } from "./work.ts"

/** `Actor.Options` without its types. */
export interface CellOptions {
  readonly name: string
  readonly mailbox: MailboxOptions
  readonly control?: ReadonlyArray<string>
  readonly interruptible?: ReadonlyArray<string>
  readonly stopWithin: Duration.Input
  readonly resourceKey?: string
}

/** Whoever decides about a crash: milliseconds until the restart, or `undefined` for none, after which it is escalated. */
export interface Supervision {
  readonly restartAfterMs: (cause: Cause.Cause<unknown>) => number | undefined
  readonly escalate: (cause: Cause.Cause<unknown>) => void
}

export interface CellBirth {
  readonly options: CellOptions
  readonly behaviour: ErasedBehaviour
  readonly path: string
  readonly parent: ActorCell | undefined
  readonly table: ActorTable
  readonly supervision: Supervision | undefined
  /** The fiber that spawns: its context is the actor's, its dispatcher wakes the actor. */
  readonly fiber: Fiber.Fiber<unknown, unknown>
}

export class ActorCell implements SelfShape, ErasedRef {
  readonly path: string
  readonly options: CellOptions
  readonly behaviour: ErasedBehaviour
  readonly parent: ActorCell | undefined
  readonly table: ActorTable
  readonly supervision: Supervision | undefined
  readonly context: Context.Context<never>
  readonly clock: Clock.Clock
  readonly mailbox: Mailbox
  /** The owner's hold on this actor: a scope within the owner's that stops it. */
  readonly link: Scope.Closeable
  readonly bornAt: number

  // Most actors never have some of the following, and an idle actor pays for each: sets and lists are made when needed.

  phase: ActorState = "starting"
  restarts = 0
  /** Has been running once, so that whoever spawned it has got it. */
  hasRun = false
  /** The fiber of this incarnation. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  handlers: ErasedHandlers | undefined = undefined
  /** The message whose handler the actor's own fiber runs. */
  current: Envelope | undefined = undefined
  /** Forked replies and interruptible handlers. */
  works: Set<Work<unknown, unknown>> | undefined = undefined
  children: Set<ActorCell> | undefined = undefined
  deadlines: Deadlines | undefined = undefined

  /** The latch: how the actor ends, once that is decided. */
  ending: Exit.Exit<void, unknown> | undefined = undefined
  /** Why this incarnation is over. */
  crashed: Cause.Cause<unknown> | undefined = undefined
  /** Why the first start failed. */
  startFailure: Cause.Cause<unknown> | undefined = undefined
  /** What supervision is told once the actor has ended. */
  escalation: Cause.Cause<unknown> | undefined = undefined
  restartAfterMs: number | undefined = undefined
  timer: Fiber.Fiber<void> | undefined = undefined

  /** Told when the last work has ended. */
  onIdle: (() => void) | undefined = undefined
  /** Told once, when the actor runs or has failed to. */
  onStarted: ((exit: Exit.Exit<void, unknown>) => void) | undefined = undefined
  watchers: Set<(exit: Exit.Exit<void, unknown>) => void> | undefined = undefined
  /** What watchers hear; set once the actor is stopped or unreleased. */
  heard: Exit.Exit<void, unknown> | undefined = undefined

  constructor(birth: CellBirth, link: Scope.Closeable) {
    this.options = birth.options
    this.behaviour = birth.behaviour
    this.parent = birth.parent
    this.table = birth.table
    this.supervision = birth.supervision
    this.path = birth.path
    this.context = birth.fiber.context
    this.clock = Context.get(this.context, Clock.Clock)
    this.mailbox = new Mailbox(birth.options.mailbox.capacity, birth.fiber.currentDispatcher)
    this.link = link
    this.bornAt = monotonicMs(this.clock)
  }

  // What `ActorRef` shows as functions may be taken off the reference, so these are bound.

  readonly state = (): ActorState => this.phase

  /** Tells the one who spawned this actor how the start went. */
  started(exit: Exit.Exit<void, unknown>): void {
    const onStarted = this.onStarted
    this.onStarted = undefined
    onStarted?.(exit)
  }

  /** Neither latched nor crashed: the next message may start. */
  get serving(): boolean {
    return this.ending === undefined && this.crashed === undefined
  }

  readonly ask = (message: AnyMessage, options?: AskOptions): Effect.Effect<unknown, unknown> =>
    Effect.callback((resume) => {
      this.assertNotBelow()
      const envelope = new Envelope("ask", message, resume)
      const refused = this.submit(envelope)
      if (refused !== undefined) return resume(refused)
      return this.await(envelope, options)
    })

  readonly tell = (message: AnyMessage): Effect.Effect<void, unknown> => this.waitForRoom("tell", message)

  readonly reserve = (tag: string): Effect.Effect<CellReservation, unknown> => {
    const lane = this.laneOf(tag)
    return Effect.map(this.waitForRoom("reserve", { _tag: tag }), () => new CellReservation(this, lane))
  }

  get stop(): Effect.Effect<void> {
    return Effect.suspend(() => {
      stop(this)
      return this.heard === undefined ? Effect.asVoid(this.watch) : Exit.void
    })
  }

  get kill(): Effect.Effect<void> {
    return Effect.sync(() => kill(this))
  }

  get watch(): Effect.Effect<Exit.Exit<void, unknown>> {
    return Effect.callback((resume) => {
      if (this.heard !== undefined) return resume(Exit.succeed(this.heard))
      const watcher = (exit: Exit.Exit<void, unknown>) => resume(Exit.succeed(exit))
      const watchers = (this.watchers ??= new Set())
      watchers.add(watcher)
      return Effect.sync(() => watchers.delete(watcher))
    })
  }

  end(exit: Exit.Exit<void, unknown> = Exit.void): Effect.Effect<void> {
    return Effect.sync(() => end(this, exit))
  }

  crash(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    return Effect.sync(() => crash(this, cause))
  }

  later<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Later<A, E>, never, R> {
    return Effect.contextWith((context: Context.Context<R>) => Exit.succeed(fork(this, context, work)))
  }

  /** Hands an ask over; what the returned effect does, it does when the asker is interrupted. */
  await(envelope: Envelope, options: AskOptions | undefined): Effect.Effect<void> {
    if (options?.deadline !== undefined) {
      const deadlineMs = typeof options.deadline === "number" ? options.deadline : Duration.toMillis(options.deadline)
      this.deadlines ??= new Deadlines(this.clock, this.context, (late, waitMs) => this.timeOut(late, waitMs))
      if (deadlineMs !== Infinity) this.deadlines.add(envelope, deadlineMs)
    }
    return Effect.sync(() => this.abandon(envelope))
  }

  private waitForRoom(kind: "tell" | "reserve", message: AnyMessage): Effect.Effect<void, unknown> {
    return Effect.callback((resume) => {
      if (this.options.mailbox.policy === "suspend") this.assertNotBelow()
      const envelope = new Envelope(kind, message, resume)
      const refused = this.submit(envelope)
      if (refused !== undefined) return resume(refused)
      return Effect.sync(() => this.mailbox.withdraw(envelope))
    })
  }

  /** Gives the envelope room, lets it wait for room, or says why not. */
  private submit(envelope: Envelope): Exit.Exit<never, ActorStopped | MailboxFull> | undefined {
    if (this.ending !== undefined) return Exit.fail(gone(this))
    const lane = this.laneOf(envelope.message._tag)
    if (this.mailbox.offer(lane, envelope)) return undefined
    const { capacity, policy } = this.options.mailbox
    if (policy === "reject") return Exit.fail(new MailboxFull({ path: this.path, capacity }))
    lane.waiting.push(envelope)
    return undefined
  }

  laneOf(tag: string): Lane {
    return this.mailbox.lane(this.options.control?.includes(tag) === true)
  }

  /** The asker went away: withdraws what has not started, interrupts an opted-in handler that has. */
  private abandon(envelope: Envelope): void {
    this.deadlines?.remove(envelope)
    if (this.mailbox.withdraw(envelope)) return
    envelope.abandoned = true
    envelope.worker?.interruptUnsafe()
  }

  private timeOut(envelope: Envelope, deadlineMs: number): void {
    this.abandon(envelope)
    envelope.complete(Exit.fail(new AskTimedOut({ path: this.path, deadlineMs })))
  }

  /** Nothing suspends on an ancestor: asks go down the tree, data goes up by pull. */
  assertNotBelow(): void {
    const fiber = Fiber.getCurrent()
    const asker = fiber === undefined ? undefined : Context.getOrUndefined(fiber.context, Self)
    for (let above = asker; above !== undefined; above = above.parent) {
      if (above === this)
        throw new InvariantViolated({
          invariant: "nothing suspends on an ancestor",
          detail: `${asker?.path} on ${this.path}`
        })
    }
  }
}

/** Room for one message in a lane. */
export class CellReservation {
  private readonly cell: ActorCell
  private readonly lane: Lane
  private held = true

  constructor(cell: ActorCell, lane: Lane) {
    this.cell = cell
    this.lane = lane
  }

  readonly send = (message: AnyMessage): Effect.Effect<void, unknown> =>
    Effect.suspend(() => this.use(new Envelope("tell", message, undefined)) ?? Exit.void)

  readonly ask = (message: AnyMessage, options?: AskOptions): Effect.Effect<unknown, unknown> =>
    Effect.callback((resume) => {
      this.cell.assertNotBelow()
      const envelope = new Envelope("ask", message, resume)
      const refused = this.use(envelope)
      if (refused !== undefined) return resume(refused)
      return this.cell.await(envelope, options)
    })

  get release(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!this.held) return
      this.held = false
      this.lane.reserved--
      this.cell.mailbox.refill(this.lane)
    })
  }

  private use(envelope: Envelope): Exit.Exit<never, ActorStopped> | undefined {
    if (!this.held) throw new InvariantViolated({ invariant: "a reservation is used once", detail: this.cell.path })
    this.held = false
    this.lane.reserved--
    if (this.cell.ending !== undefined) return Exit.fail(gone(this.cell))
    this.cell.mailbox.admit(this.lane, envelope)
    return undefined
  }
}
