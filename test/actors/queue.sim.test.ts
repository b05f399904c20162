/** The ordered queue between fibers that may be stopped between any two operations. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, it } from "vitest"
import { makeOrderedQueue } from "../../src/actors/orderedQueue.ts"
import { check } from "../../src/testing/index.ts"

const entries = [1, 2, 3, 4, 5, 6]

/**
 * Two producers, and a consumer that is interrupted while it waits. Where stretches are split it is not: between a take and
 * what follows, what was taken would be lost with whoever took it.
 */
const exchange = (isSplit: boolean) => {
  const taken: Array<number> = []
  const effect = Effect.gen(function* () {
    const queue = makeOrderedQueue<number>({ entriesMax: 2, bytesMax: 100 })
    const producer = yield* Effect.forkChild(Effect.forEach(entries, (n) => queue.offerAll([n], () => 1)))
    const forcing = yield* Effect.forkChild(Effect.forEach([10, 20], (n) => Effect.sync(() => queue.force(n, 1))))
    const take = Effect.tap(queue.take, (batch) => Effect.sync(() => taken.push(...(batch?.entries ?? []))))
    const impatient = Effect.raceFirst(take, Effect.as(Effect.repeat(Effect.yieldNow, { times: 2 }), undefined))
    while (taken.length < entries.length + 2) yield* isSplit || taken.length % 2 === 0 ? take : impatient
    yield* Fiber.joinAll([producer, forcing])
    queue.end()
    return yield* queue.take
  })
  const violations = () => {
    const own = taken.filter((n) => n < 10)
    return own.join() === entries.join() ? [] : [`taken ${taken.join()}`]
  }
  return { effect, violations }
}

it("nothing is lost, nothing comes twice, nobody waits for ever", () => {
  const found = Array.from({ length: 600 }, (_, n) => {
    const yieldProbability = [0, 0.1, 0.15][n % 3]!
    return check(exchange(yieldProbability > 0), { seed: n, yieldProbability, maxSteps: 5_000 })
  })
  expect(found.flatMap(({ violations }) => violations).slice(0, 3)).toEqual([])
})
