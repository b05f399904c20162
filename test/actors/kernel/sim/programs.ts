/** What an actor's life is made of, as programs for the simulator, each with its ledger. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Actor from "../../../../src/actors/kernel/Actor.ts"
import * as Registry from "../../../../src/actors/kernel/Registry.ts"
import * as Supervisor from "../../../../src/actors/kernel/Supervisor.ts"
import { type Program, victim } from "../../../../src/testing/index.ts"
import { KernelLedger, type Message } from "./kernelLedger.ts"

const actor = (
  ledger: KernelLedger,
  changes?: Partial<Actor.Options<Message, never, Scope.Scope>>
): Actor.Options<Message, never, Scope.Scope> => ({
  name: "actor",
  mailbox: { capacity: 2, policy: "suspend" },
  control: ["urgent"],
  interruptible: ["gentle"],
  stopWithin: "10 seconds",
  behaviour: Effect.gen(function* () {
    yield* ledger.resource
    yield* Effect.forkScoped(Effect.never)
    yield* ledger.resource
    return {
      now: ({ n }) => Effect.succeed(n),
      slow: ({ n }) => Effect.as(Effect.repeat(Effect.yieldNow, { times: 2 }), n),
      later: ({ n }) => Actor.later(Effect.as(Effect.sleep(10), n)),
      gentle: ({ n }) => Effect.as(Effect.sleep(10), n),
      crash: () => Effect.andThen(Effect.yieldNow, Effect.die("boom")),
      crashLater: () => Actor.later(Effect.andThen(Effect.sleep(5), Effect.die("boom later"))),
      urgent: () => Effect.void
    }
  }),
  ...changes
})

const program = (
  body: (ledger: KernelLedger) => Effect.Effect<unknown, unknown, Scope.Scope | Registry.Registry>
): (() => Program<unknown, unknown>) => {
  return () => {
    const ledger = new KernelLedger()
    const effect = Effect.provideService(Effect.scoped(body(ledger)), Registry.Registry, ledger.table)
    return { effect, violations: ledger.violations, reached: ledger.reached }
  }
}

const messages: ReadonlyArray<Message> = [
  { _tag: "slow", n: 1 },
  { _tag: "now", n: 2 },
  { _tag: "later", n: 3 },
  { _tag: "gentle", n: 4 },
  { _tag: "urgent" },
  { _tag: "slow", n: 5 }
]

const start = program((ledger) => Actor.spawn(actor(ledger)))

const ask = program((ledger) =>
  Effect.gen(function* () {
    const ref = yield* Actor.spawn(actor(ledger))
    const forked = yield* Effect.forEach(messages, (message) => ledger.fork(ref, message))
    for (const message of messages) yield* ledger.ask(ref, message)
    yield* Fiber.awaitAll(forked)
  })
)

const askOfVictim = program((ledger) =>
  Effect.gen(function* () {
    const ref = yield* Actor.spawn(actor(ledger))
    const forked = yield* Effect.forEach(messages, (message) => ledger.fork(ref, message))
    yield* victim(Effect.forEach(messages, (message) => ledger.ask(ref, message)))
    yield* Fiber.awaitAll(forked)
    const exit = yield* ledger.ask(ref, { _tag: "now", n: 9 })
    if (Exit.isFailure(exit)) return yield* Effect.die("the actor did not survive its asker")
  })
)

const askWithDeadline = program((ledger) =>
  Effect.gen(function* () {
    const ref = yield* Actor.spawn(actor(ledger))
    const forked = yield* Effect.forEach(messages, (message, index) =>
      ledger.fork(ref, message, { deadline: 5 * (index % 3) + 3 })
    )
    yield* victim(Effect.forEach(messages, (message) => ledger.ask(ref, message, { deadline: 8 })))
    yield* Fiber.awaitAll(forked)
  })
)

const stopped = (how: (ref: Actor.ActorRef<Message>) => Effect.Effect<unknown>) =>
  program((ledger) =>
    Effect.gen(function* () {
      const ref = yield* Actor.spawn(actor(ledger))
      const forked = yield* Effect.forEach(messages, (message) => ledger.fork(ref, message))
      const room = yield* Effect.forkChild(Effect.exit(Effect.flatMap(ref.reserve("slow"), (room) => room.release)))
      yield* Effect.yieldNow
      yield* victim(how(ref))
      yield* Fiber.awaitAll([...forked, room])
      yield* ref.watch
    })
  )

const restart = program((ledger) =>
  Effect.gen(function* () {
    ledger.stopsLast = true
    const supervisor = yield* Supervisor.make({ restarts: 3, within: "1 hour", backoff: () => 5 })
    // Time may pass at any step; a restart is certain only where closing has no deadline to miss.
    const ref = yield* supervisor.spawn("permanent", actor(ledger, { stopWithin: Duration.infinity }))
    const crashes = [{ _tag: "crash" }, { _tag: "crashLater" }] as const
    const forked = yield* Effect.forEach([...messages, ...crashes, ...messages], (message) => ledger.fork(ref, message))
    yield* victim(ledger.ask(ref, { _tag: "crash" }))
    yield* Fiber.awaitAll(forked)
    const exit = yield* ledger.ask(ref, { _tag: "now", n: 9 })
    if (Exit.isFailure(exit)) return yield* Effect.die("not restarted")
  })
)

const stoppedRestart = program((ledger) =>
  Effect.gen(function* () {
    const supervisor = yield* Supervisor.make({ restarts: 3, within: "1 hour", backoff: () => 5 })
    const ref = yield* supervisor.spawn("permanent", actor(ledger))
    const crashes = [{ _tag: "crashLater" }, { _tag: "crash" }] as const
    const forked = yield* Effect.forEach([...crashes, ...messages], (message) => ledger.fork(ref, message))
    yield* Effect.sleep(4)
    if (ref.state() === "starting") ledger.seen.add("a stop during a restart")
    yield* victim(ref.stop)
    yield* Fiber.awaitAll(forked)
    yield* ref.watch
  })
)

const escalation = program((ledger) =>
  Effect.gen(function* () {
    const supervisor = yield* Supervisor.make({ restarts: 1, within: "1 hour", backoff: () => 5 })
    const ref = yield* supervisor.spawn("permanent", actor(ledger))
    const crashes = Effect.repeat(Effect.exit(ref.ask({ _tag: "crash" })), { times: 2 })
    const forked = yield* Effect.forEach(messages, (message) => ledger.fork(ref, message))
    yield* crashes
    yield* Fiber.awaitAll(forked)
    yield* supervisor.watch
    yield* ref.watch
  })
)

const family = program((ledger) =>
  Effect.gen(function* () {
    const parent = yield* Actor.spawn<Message, never, Scope.Scope | Actor.Self | Registry.Registry>({
      ...actor(ledger),
      name: "parent",
      behaviour: Effect.gen(function* () {
        const child = yield* Effect.orDie(Actor.spawn(actor(ledger)))
        yield* ledger.outlives(child)
        yield* ledger.resource
        const forward = ({ n }: { n: number }) => Effect.orDie(child.ask({ _tag: "slow", n }))
        return {
          now: forward,
          slow: forward,
          later: (message) => Actor.later(forward(message)),
          gentle: forward,
          crash: () => Effect.orDie(child.ask({ _tag: "crash" })),
          crashLater: () => Actor.later(Effect.die("boom later")),
          urgent: () => Effect.void
        }
      })
    })
    const forked = yield* Effect.forEach(messages, (message) => ledger.fork(parent, message))
    yield* victim(ledger.ask(parent, { _tag: "crash" }))
    yield* Fiber.awaitAll(forked)
  })
)

export const kernelPrograms = {
  start,
  ask,
  "ask, when only one asker is interrupted": askOfVictim,
  "ask with a deadline": askWithDeadline,
  stop: stopped((ref) => ref.stop),
  kill: stopped((ref) => ref.kill),
  "a supervised restart": restart,
  "a stop during a restart": stoppedRestart,
  "an escalation": escalation,
  "a parent with a child": family
} as const satisfies Readonly<Record<string, () => Program<unknown, unknown>>>

/** The rare states that many schedules of each must get into. */
export const kernelReaches: Readonly<Record<keyof typeof kernelPrograms, ReadonlyArray<string>>> = {
  start: [],
  ask: ["ActorStopped"],
  "ask, when only one asker is interrupted": ["a reply that comes too late"],
  "ask with a deadline": ["AskTimedOut", "a reply that comes too late"],
  stop: ["ActorStopped", "a stop that misses its deadline"],
  kill: ["ActorStopped", "a stop that misses its deadline"],
  "a supervised restart": ["ActorCrashed", "a restart"],
  "a stop during a restart": ["ActorCrashed", "ActorStopped", "a stop during a restart"],
  "an escalation": ["ActorCrashed", "a restart"],
  "a parent with a child": ["ActorCrashed"]
}
