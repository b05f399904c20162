import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeOrderedQueue, type Offer, type OrderedQueue } from "../../src/actors/orderedQueue.ts"
import { seeded } from "../../src/testing/choices.ts"

interface Item {
  readonly name: string
  readonly bytes: number
}

const item = (name: string, bytes = 1): Item => ({ name, bytes })
const sizeOf = (one: Item) => one.bytes

const makeQueue = (bounds: Partial<{ entriesMax: number; bytesMax: number }> = {}): OrderedQueue<Item> =>
  makeOrderedQueue({ entriesMax: 4, bytesMax: 100, ...bounds })

const offer = (queue: OrderedQueue<Item>, ...items: ReadonlyArray<Item>): Offer => queue.offer(items, sizeOf)

const names = (batch: { readonly entries: ReadonlyArray<Item> } | undefined) => batch?.entries.map((one) => one.name)

const takeNames = (queue: OrderedQueue<Item>) => Effect.map(queue.take, names)

const numbered = (count: number, bytes = 1) => Array.from({ length: count }, (_, n) => item(`${n}`, bytes))

describe("the bounds of an ordered queue", () => {
  it.effect("admits entries up to the bound, and the one past it once there is room", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      expect(offer(queue, ...numbered(4)).isAdmitted()).toBe(true)
      const past = offer(queue, item("past"))
      expect(past.isAdmitted()).toBe(false)
      expect(queue.depth()).toEqual({ entries: 4, bytes: 4 })
      expect(yield* takeNames(queue)).toEqual(["0", "1", "2", "3"])
      expect(past.isAdmitted()).toBe(true)
      expect(yield* takeNames(queue)).toEqual(["past"])
    })
  )

  it.effect("admits bytes up to the bound, and the entry that goes one byte past it once there is room", () =>
    Effect.gen(function* () {
      const exact = makeQueue()
      expect(offer(exact, item("a", 60), item("b", 40)).isAdmitted()).toBe(true)
      expect(exact.depth()).toEqual({ entries: 2, bytes: 100 })
      const queue = makeQueue()
      const past = offer(queue, item("a", 60), item("b", 41))
      expect(past.isAdmitted()).toBe(false)
      expect(queue.depth()).toEqual({ entries: 1, bytes: 60 })
      expect(yield* takeNames(queue)).toEqual(["a"])
      expect(past.isAdmitted()).toBe(true)
      expect(yield* takeNames(queue)).toEqual(["b"])
    })
  )

  it.effect("admits one larger entry when it is empty, and nothing beside it", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      expect(offer(queue, item("large", 101)).isAdmitted()).toBe(true)
      const behind = offer(queue, item("free", 0))
      expect(behind.isAdmitted()).toBe(false)
      expect(yield* takeNames(queue)).toEqual(["large"])
      expect(behind.isAdmitted()).toBe(true)
      const second = offer(queue, item("large again", 101))
      expect(second.isAdmitted()).toBe(false)
      expect(yield* takeNames(queue)).toEqual(["free"])
      expect(yield* takeNames(queue)).toEqual(["large again"])
    })
  )

  it.effect("lets a waiting entry pass that is larger than the bound, alone", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      offer(queue, item("a"), item("large", 500), item("b"))
      const batches = [yield* takeNames(queue), yield* takeNames(queue), yield* takeNames(queue)]
      expect(batches).toEqual([["a"], ["large"], ["b"]])
    })
  )
})

describe("producers of an ordered queue", () => {
  /** Offers in a fiber of its own, and says in `order` when all is admitted. */
  const produce = (queue: OrderedQueue<Item>, order: Array<string>, name: string, ...items: ReadonlyArray<Item>) =>
    Effect.forkChild(
      Effect.andThen(
        queue.offerAll(items, sizeOf),
        Effect.sync(() => order.push(name))
      ),
      { startImmediately: true }
    )

  it.effect("are admitted in the order in which they came, whoever would fit first", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 2 })
      const order: Array<string> = []
      const producers = [
        yield* produce(queue, order, "first", item("a1"), item("a2"), item("a3")),
        yield* produce(queue, order, "second", item("b1", 100), item("b2", 50)),
        yield* produce(queue, order, "third", item("c1"))
      ]
      expect(order).toEqual([])
      expect(yield* takeNames(queue)).toEqual(["a1", "a2"])
      expect(yield* takeNames(queue)).toEqual(["a3"])
      expect(yield* takeNames(queue)).toEqual(["b1"])
      expect(yield* takeNames(queue)).toEqual(["b2", "c1"])
      yield* Fiber.joinAll(producers)
      expect(order).toEqual(["first", "second", "third"])
    })
  )

  it.effect("stand before what is forced while they wait, and wait no longer", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 1 })
      const order: Array<string> = []
      const producers = [
        yield* produce(queue, order, "first", item("a1"), item("a2")),
        yield* produce(queue, order, "second", item("b1"))
      ]
      queue.force(item("last"), 7)
      yield* Fiber.joinAll(producers)
      expect(order).toEqual(["first", "second"])
      expect(queue.depth()).toEqual({ entries: 4, bytes: 10 })
      expect(yield* takeNames(queue)).toEqual(["a1", "a2", "b1", "last"])
      expect(queue.depth()).toEqual({ entries: 0, bytes: 0 })
    })
  )

  it.effect("that are interrupted take back what is not admitted, and only that", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 2 })
      const order: Array<string> = []
      const first = yield* produce(queue, order, "first", ...numbered(5))
      const second = yield* produce(queue, order, "second", item("after"))
      yield* Fiber.interrupt(first)
      expect(yield* takeNames(queue)).toEqual(["0", "1"])
      yield* Fiber.join(second)
      expect(yield* takeNames(queue)).toEqual(["after"])
      expect(order).toEqual(["second"])
    })
  )

  it.effect("that abandon an offer learn how much of it was not admitted, once", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 2 })
      const one = offer(queue, ...numbered(5))
      expect(one.abandon()).toBe(3)
      expect(offer(queue).abandon()).toBe(0)
      expect(yield* takeNames(queue)).toEqual(["0", "1"])
      expect(queue.depth()).toEqual({ entries: 0, bytes: 0 })
      const whole = offer(queue, item("whole"))
      expect(whole.abandon()).toBe(0)
      expect(yield* takeNames(queue)).toEqual(["whole"])
    })
  )

  it.effect("that are interrupted while they wait for an offer leave it standing", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 1 })
      const one = offer(queue, item("a"), item("b"))
      const waiting = yield* Effect.forkChild(one.admitted, { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      expect(yield* takeNames(queue)).toEqual(["a"])
      expect(one.isAdmitted()).toBe(true)
      expect(yield* takeNames(queue)).toEqual(["b"])
    })
  )
})

describe("the end of an ordered queue", () => {
  it.effect("gives what was admitted, then nothing, and lets nobody wait", () =>
    Effect.gen(function* () {
      const queue = makeQueue({ entriesMax: 2 })
      const waiting = yield* Effect.forkChild(queue.offerAll(numbered(3), sizeOf), { startImmediately: true })
      queue.end()
      queue.end()
      yield* Fiber.join(waiting)
      expect(offer(queue, item("late")).isAdmitted()).toBe(true)
      queue.force(item("forced"), 1)
      yield* queue.offerAll(numbered(9), sizeOf)
      expect(yield* takeNames(queue)).toEqual(["0", "1"])
      expect(yield* queue.take).toBeUndefined()
      expect(yield* queue.take).toBeUndefined()
    })
  )

  it.effect("wakes a consumer that waits", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      const taking = yield* Effect.forkChild(queue.take, { startImmediately: true })
      queue.end()
      expect(yield* Fiber.join(taking)).toBeUndefined()
    })
  )
})

describe("the consumer of an ordered queue", () => {
  it.effect("is woken by an offer and by a force, and not by an offer of nothing", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      const first = yield* Effect.forkChild(takeNames(queue), { startImmediately: true })
      offer(queue)
      yield* Effect.yieldNow
      expect(first.pollUnsafe()).toBeUndefined()
      offer(queue, item("offered"))
      expect(yield* Fiber.join(first)).toEqual(["offered"])
      const second = yield* Effect.forkChild(takeNames(queue), { startImmediately: true })
      queue.force(item("forced"), 1)
      expect(yield* Fiber.join(second)).toEqual(["forced"])
    })
  )

  it.effect("that is interrupted takes nothing, and another may take its place", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      const first = yield* Effect.forkChild(queue.take, { startImmediately: true })
      yield* Fiber.interrupt(first)
      offer(queue, item("kept"))
      expect(yield* takeNames(queue)).toEqual(["kept"])
    })
  )

  it.effect("is one: a second one beside it is a defect", () =>
    Effect.gen(function* () {
      const queue = makeQueue()
      yield* Effect.forkChild(queue.take, { startImmediately: true })
      const defect = yield* Effect.catchDefect(queue.take, (defect) => Effect.succeed(defect))
      expect(defect).toMatchObject({ invariant: "orderedQueue.oneConsumer" })
    })
  )
})

/** What one step of a random history does to the queue. */
type Step = "offer" | "abandon" | "take" | "force"

describe("any history of offers, takes, forces and abandons", () => {
  const entriesMax = 3
  const bytesMax = 20

  const play = (seed: number) =>
    Effect.gen(function* () {
      const random = seeded(seed)
      const below = (max: number) => Math.floor(random() * max)
      const queue = makeQueue({ entriesMax, bytesMax })
      // What was offered and not taken back, in order: exactly this must come out.
      let expected: Array<string> = []
      const taken: Array<string> = []
      const pending: Array<{ readonly offer: Offer; readonly names: ReadonlyArray<string> }> = []
      let forcedBytes = 0
      let next = 0
      const fresh = () => item(`${next++}`, below(bytesMax + 5))

      const take = Effect.gen(function* () {
        if (queue.depth().entries === 0) return
        taken.push(...(names(yield* queue.take) ?? []))
        forcedBytes = 0
      })
      const steps: Record<Step, Effect.Effect<void>> = {
        offer: Effect.sync(() => {
          const items = Array.from({ length: below(6) }, fresh)
          const offered = offer(queue, ...items)
          expected.push(...items.map((one) => one.name))
          if (!offered.isAdmitted()) pending.push({ offer: offered, names: items.map((one) => one.name) })
        }),
        abandon: Effect.sync(() => {
          const one = pending.splice(below(pending.length), 1)[0]
          if (one === undefined) return
          const gone = new Set(one.names.slice(one.names.length - one.offer.abandon()))
          expected = expected.filter((name) => !gone.has(name))
        }),
        take,
        force: Effect.sync(() => {
          const one = fresh()
          expected.push(one.name)
          queue.force(one, one.bytes)
          forcedBytes = Infinity
        })
      }
      const kinds: ReadonlyArray<Step> = ["offer", "offer", "offer", "abandon", "take", "take", "force"]
      for (let n = 0; n < 60; n++) {
        yield* steps[kinds[below(kinds.length)]!]
        const { entries, bytes } = queue.depth()
        if (forcedBytes === 0) expect(entries <= entriesMax && (bytes <= bytesMax || entries === 1)).toBe(true)
        const isWaiting = pending.some((one) => !one.offer.isAdmitted())
        if (isWaiting) expect(entries).toBeGreaterThan(0)
      }
      while (queue.depth().entries > 0) yield* take
      expect(taken).toEqual(expected)
      expect(pending.every((one) => one.offer.isAdmitted())).toBe(true)
    })

  it.effect("gives everything that was not taken back, once and in order, within the bounds", () =>
    Effect.forEach(
      Array.from({ length: 200 }, (_, seed) => seed),
      play,
      { discard: true }
    )
  )
})
