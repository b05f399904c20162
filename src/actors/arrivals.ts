/**
 * Runs that are about to come: their sessions are on their way from another run.
 *
 * Guarantees: as long as one is, whatever concerns it is done one behind the other, in the order in which it was begun.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

export interface Arrivals {
  /** Somebody makes this run, or has just done so and others wait for it still. */
  readonly has: (runId: string | null) => boolean
  /** Does the work when nobody else is at this run. If interrupted while it waits, it is not done. */
  readonly alone: <A, E, R>(runId: string | null, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const makeArrivals = (): Arrivals => {
  const places = new Map<string | null, { readonly turn: Semaphore.Semaphore; users: number }>()

  const alone: Arrivals["alone"] = (runId, work) =>
    Effect.suspend(() => {
      const place = places.get(runId) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
      places.set(runId, place)
      place.users++
      const leave = Effect.sync(() => {
        place.users--
        if (place.users === 0) places.delete(runId)
      })
      return Effect.ensuring(place.turn.withPermits(1)(work), leave)
    })

  return { has: (runId) => places.has(runId), alone }
}
