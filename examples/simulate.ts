/** A host's own actor under the simulator: one seat, two buyers. As a plain cell it is sold twice; as an actor it never is. */
import * as Effect from "effect/Effect"
import { Actor, Registry } from "../src/index.ts"
import { campaign, describeViolation, type MakeProgram, narrate } from "../src/testing/index.ts"

const makeProgram =
  (isActor: boolean): MakeProgram<unknown, unknown> =>
  () => {
    let seats = 1
    const sold: Array<string> = []
    const buy = Effect.fnUntraced(function* (buyer: string) {
      if (seats === 0) return
      yield* narrate(() => `${buyer} finds a seat`)
      yield* Effect.yieldNow // as when a database is asked
      seats--
      sold.push(buyer)
    })
    const till: Actor.Options<{ readonly _tag: "Buy"; readonly buyer: string }, never, never> = {
      name: "till",
      mailbox: { capacity: 8, policy: "suspend" },
      stopWithin: "1 second",
      behaviour: Effect.succeed({ Buy: ({ buyer }) => buy(buyer) })
    }
    const effect = Effect.gen(function* () {
      const ref = yield* Actor.spawn(till)
      const ask = (buyer: string) => (isActor ? ref.ask({ _tag: "Buy", buyer }) : buy(buyer))
      yield* Effect.forEach(["Ada", "Grace"], ask, { concurrency: "unbounded" })
    }).pipe(Effect.scoped, Effect.provide(Registry.layer))
    return { effect, violations: () => (sold.length > 1 ? [`sold to ${sold.join(" and ")}`] : []) }
  }

for (const isActor of [false, true]) {
  const program = makeProgram(isActor)
  const { runs, violations } = campaign(program, { runs: 1000 })
  const [first] = violations
  console.log(
    `${isActor ? "actor" : "plain"}: ${runs} schedules, ${violations.length > 0 ? "a seat sold twice" : "no violation"}`
  )
  if (first !== undefined) console.log(describeViolation(program, first))
}
