/** An actor that tests talk to: it notes what it handles, waits on request, crashes on request. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Schema from "effect/Schema"
import * as Actor from "../../../src/actors/kernel/Actor.ts"
import type { Ask, Tell } from "../../../src/actors/kernel/Message.ts"

export class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

export type ProbeMessage =
  | Tell<"note", { text: string }>
  | Tell<"urgent", { text: string }>
  | Ask<"echo", { text: string }, string>
  | Ask<"refuse", {}, never, Refused>
  | Ask<"wait", { gate: Deferred.Deferred<void> }, string>
  | Ask<"waitInterruptibly", { gate: Deferred.Deferred<void> }, string>
  | Ask<"waitLater", { gate: Deferred.Deferred<void> }, string>
  | Ask<"waitLaterInterruptibly", { gate: Deferred.Deferred<void> }, string>
  | Ask<"crashLater", { gate: Deferred.Deferred<void> }, string>
  | Tell<"crash">
  | Tell<"crashAtOnce">
  | Tell<"end">

export interface Probe {
  /** What happened, in order. */
  readonly log: Array<string>
  readonly options: (
    changes?: Partial<Actor.Options<ProbeMessage, never, Actor.Self | Scope.Scope>>
  ) => Actor.Options<ProbeMessage, never, Actor.Self | Scope.Scope>
}

export const probe = (name = "probe"): Probe => {
  const log: Array<string> = []
  const wait = (tag: string, gate: Deferred.Deferred<void>) =>
    Deferred.await(gate).pipe(
      Effect.as(tag),
      Effect.onInterrupt(() => Effect.sync(() => log.push(`${tag} interrupted`)))
    )
  const behaviour = Effect.gen(function* () {
    const self = yield* Actor.Self
    yield* Effect.acquireRelease(
      Effect.sync(() => log.push("open")),
      () => Effect.sync(() => log.push("close"))
    )
    return {
      note: (message: { text: string }) => Effect.sync(() => void log.push(message.text)),
      urgent: (message: { text: string }) => Effect.sync(() => void log.push(message.text)),
      echo: (message: { text: string }) => Effect.succeed(message.text),
      refuse: () => Effect.fail(new Refused()),
      wait: (message: { gate: Deferred.Deferred<void> }) => wait("wait", message.gate),
      waitInterruptibly: (message: { gate: Deferred.Deferred<void> }) => wait("waitInterruptibly", message.gate),
      waitLater: (message: { gate: Deferred.Deferred<void> }) => Actor.later(wait("waitLater", message.gate)),
      waitLaterInterruptibly: (message: { gate: Deferred.Deferred<void> }) =>
        Actor.later(wait("waitLaterInterruptibly", message.gate)),
      crashLater: (message: { gate: Deferred.Deferred<void> }) =>
        Actor.later(Effect.andThen(Deferred.await(message.gate), Effect.die(new Error("later")))),
      crash: () => Effect.andThen(Effect.yieldNow, Effect.die(new Error("boom"))),
      crashAtOnce: () => {
        throw new Error("boom at once")
      },
      end: () => self.end()
    }
  })
  return {
    log,
    options: (changes) => ({
      name,
      mailbox: { capacity: 4, policy: "suspend" },
      control: ["urgent"],
      interruptible: ["waitInterruptibly", "waitLaterInterruptibly"],
      stopWithin: "1 second",
      behaviour,
      ...changes
    })
  }
}
