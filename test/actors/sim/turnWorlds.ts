/** Prompts and their cancels, in every order. */
import * as Effect from "effect/Effect"
import { limits } from "../../../src/schema/limits.ts"
import { flood, pause, respondTooEarly, say, silence, sleep, wait } from "./agent.ts"
import type { World } from "./host.ts"
import { after, during, together } from "./hosts.ts"

const talks = [{ steps: [say, wait, say, wait, say] }]

export const turnWorlds: Readonly<Record<string, World>> = {
  "open, prompt and close": {
    agents: talks,
    host: during(() => Effect.void),
    reaches: ["Completed", "turn.completed"]
  },
  "a prompt whose holder goes away": {
    agents: talks,
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        yield* Effect.scoped(Effect.andThen(host.prompt(session, "t1"), pause(30)))
        yield* host.ledger.promptsClosed
        yield* (yield* host.prompt(session, "t2")).outcome
      }),
    reaches: ["Cancelled interrupt", "Cancelled interrupt written acknowledged", "Completed"]
  },
  "a cancel at any time": {
    agents: talks,
    host: during((session, _, { tries }) => tries(after(40, session.cancel("t1")))),
    reaches: [
      "Completed",
      "Cancelled interrupt",
      "Cancelled interrupt written acknowledged",
      "cancelling",
      "ended",
      "turn.interrupted"
    ]
  },
  "three cancels at once": {
    agents: talks,
    host: during((session, prompt, { tries }) =>
      together(
        tries(after(20, session.cancel("t1"))),
        tries(after(20, session.cancel())),
        tries(after(20, prompt.cancel))
      )
    ),
    reaches: ["Cancelled interrupt written acknowledged", "idle"]
  },
  "a cancel of a turn that waits": {
    agents: talks,
    host: during((session, _, host) =>
      Effect.gen(function* () {
        const [second, third] = [yield* host.prompt(session, "t2"), yield* host.prompt(session, "t3")]
        yield* host.tries(after(40, session.cancel("t2")))
        yield* together(second.outcome, third.outcome)
      })
    ),
    reaches: ["Cancelled interrupt", "Completed", "Cancelled interrupt written acknowledged"]
  },
  "a cancel that may come before its prompt": {
    agents: talks,
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        yield* together(
          host.tries(after(6, session.cancel("t1"))),
          after(
            6,
            Effect.flatMap(host.prompt(session, "t1"), (prompt) => prompt.outcome)
          )
        )
        yield* (yield* host.prompt(session, "t2")).outcome
      }),
    reaches: ["remembered", "cancelling", "Cancelled interrupt", "Completed"]
  },
  "a cancel that the agent does not hear, and a turn that waits": {
    agents: [{ deaf: true, steps: [say, silence] }],
    host: during((session, prompt, host) =>
      Effect.gen(function* () {
        const second = yield* host.prompt(session, "t2", { deadline: 10_000 })
        const outcome = yield* after(20, prompt.cancel)
        yield* second.outcome
        yield* Effect.sleep(60_000)
        const isRetired = outcome._tag === "Cancelled" && outcome.written
        host.ledger.expect(
          "nothingLeft",
          "a retired agent is ended",
          host.ledger.isHurried || !isRetired || host.ledger.agents.every((one) => one.isEnded())
        )
      })
    ),
    reaches: ["Cancelled interrupt written", "Failed connection_closed"]
  },
  "a deadline with the response": {
    agents: [{ steps: [say, sleep(100), say] }],
    host: during((session, _, host) => Effect.flatMap(host.prompt(session, "t2"), (second) => second.outcome), {
      deadline: 100
    }),
    reaches: ["Completed", "Failed turn_timeout"]
  },
  "a deadline that the agent does not hear": {
    agents: [{ deaf: true, steps: [say, silence] }],
    host: during((session, _, { tries }) => tries(after(20, session.cancel("t1"))), { deadline: 10 }),
    reaches: ["Failed turn_timeout", "Cancelled interrupt written"]
  },
  "text behind the response, and a turn that waits": {
    agents: [{ deaf: true, steps: [wait, respondTooEarly] }],
    host: during((session, _, host) => Effect.flatMap(host.prompt(session, "t2"), (second) => second.outcome)),
    reaches: ["Completed"]
  },
  "a silence that ends when it is told": {
    agents: [{ steps: [say, sleep(limits.stalledMs)] }],
    host: during((session, _, { tries }) =>
      tries(Effect.andThen(Effect.sleep(limits.stalledMs), session.cancel("t1")))
    ),
    reaches: ["Completed", "notice stalled"]
  },
  "two prompts of one id": {
    agents: [{ steps: [say, flood(16), say] }],
    host: during((session, _, host) => host.tries(host.prompt(session, "t1", { events: "discard" }))),
    reaches: ["PromptRefused duplicate_turn_id", "Completed"]
  }
}
