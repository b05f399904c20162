/**
 * One-for-one supervision: a crashed permanent child is rebuilt in place, within a restart intensity; beyond it the Cause
 * escalates to the actor that owns the supervisor.
 *
 * On a restart the child's own children are closed first, then its scope; its state is rebuilt by its behaviour; queued
 * messages and the path stay; watchers hear only the final exit.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ResourceUnreleased } from "../../schema/errors.ts"
import type { ActorRef, Options } from "./Actor.ts"
import type { AnyMessage } from "./Message.ts"
import type { Registry } from "./Registry.ts"
import { Self, type SelfShape } from "./Self.ts"
import { start } from "./start.ts"
import { monotonicMs } from "./time.ts"

export interface Intensity {
  /** Restarts of all children together that are tolerated ... */
  readonly restarts: number
  /** ... in any window of this length. */
  readonly within: Duration.Input
  /** Wait before the n-th restart in the window (n counts from 1). */
  readonly backoff: (restart: number) => Duration.Input
}

/** `permanent`: restarted after a crash. `temporary`: a crash is final, and is heard by watchers only. */
export type Restart = "permanent" | "temporary"

export interface Supervisor {
  /** As `Actor.spawn`, owned by the supervisor. A failed first start is the caller's to handle, for either kind of child. */
  readonly spawn: <M extends AnyMessage, E, R>(
    restart: Restart,
    options: Options<M, E, R>
  ) => Effect.Effect<ActorRef<M>, E | ResourceUnreleased, Exclude<R, Scope.Scope | Self> | Registry>
  /** Success when its scope closes; the escalated Cause when the intensity was exceeded. */
  readonly watch: Effect.Effect<Exit.Exit<void, unknown>>
}

/**
 * A supervisor whose children live in the caller's scope, below the caller's `Self`. It escalates by stopping all children
 * and crashing that `Self`, when there is one.
 */
export const make = (intensity: Intensity): Effect.Effect<Supervisor, never, Scope.Scope> =>
  Effect.flatMap(Scope.Scope, (owner) =>
    Effect.withFiber((fiber) => {
      const supervisor = new OneForOne(intensity, fiber.context, Scope.forkUnsafe(owner))
      return Effect.as(
        Scope.addFinalizerExit(supervisor.scope, () => supervisor.closed),
        supervisor
      )
    })
  )

class OneForOne implements Supervisor {
  readonly scope: Scope.Closeable
  private readonly intensity: Intensity
  private readonly context: Context.Context<never>
  private readonly self: SelfShape | undefined
  private readonly clock: Clock.Clock
  /** When the restarts of the window happened, oldest first. */
  private restartedAt: ReadonlyArray<number> = []
  private exit: Exit.Exit<void, unknown> | undefined = undefined
  private readonly watchers = new Set<(exit: Exit.Exit<void, unknown>) => void>()

  constructor(intensity: Intensity, context: Context.Context<never>, scope: Scope.Closeable) {
    this.intensity = intensity
    this.context = context
    this.scope = scope
    this.self = Context.getOrUndefined(context, Self)
    this.clock = Context.get(context, Clock.Clock)
  }

  readonly spawn = <M extends AnyMessage, E, R>(restart: Restart, options: Options<M, E, R>) => {
    const { scope: owner, self: above } = this
    return restart === "permanent"
      ? start(options, { owner, above, supervision: this })
      : start(options, { owner, above })
  }

  get watch(): Effect.Effect<Exit.Exit<void, unknown>> {
    return Effect.callback((resume) => {
      if (this.exit !== undefined) return resume(Exit.succeed(this.exit))
      const watcher = (exit: Exit.Exit<void, unknown>) => resume(Exit.succeed(exit))
      this.watchers.add(watcher)
      return Effect.sync(() => this.watchers.delete(watcher))
    })
  }

  /** Kernel: milliseconds until the crashed child is restarted; `undefined` when the intensity is exceeded. */
  restartAfterMs(): number | undefined {
    const now = monotonicMs(this.clock)
    const from = now - Duration.toMillis(this.intensity.within)
    const recent = this.restartedAt.filter((at) => at > from)
    if (this.exit !== undefined || recent.length >= this.intensity.restarts) return undefined
    this.restartedAt = [...recent, now]
    return Duration.toMillis(this.intensity.backoff(this.restartedAt.length))
  }

  /** Kernel: a permanent child has ended for good. */
  escalate(cause: Cause.Cause<unknown>): void {
    if (this.exit !== undefined) return
    const exit = Exit.failCause(cause)
    this.end(exit)
    Effect.runForkWith(this.context)(Scope.close(this.scope, exit))
    if (this.self !== undefined) Effect.runForkWith(this.context)(this.self.crash(cause))
  }

  /** The finalizer of its scope. */
  readonly closed = Effect.sync(() => this.end(Exit.void))

  private end(exit: Exit.Exit<void, unknown>): void {
    if (this.exit !== undefined) return
    this.exit = exit
    for (const watcher of this.watchers) watcher(exit)
    this.watchers.clear()
  }
}
