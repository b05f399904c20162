/** The ordered queue between fibers that may be stopped between any two operations. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeOrderedQueue } from "../../../src/actors/orderedQueue.ts"
import type { Program, RunOptions } from "../../../src/testing/index.ts"
import type { InvariantName } from "./invariants.ts"
import { Problems } from "./problems.ts"

const entries = [1, 2, 3, 4, 5, 6]
const forced = [10, 20]
const entriesMax = 2

/**
 * Two producers, and a consumer that is interrupted while it waits. Where stretches are split it is not: between a take and
 * what follows, what was taken would be lost with whoever took it.
 */
const exchange = ({ yieldProbability = 0, interruptAt }: RunOptions): Program<unknown, unknown> => {
  const isSplit = yieldProbability > 0
  const taken: Array<number> = []
  const problems = new Problems<InvariantName>()
  const effect = Effect.gen(function* () {
    const queue = makeOrderedQueue<number>({ entriesMax, bytesMax: 100 })
    const producer = yield* Effect.forkChild(Effect.forEach(entries, (n) => queue.offerAll([n], () => 1)))
    const forcing = yield* Effect.forkChild(Effect.forEach(forced, (n) => Effect.sync(() => queue.force(n, 1))))
    const note = (batch: ReadonlyArray<number>) =>
      Effect.sync(() => {
        taken.push(...batch)
        // Each that is forced takes one with it that waits.
        if (batch.length > entriesMax + 2 * forced.length) problems.add("bounded", `${batch.length} at once`)
      })
    const take = Effect.tap(queue.take, (batch) => note(batch?.entries ?? []))
    const impatient = Effect.raceFirst(take, Effect.as(Effect.repeat(Effect.yieldNow, { times: 2 }), undefined))
    while (taken.length < entries.length + forced.length) yield* isSplit || taken.length % 2 === 0 ? take : impatient
    yield* Fiber.joinAll([producer, forcing])
    queue.end()
    return yield* queue.take
  })
  const violations = () => {
    const [own, others] = [taken.filter((n) => n < 10), taken.filter((n) => n >= 10)]
    const isWhole = interruptAt === undefined
    const inOrder = (got: ReadonlyArray<number>, given: ReadonlyArray<number>) =>
      isWhole ? got.join() === given.join() : given.join().startsWith(got.join())
    if (!inOrder(own, entries) || !inOrder(others, forced)) problems.add("nothingLost", `taken ${taken.join()}`)
    return problems.found
  }
  return { effect, violations }
}

export const queuePrograms = { "two producers and a consumer that is interrupted": exchange } as const
