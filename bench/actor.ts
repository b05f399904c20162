/** The actor kernel: an ask, an ask with a deadline, both beside a mailbox of promises; the heap of an idle actor. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Actor from "../src/actors/kernel/Actor.ts"
import type { Ask } from "../src/actors/kernel/Message.ts"
import * as Registry from "../src/actors/kernel/Registry.ts"
import { heapBytes, inTurns, median, microsEach } from "./measure.ts"

/** So many that a round is long beside the tick of the processor's clock, which can be 4 ms. */
const asks = 40_000
const actors = 10_000
const rounds = 75

type Add = Ask<"add", { n: number }, number>

const counter = (name: string): Actor.Options<Add, never, never> => ({
  name,
  mailbox: { capacity: 64, policy: "suspend" },
  stopWithin: "1 second",
  behaviour: Effect.sync(() => {
    let total = 0
    return { add: ({ n }) => Effect.sync(() => (total += n)) }
  })
})

export const run: Effect.Effect<Record<string, number>, unknown> = Effect.suspend(() =>
  Effect.map(Effect.all([askFigures, actorBytes]), ([times, bytes]) => ({ ...times, actorBytes: bytes }))
).pipe(Effect.scoped, Effect.provide(Registry.layer))

const askFigures = Effect.gen(function* () {
  const ref = yield* Actor.spawn(counter("counter"))
  const sequence = (options?: Actor.AskOptions) =>
    Effect.gen(function* () {
      for (let n = 0; n < asks; n++) yield* ref.ask({ _tag: "add", n }, options)
    })
  const rival = promiseCounter()
  const results = yield* Effect.promise(() =>
    inTurns(rounds, {
      promise: () => microsEach(asks, () => rival.sequence(asks)),
      ask: () => microsEach(asks, () => Effect.runPromise(sequence())),
      askDeadline: () => microsEach(asks, () => Effect.runPromise(sequence({ deadline: 30_000 })))
    })
  )
  return {
    askMicros: Math.min(...results.ask),
    askDeadlineMicros: Math.min(...results.askDeadline),
    askVsPromise: median(results.ask.map((micros, round) => micros / results.promise[round]!))
  }
})

const actorBytes = Effect.gen(function* () {
  const owner = yield* Scope.make()
  const options = Array.from({ length: actors }, (_, index) => counter(`idle:${index}`))
  const before = heapBytes()
  const refs = yield* Effect.forEach(options, (option) => Scope.provide(Actor.spawn(option), owner))
  // The spawned loops park in tasks of their own.
  yield* Effect.sleep(0)
  const after = heapBytes()
  yield* Scope.close(owner, Exit.void)
  return (after - before) / refs.length
})

/** The rival: what an ask costs when nothing is guaranteed. */
const promiseCounter = () => {
  const waiting: Array<{ n: number; reply: (total: number) => void }> = []
  let wake = (): void => undefined
  let total = 0
  const loop = async (): Promise<never> => {
    for (;;) {
      const message = waiting.shift()
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      } else {
        total += message.n
        message.reply(total)
      }
    }
  }
  void loop()
  const ask = (n: number): Promise<number> =>
    new Promise((reply) => {
      waiting.push({ n, reply })
      wake()
    })
  return {
    sequence: async (length: number): Promise<void> => {
      for (let n = 0; n < length; n++) await ask(n)
    }
  }
}
