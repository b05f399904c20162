import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcTest from "effect/rpc/RpcTest"
import * as Schema from "effect/Schema"
import { describe } from "vitest"
import * as Actor from "../../../src/actors/kernel/Actor.ts"
import type { Handlers } from "../../../src/actors/kernel/Message.ts"
import * as Registry from "../../../src/actors/kernel/Registry.ts"
import { type GroupMessage, toGroupHandlers } from "../../../src/actors/kernel/RpcMessages.ts"

class Overdrawn extends Schema.TaggedError<Overdrawn>()("Overdrawn", { by: Schema.Number }) {}

const Account = RpcGroup.make(
  Rpc.make("deposit", { payload: { amount: Schema.Number }, success: Schema.Number }),
  Rpc.make("withdraw", { payload: { amount: Schema.Number }, success: Schema.Number, error: Overdrawn }),
  Rpc.make("balance", { success: Schema.Number })
)

type AccountMessage = GroupMessage<typeof Account>

const handlers = (): Handlers<AccountMessage> => {
  let balance = 0
  return {
    deposit: ({ payload }) => Effect.sync(() => (balance += payload.amount)),
    withdraw: ({ payload }) =>
      payload.amount > balance
        ? Effect.fail(new Overdrawn({ by: payload.amount - balance }))
        : Effect.sync(() => (balance -= payload.amount)),
    balance: () => Effect.sync(() => balance)
  }
}

describe("an rpc group", () => {
  it.effect("is a protocol that the kernel calls directly", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn<AccountMessage, never, never>({
        name: "account",
        mailbox: { capacity: 4, policy: "suspend" },
        stopWithin: "1 second",
        behaviour: Effect.sync(handlers)
      })
      expect(yield* ref.ask({ _tag: "deposit", payload: { amount: 5 } })).toBe(5)
      const error = yield* Effect.flip(ref.ask({ _tag: "withdraw", payload: { amount: 7 } }))
      expect(error).toEqual(new Overdrawn({ by: 2 }))
    }).pipe(Effect.provide(Registry.layer))
  )

  it.effect("is served at a boundary by the same record of handlers", () =>
    Effect.gen(function* () {
      const client = yield* RpcTest.makeClient(Account)
      expect(yield* client.deposit({ amount: 5 })).toBe(5)
      expect(yield* Effect.flip(client.withdraw({ amount: 7 }))).toEqual(new Overdrawn({ by: 2 }))
      expect(yield* client.balance()).toBe(5)
    }).pipe(Effect.provide(Account.toLayer(toGroupHandlers(Account, handlers()))))
  )

  it.effect("is served by asking an actor, which keeps its order; later replies are awaited", () =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn<AccountMessage, never, Actor.Self>({
        name: "account",
        mailbox: { capacity: 4, policy: "suspend" },
        stopWithin: "1 second",
        behaviour: Effect.sync(() => ({ ...handlers(), balance: () => Actor.later(Effect.as(Effect.yieldNow, 42)) }))
      })
      const served = toGroupHandlers(Account, {
        deposit: (message) => Effect.orDie(ref.ask(message)),
        withdraw: (message) =>
          Effect.catchTags(ref.ask(message), {
            ActorStopped: Effect.die,
            ActorCrashed: Effect.die,
            MailboxFull: Effect.die,
            AskTimedOut: Effect.die
          }),
        balance: (message) => Effect.orDie(ref.ask(message))
      })
      const client = yield* Effect.provide(RpcTest.makeClient(Account), Account.toLayer(served))
      expect(yield* client.deposit({ amount: 5 })).toBe(5)
      expect(yield* client.balance()).toBe(42)
    }).pipe(Effect.provide(Registry.layer))
  )
})
