/** Requests of the agent: everybody who may settle one, at once. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { answered, ask, askInVain, die, diesWithin, say, sleep, stall, wait, withdraw } from "./agent.ts"
import type { World } from "./host.ts"
import { after, answer, during, together } from "./hosts.ts"

const asks = [{ steps: [say, ask(1), answered, say] }]

export const requestWorlds: Readonly<Record<string, World>> = {
  "a permission that two answer at once": {
    agents: asks,
    host: during((session, prompt, { tries }) =>
      together(
        tries(after(4, answer(session, prompt, 0, "yes"))),
        tries(after(4, answer(session, prompt, 0, "no"))),
        tries(after(4, answer(session, prompt, 0, "maybe")))
      )
    ),
    reaches: [
      "confirmed",
      "AnswerRefused already_answered",
      "AnswerRefused option_not_offered",
      "runtime_request.resolved answer accept",
      "runtime_request.resolved answer decline"
    ]
  },
  "a request that nobody offers, beside a permission": {
    agents: [{ steps: [say, askInVain("x", 0), ask(1), answered, say] }],
    host: during((session, prompt, { tries }) => tries(after(4, answer(session, prompt, 0, "yes")))),
    reaches: ["confirmed", "Completed"]
  },
  "an answer with the cancel of its turn": {
    agents: asks,
    host: during((session, prompt, { tries }) =>
      together(
        tries(after(8, answer(session, prompt, 0))),
        tries(Effect.andThen(prompt.request(0), after(8, session.cancel("t1"))))
      )
    ),
    reaches: [
      "confirmed",
      "AnswerRefused stale",
      "runtime_request.resolved answer accept",
      "runtime_request.cancelled turn_cancelled cancel"
    ]
  },
  "an answer with a withdrawal": {
    agents: [{ steps: [say, ask(1), wait, withdraw(1), answered, say] }],
    host: during((session, prompt, { tries }) => tries(after(12, answer(session, prompt, 0)))),
    reaches: [
      "confirmed",
      "AnswerRefused stale",
      "runtime_request.resolved answer accept",
      "runtime_request.cancelled withdrawn cancel"
    ]
  },
  "an answer with the end of its turn": {
    agents: [{ steps: [say, ask(1), wait] }],
    host: during((session, prompt, { tries }) => tries(after(12, answer(session, prompt, 0)))),
    reaches: [
      "confirmed",
      "AnswerRefused stale",
      "runtime_request.resolved answer accept",
      "runtime_request.cancelled turn_ended cancel"
    ]
  },
  "an answer with the death of the agent": {
    agents: [{ steps: [say, ask(1), wait, die] }],
    host: during((session, prompt, { tries }) => tries(after(12, answer(session, prompt, 0)))),
    reaches: [
      "confirmed",
      "AnswerRefused connection_dead",
      "runtime_request.resolved answer accept",
      "runtime_request.cancelled answer undelivered",
      "Failed connection_closed"
    ]
  },
  "an answer with the close of the session": {
    agents: asks,
    host: during((session, prompt, { tries }) =>
      together(
        tries(after(8, answer(session, prompt, 0))),
        Effect.andThen(prompt.request(0), after(8, session.close)),
        after(30, session.close)
      )
    ),
    reaches: ["confirmed", "AnswerRefused stale", "runtime_request.cancelled turn_cancelled cancel", "SessionClosed"]
  },
  "five open requests and a cancel": {
    agents: [{ steps: [say, ask(1, "1", 2), ask(3, ""), answered, say] }],
    host: during((session, prompt, { tries }) =>
      together(
        ...[0, 1, 2, 3].map((n) => tries(after(12, answer(session, prompt, n)))),
        Effect.andThen(prompt.request(2), after(12, prompt.cancel))
      )
    ),
    reaches: [
      "runtime_request.resolved answer accept",
      "runtime_request.cancelled turn_cancelled cancel",
      "Cancelled interrupt written acknowledged"
    ]
  },
  "requests of every kind of id, one of them twice, answered in any order": {
    agents: [{ steps: [say, ask(0, "0", "", null, -1, "0"), answered, say] }],
    host: during((session, prompt, { tries }) =>
      together(...[0, 1, 2, 3, 4, 5].map((n) => tries(after(20, answer(session, prompt, n)))))
    ),
    reaches: ["confirmed", "Completed"]
  },
  "a stdin that is full, an answer, and death": {
    agents: [{ steps: [say, ask(1), wait, stall, sleep(50), die] }],
    host: during((session, prompt, { tries, ledger }) =>
      Effect.gen(function* () {
        yield* tries(after(12, answer(session, prompt, 0)))
        const nowMs = yield* Clock.currentTimeMillis
        ledger.expect(
          "heardAtOnce",
          "whoever waits for a write hears of the death at once",
          ledger.isHurried || nowMs <= 50
        )
      })
    ),
    reaches: [
      "confirmed",
      "AnswerRefused connection_dead",
      "runtime_request.cancelled answer undelivered",
      "Failed connection_closed"
    ]
  },
  "a stdin that is full for good, an answer and a cancel": {
    agents: [{ deaf: true, steps: [say, ask(1), stall, answered, say] }],
    host: during((session, prompt, { tries }) =>
      together(tries(after(12, answer(session, prompt, 0))), after(30, session.cancel("t1")))
    ),
    reaches: ["AnswerRefused connection_dead", "Cancelled interrupt written", "Failed connection_closed"]
  },
  "requests that a policy decides": {
    agents: [{ steps: [say, ask(1, 2), answered, say] }],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open({ policy: "approve-all" })
        const prompt = yield* host.prompt(session, "t1")
        yield* host.tries(after(30, answer(session, prompt, 1)))
        yield* prompt.outcome
      }),
    reaches: ["runtime_request.resolved policy accept", "AnswerRefused already_answered", "Completed"]
  },
  "a request and a death at any time": {
    agents: [{ steps: [say, ask(1), answered, say], beside: diesWithin(60) }],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        const prompt = yield* host.prompt(session, "t1")
        yield* host.tries(answer(session, prompt, 0))
        yield* prompt.outcome
      }),
    reaches: ["ConnectionClosed exited", "Failed connection_closed", "runtime_request.cancelled answer undelivered"]
  }
}
