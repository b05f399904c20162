/** A virtual clock at 0 ms. Time stands still until whoever drives it advances to the next sleeper. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export class SimClock implements Clock.Clock {
  now = 0
  /** Earliest first; of equal times, who slept first. */
  private sleepers: ReadonlyArray<Sleeper> = []

  get sleeping(): number {
    return this.sleepers.length
  }

  get isIdle(): boolean {
    return this.sleepers.length === 0
  }

  /** Moves time to the next sleeper and wakes it. */
  advance(): void {
    const [next, ...later] = this.sleepers
    if (next === undefined) return
    this.sleepers = later
    this.now = next.at
    next.wake()
  }

  currentTimeMillisUnsafe(): number {
    return this.now
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.now * 1e6))
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = this.currentTimeNanos

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis === Infinity) return Effect.never
    return Effect.callback((resume) => {
      const sleeper: Sleeper = { at: this.now + Math.max(millis, 0), wake: () => resume(Effect.void) }
      const place = this.sleepers.findIndex((other) => other.at > sleeper.at)
      this.sleepers = this.sleepers.toSpliced(place === -1 ? this.sleepers.length : place, 0, sleeper)
      return Effect.sync(() => {
        this.sleepers = this.sleepers.filter((other) => other !== sleeper)
      })
    })
  }
}
