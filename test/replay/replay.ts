/**
 * Plays a plan against the production runner: our host does through its public interface what the recorded one did, and the
 * agent says what it said, in the recorded order and with the recorded pauses. What the agent said after a frame of the host
 * is said only after our host has written that frame.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type OpenedSession, type OpenError, Runner } from "../../src/actors/Runner.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import type { CleanupReport } from "../../src/services/AgentLink.ts"
import type { Json } from "../../src/testing/FakeLinks.ts"
import type { Plan, Skipped } from "./plan.ts"
import { makePlayer, type RunningTurn, type Said } from "./player.ts"
import { makeRecordedHost, openOptions, type RecordedHost } from "./recordedHost.ts"
import { idle, virtualRun } from "./virtualRun.ts"

export interface ReplayedTurn {
  readonly turnId: string
  readonly outcome: TurnOutcome | undefined
  /** As its own stream gave them. */
  readonly events: ReadonlyArray<Event>
}

export interface Replayed {
  /** `false`: nothing of the plan can be played. */
  readonly isPlayed: boolean
  /** What our host did not do as planned. */
  readonly failures: ReadonlyArray<string>
  readonly skipped: ReadonlyArray<Skipped>
  /** `undefined`: the session was opened. */
  readonly openError: OpenError | undefined
  readonly turns: ReadonlyArray<ReplayedTurn>
  /** Of the whole runner. */
  readonly events: ReadonlyArray<Event>
  readonly said: ReadonlyArray<Said>
  /** Every frame that our host wrote. */
  readonly written: ReadonlyArray<Json>
  /** The agent ended before our host ended it. */
  readonly hasDied: boolean
  readonly report: CleanupReport | undefined
  readonly noiseLines: number
  readonly openRequests: number
}

/** Seed 0 says one frame at a time, first come, first served; any other draws the order of fibers and the cuts of the output. */
export const replay = (plan: Plan, seed = 0): Replayed => {
  const host = makeRecordedHost()
  const exit = virtualRun(Effect.scoped(play(plan, host, seed)).pipe(Effect.provide(host.layer)), seed)
  if (Exit.isSuccess(exit)) return exit.value
  throw new Error("the replay died", { cause: exit.cause })
}

const play = Effect.fnUntraced(function* (
  plan: Plan,
  host: RecordedHost,
  seed: number
): Effect.fn.Return<Replayed, never, Runner | Scope.Scope> {
  const runner = yield* Runner
  const events: Array<Event> = []
  yield* Effect.forkScoped(Stream.runForEach((yield* runner.events()).events, (event) => keep(events, event)))
  if (plan.steps.length === 0) return { ...nothing, skipped: plan.skipped }
  const opening = yield* Effect.forkScoped(Effect.exit(runner.open(openOptions)))
  const agent = yield* host.agent
  const player = makePlayer({ host, agent, opening, events, seed })
  for (const step of plan.steps) yield* player.take(step)
  yield* player.settle
  yield* host.played
  const opened = yield* Fiber.join(opening)
  const report = Exit.isSuccess(opened) ? yield* opened.value.close : undefined
  yield* idle
  const turns = yield* Effect.forEach(player.turns, (turn) => ended(turn, player.failures))
  return {
    isPlayed: true,
    failures: player.failures,
    skipped: [...plan.skipped, ...player.skipped].sort((one, other) => one.line - other.line),
    openError: Exit.isSuccess(opened) ? undefined : errorOf(opened),
    turns,
    events,
    said: player.said,
    written: agent.written,
    hasDied: plan.steps.find((step) => step._tag === "Closes" || step._tag === "Exits")?._tag === "Exits",
    report,
    noiseLines: host.connection()?.noise.lines ?? 0,
    openRequests: host.connection()?.openRequests() ?? 0
  }
})

const nothing: Replayed = {
  isPlayed: false,
  failures: [],
  skipped: [],
  openError: undefined,
  turns: [],
  events: [],
  said: [],
  written: [],
  hasDied: false,
  report: undefined,
  noiseLines: 0,
  openRequests: 0
}

const keep = (events: Array<Event>, event: Event) => Effect.sync(() => void events.push(event))

const errorOf = (exit: Exit.Failure<OpenedSession, OpenError>): OpenError => {
  const reason = exit.cause.reasons.find((one) => one._tag === "Fail")
  if (reason === undefined) throw new Error("the open died", { cause: exit.cause })
  return reason.error
}

const ended = ({ turnId, events, outcome }: RunningTurn, failures: Array<string>): Effect.Effect<ReplayedTurn> =>
  Effect.sync(() => {
    const exit = outcome.pollUnsafe()
    if (exit !== undefined && Exit.isSuccess(exit)) return { turnId, outcome: exit.value, events }
    failures.push(`${turnId} has no outcome`)
    return { turnId, outcome: undefined, events }
  })
