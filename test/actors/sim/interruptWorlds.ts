/** Each public operation as the victim of an interrupt; whoever asked for it goes on afterwards, and so does the session. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { victim } from "../../../src/testing/index.ts"
import { answered, ask, say, type Script, sleep, wait } from "./agent.ts"
import type { World } from "./host.ts"
import { answer, during } from "./hosts.ts"

const talks: Script = { steps: [say, wait, say] }
const thinks: Script = { steps: [say, sleep(50), say] }
const asks: Script = { steps: [say, ask(1), answered, say] }

export const interruptWorlds: Readonly<Record<string, World>> = {
  open: {
    agents: [talks],
    host: (host) =>
      Effect.gen(function* () {
        const opened = yield* victim(host.open())
        // Interrupted between the last step of the open and its end, the session waits for its scope to close.
        if (Exit.isFailure(opened) && !host.ledger.isSplit) host.ledger.hostClosed()
        const session = yield* host.open()
        yield* (yield* host.prompt(session, "t1")).outcome
      }),
    reaches: ["Completed"]
  },
  prompt: {
    agents: [talks],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        yield* victim(Effect.scoped(Effect.flatMap(host.prompt(session, "t1"), (prompt) => prompt.outcome)))
        yield* host.ledger.promptsClosed
        yield* (yield* host.prompt(session, "t2")).outcome
      }),
    reaches: ["Completed"]
  },
  cancel: {
    agents: [thinks],
    host: during((_, prompt) => Effect.andThen(victim(prompt.cancel), prompt.cancel)),
    reaches: ["Cancelled interrupt written acknowledged"]
  },
  "the answer to a permission": {
    agents: [asks],
    host: during((session, prompt, { tries }) =>
      Effect.gen(function* () {
        const first = yield* victim(answer(session, prompt, 0))
        // It counts or it does not: a second one is refused, or is the one.
        if (Exit.isFailure(first)) yield* tries(answer(session, prompt, 0, "no"))
      })
    ),
    reaches: ["Completed", "runtime_request.resolved answer accept"]
  },
  close: {
    agents: [thinks],
    host: during((session) => Effect.andThen(victim(session.close), session.close)),
    reaches: ["Cancelled shutdown written acknowledged"]
  }
}
