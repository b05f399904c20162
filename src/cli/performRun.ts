/** A run from its prompt to the proof that nothing is left of it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type OpenedSession, Runner } from "../actors/Runner.ts"
import type { PromptPart } from "../schema/acp/prompt.ts"
import type { PromptRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { AgentLinks } from "../services/AgentLink.ts"
import type { Provider } from "../services/Provider.ts"
import { chosenAgent } from "./choosingAgent.ts"
import { startDemoModel } from "./demoModel.ts"
import { startDialogue } from "./dialogue.ts"
import type { RunEnd, RunError } from "./exitCode.ts"
import type { Fleet } from "./fleet.ts"
import type { Follower } from "./follower.ts"
import { makeKeyboard } from "./keyboard.ts"
import type { OutputStream } from "./outputStream.ts"
import type { Paint } from "./paint.ts"
import { promptFromStdin, promptParts } from "./promptParts.ts"
import { runnerLayer } from "./runnerLayer.ts"
import type { RunOptions } from "./runOptions.ts"
import type { Screen } from "./screen.ts"
import type { Interrupts } from "./signals.ts"

export interface RunContext {
  readonly options: RunOptions
  readonly mcpServers: ReadonlyArray<unknown>
  readonly record: ((lines: string) => Effect.Effect<void>) | undefined
  readonly fleet: Fleet
  readonly follower: Follower
  readonly interrupts: Interrupts
  readonly screen: Screen
  /** Where talk goes. */
  readonly terminal: OutputStream
  readonly paint: Paint
}

/** Closing the scope ends what the host of the agents needed for itself. */
export const performRun = Effect.fnUntraced(function* (
  context: RunContext
): Effect.fn.Return<RunEnd, RunError, Scope.Scope> {
  const { options, interrupts } = context
  const provider = yield* chosenAgent(options, process.env)
  const parts = yield* Effect.raceFirst(partsOf(options), Effect.as(interrupts.cancelled, undefined))
  if (parts === undefined) return { _tag: "Interrupted" }
  const services = yield* Layer.build(runnerLayer(context.fleet, context.record))
  return yield* followed(context, provider, parts).pipe(Effect.provideContext(services))
})

/** After an interrupt or a timeout, a reader that does not read is waited for within a bound only. */
export const unlessGivenUp = (
  effect: Effect.Effect<void>,
  end: RunEnd,
  interrupts: Interrupts
): Effect.Effect<void> => {
  const isTimedOut = end._tag === "TimedOut" || (end._tag === "Ended" && isDeadline(end))
  const givenUp = Effect.andThen(isTimedOut ? Effect.void : interrupts.cancelled, Effect.sleep(limits.outputDrainMs))
  return Effect.raceFirst(effect, givenUp)
}

const isDeadline = ({ outcome }: Extract<RunEnd, { readonly _tag: "Ended" }>): boolean =>
  outcome._tag === "Failed" && outcome.reason === "turn_timeout"

const partsOf = Effect.fnUntraced(function* (
  options: RunOptions
): Effect.fn.Return<ReadonlyArray<PromptPart>, PromptRefused> {
  const text = options.prompt === "-" ? yield* promptFromStdin : options.prompt
  return yield* promptParts(text, options)
})

/** The session, with its events on the screen until the last of them. */
const followed = Effect.fnUntraced(function* (
  context: RunContext,
  provider: Provider,
  parts: ReadonlyArray<PromptPart>
): Effect.fn.Return<RunEnd, never, Runner | AgentLinks | Scope.Scope> {
  const { follower, interrupts, options } = context
  const isAsking = options.policy === "ask" || options.policy === "approve-reads"
  const canAsk = process.stdin.isTTY === true && context.terminal.isTerminal && options.prompt !== "-"
  let opened: OpenedSession | undefined
  yield* startDialogue({
    ...context,
    keyboard: isAsking && canAsk ? yield* makeKeyboard(process.stdin) : undefined,
    answer: (requestId, answer) =>
      opened === undefined ? Effect.void : Effect.ignore(opened.answer(requestId, answer))
  })
  const runner = yield* Runner
  const subscription = yield* runner.events()
  // Without a reader the turn would wait for ever: whatever ends the reader early ends the turn.
  const reader = yield* Effect.forkScoped(
    Effect.onError(follower.follow(subscription), () => interrupts.raise("SIGPIPE"))
  )
  const end = yield* conversation(context, provider, parts, canAsk, (session) => (opened = session)).pipe(
    Effect.scoped,
    Effect.catch((error) => Effect.succeed({ _tag: "Failed", error } as const))
  )
  subscription.end()
  yield* unlessGivenUp(Fiber.join(reader), end, interrupts)
  // A reader that was given up must not hold the screen.
  yield* Fiber.interrupt(reader)
  return end
})

/** One session with one turn. The agent is gone once the scope has closed. */
const conversation = Effect.fnUntraced(function* (
  context: RunContext,
  provider: Provider,
  parts: ReadonlyArray<PromptPart>,
  canAsk: boolean,
  onOpened: (session: OpenedSession) => void
): Effect.fn.Return<RunEnd, RunError, Runner | AgentLinks | Scope.Scope> {
  const { interrupts, options } = context
  const startMs = yield* Clock.currentTimeMillis
  const timeout = options.timeoutMs === undefined ? Effect.never : Effect.sleep(options.timeoutMs)
  const opened = yield* Effect.raceAllFirst([
    openedSession(context, provider, canAsk),
    Effect.as(interrupts.cancelled, "Interrupted" as const),
    Effect.as(timeout, "TimedOut" as const)
  ])
  if (typeof opened === "string") return { _tag: opened }
  onOpened(opened)
  const elapsedMs = (yield* Clock.currentTimeMillis) - startMs
  const turn = yield* opened.prompt(parts, {
    events: "discard",
    ...(options.timeoutMs === undefined ? {} : { deadline: Math.max(1, options.timeoutMs - elapsedMs) })
  })
  yield* Effect.forkScoped(Effect.andThen(interrupts.cancelled, Effect.ignore(turn.cancel)))
  const outcome = yield* turn.outcome
  yield* opened.close
  return { _tag: "Ended", outcome }
})

const openedSession = Effect.fnUntraced(function* (context: RunContext, provider: Provider, canAsk: boolean) {
  const { options, mcpServers } = context
  const modelServer = options.demoModel ? yield* startDemoModel : undefined
  const runner = yield* Runner
  return yield* runner.open({
    provider,
    cwd: options.cwd,
    home: options.home ?? (options.demoModel ? "private" : "user"),
    hostEnv: process.env,
    credentials: options.credentials,
    policy: options.policy,
    canAsk,
    mcpServers,
    ...(modelServer === undefined ? {} : { modelServer }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.backend === undefined ? {} : { backend: options.backend })
  })
})
