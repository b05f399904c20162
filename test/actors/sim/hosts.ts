/** What hosts of several worlds do. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { OpenedSession } from "../../../src/actors/Runner.ts"
import { pause } from "./agent.ts"
import type { Host, Prompt } from "./host.ts"

/** All at once, each to its end. */
export const together = (...effects: ReadonlyArray<Effect.Effect<unknown, unknown, Scope.Scope>>) =>
  Effect.all(effects, { concurrency: "unbounded", discard: true })

/** After at most so many turns of the scheduler. */
export const after = <A, E, R>(turns: number, effect: Effect.Effect<A, E, R>) => Effect.andThen(pause(turns), effect)

/** One session, one prompt `t1` under way, and what else the host does. */
export const during =
  (
    act: (session: OpenedSession, prompt: Prompt, host: Host) => Effect.Effect<unknown, unknown, Scope.Scope>,
    options = {}
  ) =>
  (host: Host) =>
    Effect.gen(function* () {
      const session = yield* host.open()
      const prompt = yield* host.prompt(session, "t1", options)
      yield* act(session, prompt, host)
      yield* prompt.outcome
      yield* session.close
    })

/** Answers the n-th request of a turn, once there is one. */
export const answer = (session: OpenedSession, prompt: Prompt, n: number, optionId = "yes") =>
  Effect.flatMap(prompt.request(n), (id) =>
    id === undefined ? Effect.void : Effect.as(session.answer(id, { _tag: "Selected", optionId }), "confirmed")
  )
