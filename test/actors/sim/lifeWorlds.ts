/** Lives of sessions and their agents: opened, closed, killed, crashed, at any time. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type * as Journal from "../../../src/actors/Journal.ts"
import type { OpenedSession } from "../../../src/actors/Runner.ts"
import { agentSession, initializeResult, respond } from "../host.ts"
import { answered, ask, diesWithin, killed, pause, say, type Script, silence, wait } from "./agent.ts"
import type { Faults, Host, World } from "./host.ts"
import { after, answer, during, together } from "./hosts.ts"
import { PlantedDefect } from "./watchedTable.ts"

const initializedOnly: Script["handshake"] = (agent) =>
  Effect.flatMap(agent.receive, (frame) => agent.send(respond(frame, initializeResult)))

const withModes: Script["handshake"] = Effect.fnUntraced(function* (agent) {
  yield* agent.send(respond(yield* agent.receive, initializeResult))
  const modes = { currentModeId: "n", availableModes: ["m", "n"].map((id) => ({ id, name: id })) }
  yield* agent.send(respond(yield* agent.receive, { sessionId: agentSession, modes }))
})

const talks: Script = { steps: [say, wait, say] }
const asks: Script = { steps: [say, ask(1), answered, say] }

export const lifeWorlds: Readonly<Record<string, World>> = {
  "an agent that dies before its session is open": {
    agents: [{ ...talks, beside: diesWithin(24) }, talks],
    host: (host) =>
      Effect.gen(function* () {
        yield* host.tries(Effect.tapError(host.open(), () => Effect.sync(host.ledger.hostClosed)))
        const session = yield* host.open()
        yield* (yield* host.prompt(session, "t1")).outcome
      }),
    reaches: ["ConnectionClosed exited", "Completed"]
  },
  "an agent that says nothing, or no more after the first answer": {
    agents: [
      { ...talks, handshake: () => Effect.never },
      { ...talks, handshake: initializedOnly }
    ],
    host: (host) =>
      Effect.forEach([1, 2], () => host.tries(Effect.tapError(host.open(), () => Effect.sync(host.ledger.hostClosed)))),
    reaches: ["HandshakeTimeout", "SessionSetupTimeout"]
  },
  "an agent that dies at any time, with two turns": {
    agents: [{ ...talks, beside: diesWithin(70) }],
    host: during((session, prompt, host) =>
      Effect.gen(function* () {
        const second = yield* host.prompt(session, "t2")
        yield* host.tries(after(30, session.cancel("t2")))
        yield* second.outcome
      })
    ),
    reaches: ["ConnectionClosed exited", "Failed connection_closed", "Completed", "Cancelled interrupt"]
  },
  "prompts that come while the agent dies": {
    agents: [{ steps: [say, wait, ({ agent }) => agent.exit(killed)] }],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        yield* together(
          ...["t1", "t2", "t3"].map((turnId) =>
            host.tries(
              after(
                16,
                Effect.flatMap(host.prompt(session, turnId), (prompt) => prompt.outcome)
              )
            )
          )
        )
      }),
    reaches: ["Failed connection_closed", "SessionClosed"]
  },
  "prompt after prompt until the agent is dead": {
    agents: [{ ...talks, beside: diesWithin(90) }],
    host: promptAfterPrompt(() => Effect.void),
    reaches: ["Failed connection_closed", "SessionClosed"]
  },
  "prompt after prompt until the session is closed": {
    agents: [talks],
    host: promptAfterPrompt((session) => after(40, session.close)),
    reaches: ["Cancelled shutdown", "SessionClosed"]
  },
  "prompts that come while the session closes": {
    agents: [talks],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        yield* together(
          ...["t1", "t2", "t3"].map((turnId) =>
            host.tries(
              after(
                16,
                Effect.flatMap(host.prompt(session, turnId), (prompt) => prompt.outcome)
              )
            )
          ),
          after(16, session.close),
          after(16, session.close)
        )
      }),
    reaches: ["Cancelled shutdown", "Cancelled shutdown written acknowledged", "SessionClosed", "Completed"]
  },
  "a close in mid-turn of a deaf agent": {
    agents: [{ deaf: true, steps: [say, silence] }],
    host: during((session) => after(20, session.close)),
    reaches: ["Cancelled shutdown written", "Cancelled shutdown"]
  },
  "a host that goes away in mid-turn": {
    agents: [asks],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        const prompt = yield* host.prompt(session, "t1")
        yield* host.prompt(session, "t2")
        yield* together(host.tries(after(20, answer(session, prompt, 0))), pause(40))
      }),
    reaches: ["Cancelled interrupt", "Cancelled interrupt written acknowledged", "Completed"]
  },
  "two sessions, one of which dies": {
    agents: [{ ...asks, beside: diesWithin(70) }, asks],
    host: (host) =>
      Effect.gen(function* () {
        const doomed = yield* Effect.exit(host.open())
        const other = Effect.gen(function* () {
          const outcome = yield* work(host, "u1", yield* host.open())
          if (outcome._tag !== "Completed") return yield* Effect.fail(outcome)
        })
        const [exit] = yield* Effect.all(
          [Effect.exit(other), Exit.isSuccess(doomed) ? host.tries(work(host, "t1", doomed.value)) : Effect.void],
          { concurrency: "unbounded" }
        )
        const isWell = Exit.isSuccess(exit) || Exit.hasInterrupts(exit)
        host.ledger.expect("isolated", "the other session is concerned", host.ledger.isHurried || isWell)
      }),
    reaches: ["Failed connection_closed", "Completed"]
  },
  "a mode that is being set at the end of a session": {
    agents: [{ ...talks, handshake: withModes }],
    host: (host) =>
      Effect.gen(function* () {
        const session = yield* host.open()
        const agent = host.ledger.agents[0]!
        yield* together(
          host.tries(after(6, session.setMode("m"))),
          Effect.flatMap(Random.nextBoolean, (dies) => after(16, dies ? agent.exit(killed) : session.close))
        )
      }),
    reaches: ["ConnectionClosed exited", "ConnectionClosed released", "SessionClosed"]
  },
  "a defect somewhere in a turn, and one after it": {
    agents: [asks],
    faults: () => ({ journal: diesOnce((entry) => entry.turnId === "t1") }),
    host: during((session, prompt, host) =>
      Effect.gen(function* () {
        yield* host.tries(answer(session, prompt, 0))
        const second = yield* host.prompt(session, "t2")
        yield* host.tries(answer(session, second, 0))
        yield* second.outcome
      })
    ),
    reaches: ["Failed crashed", "Failed connection_closed", "Completed"]
  },
  "a defect of the session's own": {
    agents: [asks],
    faults: (): Faults => ({
      realPath: (path) => Effect.andThen(pause(3), Effect.andThen(dies(0.2), Effect.succeed(path)))
    }),
    host: during((session, prompt, host) =>
      Effect.gen(function* () {
        yield* host.tries(answer(session, prompt, 0))
        yield* host.tries(
          Effect.gen(function* () {
            const second = yield* host.prompt(session, "t2")
            yield* host.tries(answer(session, second, 0))
            yield* second.outcome
          })
        )
      })
    ),
    reaches: ["Completed", "SessionClosed", "Failed crashed", "session.failed crashed"]
  },
  "a defect in the write of a prompt, and a prompt after it": {
    agents: [talks],
    faults: (): Faults => ({
      link: (link) => ({
        ...link,
        write: (bytes) => Effect.andThen(isPromptFrame(bytes) ? dies(0.5) : Effect.void, link.write(bytes))
      })
    }),
    host: during((session, _, host) =>
      host.tries(Effect.flatMap(host.prompt(session, "t2"), (second) => second.outcome))
    ),
    reaches: ["Completed", "Failed crashed", "Failed connection_closed"]
  }
}

const isPromptFrame = (bytes: Uint8Array) => new TextDecoder().decode(bytes).includes("session/prompt")

const work = Effect.fnUntraced(function* (host: Host, turnId: string, session: OpenedSession) {
  const prompt = yield* host.prompt(session, turnId)
  yield* host.tries(answer(session, prompt, 0))
  return yield* prompt.outcome
})

/** Accepting takes a moment: something may end in the middle of it. */
function promptAfterPrompt(end: (session: OpenedSession) => Effect.Effect<unknown, never, Scope.Scope>): World["host"] {
  return (host) =>
    Effect.gen(function* () {
      const session = yield* host.open()
      const prompts = Effect.forEach(["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"], (turnId) =>
        after(4, host.prompt(session, turnId, { events: "discard" }))
      )
      yield* together(host.tries(prompts), end(session))
    })
}

const dies = (probability: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (drawn) => (drawn < probability ? Effect.die(new PlantedDefect()) : Effect.void))

/** One defect in place of one entry of those that are meant. */
const diesOnce =
  (meant: (entry: Journal.Entry) => boolean) =>
  (journal: Journal.Journal["Service"]): Journal.Journal["Service"] => {
    let isDone = false
    const perhaps = <A>(entry: Journal.Entry, effect: Effect.Effect<A>) =>
      Effect.suspend(() =>
        isDone || !meant(entry)
          ? effect
          : Effect.andThen(
              Effect.tapCause(dies(0.2), () => Effect.sync(() => void (isDone = true))),
              effect
            )
      )
    return {
      ...journal,
      append: (entry, draining) => perhaps(entry, journal.append(entry, draining)),
      force: (entry) => perhaps(entry, journal.force(entry))
    }
  }
