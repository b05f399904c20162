/**
 * Bounds that are reached. These worlds need limits far below ours, which only a test can put in their place
 * (`bounds.sim.test.ts`): a campaign with the limits of production runs none of them.
 */
import * as Effect from "effect/Effect"
import { answered, ask, die, flood, respondTooEarly, say, wait } from "./agent.ts"
import type { World } from "./host.ts"
import { after, answer, during, together } from "./hosts.ts"

const floods = [{ steps: [say, flood(40), say] }]

export const boundWorlds: Readonly<Record<string, World>> = {
  "a flood that is read": {
    agents: floods,
    host: during(() => Effect.void),
    reaches: ["Completed"]
  },
  "a subscriber that stands still, and a cancel": {
    agents: floods,
    host: during((session) => after(60, session.cancel("t1")), { events: "stalled" }),
    reaches: ["undelivered events", "Cancelled interrupt written acknowledged"]
  },
  "a subscriber that stands still, and a deadline": {
    agents: floods,
    host: during(() => Effect.void, { events: "stalled", deadline: 50 }),
    reaches: ["undelivered events", "Failed turn_timeout"]
  },
  "a subscriber that stands still, and a close": {
    agents: floods,
    host: during((session) => after(60, session.close), { events: "stalled" }),
    reaches: ["undelivered events", "Cancelled shutdown written acknowledged"]
  },
  "a subscriber that stands still, the death of the agent, and a cancel": {
    agents: [{ steps: [say, flood(40), die] }],
    host: during((_, prompt) => after(60, prompt.cancel), { events: "stalled" }),
    reaches: ["undelivered events", "Cancelled interrupt written"]
  },
  "a subscriber of everything that stands still": {
    agents: [{ deaf: true, steps: [flood(16), wait, respondTooEarly] }],
    host: (host) =>
      Effect.gen(function* () {
        yield* host.runner.events()
        const session = yield* host.open()
        const first = yield* host.prompt(session, "t1", { deadline: 500 })
        const second = yield* host.prompt(session, "t2", { deadline: 500 })
        yield* together(after(90, first.cancel), after(90, second.cancel))
      }),
    reaches: ["undelivered events", "Cancelled interrupt written acknowledged"]
  },
  "a subscriber that went away, and one to a prompt that was refused": {
    agents: floods,
    host: (host) =>
      Effect.gen(function* () {
        yield* Effect.scoped(host.runner.events())
        const session = yield* host.open()
        const prompt = yield* host.prompt(session, "t1")
        yield* host.tries(session.prompt("t1", { turnId: "t1" }))
        yield* prompt.outcome
      }),
    reaches: ["Completed", "PromptRefused duplicate_turn_id"]
  },
  "more requests than may be open": {
    agents: [{ steps: [say, ask(1, 2, 3, 4, 5, 6), answered, say] }],
    host: during((session, prompt, { tries }) => together(...[0, 1, 2].map((n) => tries(answer(session, prompt, n))))),
    reaches: ["confirmed", "Completed", "notice too_many_requests"]
  },
  "more prompts than may wait": {
    agents: [{ steps: [say, wait] }],
    host: during((session, _, { tries, prompt }) =>
      together(
        ...["t2", "t3", "t4", "t5"].map((turnId) =>
          tries(Effect.flatMap(prompt(session, turnId), (handle) => handle.outcome))
        )
      )
    ),
    reaches: ["Completed", "PromptRefused queue_full"]
  }
}
