/** Whole sessions over owned processes: the actors, the links and the ladder are the production code. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Connections from "../../src/actors/Connections.ts"
import * as Journal from "../../src/actors/Journal.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import * as Runner from "../../src/actors/Runner.ts"
import { Files } from "../../src/services/Files.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { Backend } from "../../src/services/Os.ts"
import type { FakeAgent, FakeProgram, Habits, Json } from "../../src/testing/index.ts"
import { handshake, openOptions, respond, text } from "../actors/host.ts"
import { isCancel, isPrompt } from "../actors/observe.ts"
import type { ProcessHost, ProcessWorld } from "./processHost.ts"
import { killed, machine } from "./processWorlds.ts"

const files = Layer.succeed(Files, Files.of({ realPath: (path) => Effect.succeed(path) }))

/** All but the links, which the world has. */
const runner = Runner.layer.pipe(
  Layer.provide(Connections.layer),
  Layer.provide(Journal.layer),
  Layer.provide(Layer.mergeAll(Registry.layer, Ids.layer, files))
)

type Answer = (agent: FakeAgent, prompt: Json) => Effect.Effect<void>

const completes: Answer = (agent, prompt) => agent.send(text("yes"), respond(prompt, { stopReason: "end_turn" }))

/** Answers every prompt by `answer`, and every cancel for good measure. */
const agentThat = (answer: Answer): FakeProgram =>
  Effect.fnUntraced(function* (agent: FakeAgent): Effect.fn.Return<void, never, Scope.Scope> {
    yield* handshake(agent)
    let prompt: Json = {}
    for (;;) {
      const frame = yield* agent.receive
      if (isPrompt(frame)) yield* answer(agent, (prompt = frame))
      else if (isCancel(frame)) yield* agent.send(respond(prompt, { stopReason: "cancelled" }))
    }
  })

/** One session and one prompt, whose end is noted; then what else the host does, and the end. */
const oneTurn =
  (act: (session: Runner.OpenedSession) => Effect.Effect<unknown, unknown> = () => Effect.void) =>
  (host: ProcessHost) =>
    Effect.gen(function* () {
      const { open } = yield* Runner.Runner
      const session = yield* open(openOptions)
      const prompt = yield* session.prompt("t1", { turnId: "t1", events: "discard" })
      yield* Effect.all([act(session), Effect.flatMap(prompt.outcome, ({ _tag }) => host.reach(_tag))], {
        concurrency: "unbounded"
      })
      yield* session.close
    }).pipe(Effect.provide(runner))

const stubborn: Habits = { onEof: {}, onTerm: {} }
const shell: Habits = { ownSession: true, ...stubborn }

const of = (backend: Backend): Readonly<Record<string, ProcessWorld>> => ({
  [`a session: open, prompt and close (${backend})`]: {
    machine: machine(backend, { program: agentThat(completes), habits: { onEof: { exitMs: 2_100 } } }),
    host: oneTurn(),
    reaches: ["Completed", "Code eof"]
  },
  [`a session whose agent dies in its turn and leaves a shell (${backend})`]: {
    machine: machine(backend, {
      program: agentThat((agent) => Effect.andThen(agent.send(text("so")), agent.exit(killed))),
      habits: { onBirth: { forks: [shell] } }
    }),
    host: oneTurn(),
    reaches: ["Failed", "Signal eof SIGTERM SIGKILL"]
  },
  [`a session whose agent hears nothing, neither cancel nor signal (${backend})`]: {
    machine: machine(backend, {
      program: agentThat(() => Effect.never),
      habits: { ...stubborn, onBirth: { forks: [shell] } }
    }),
    host: oneTurn((session) => Effect.andThen(Effect.sleep(50), session.cancel("t1"))),
    reaches: ["Cancelled", "Signal eof SIGTERM SIGKILL"]
  }
})

export const processSessions: Readonly<Record<string, ProcessWorld>> = { ...of("marked"), ...of("namespace") }
