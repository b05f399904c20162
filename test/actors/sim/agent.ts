/** An agent as a list of steps that it takes for every prompt. Its words name the prompt that they answer, and count up. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { ProcessExit } from "../../../src/services/Os.ts"
import type { FakeAgent, Json } from "../../../src/testing/FakeLinks.ts"
import { handshake, permission, respond, text } from "../host.ts"
import { isCancel, isPrompt, valueAt } from "../observe.ts"
import { word } from "./turnBook.ts"

export interface AgentTurn {
  readonly agent: FakeAgent
  readonly frame: Json
  /** The text of the prompt, which names the turn. */
  readonly turnId: string
  /** The cancel of this turn has come. */
  readonly isCancelled: () => boolean
  /** Sends so many words, and behind them what else there is, in one piece. */
  readonly say: (times: number, ...behind: ReadonlyArray<Json>) => Effect.Effect<void>
  /** Sends permission requests in one piece. */
  readonly ask: (ids: ReadonlyArray<unknown>) => Effect.Effect<void>
  /** Sends requests of a method that nobody offers. */
  readonly askInVain: (ids: ReadonlyArray<unknown>) => Effect.Effect<void>
  /** Waits until everything that was asked is answered. */
  readonly answered: Effect.Effect<void>
}

export type Step = (turn: AgentTurn) => Effect.Effect<void>

export interface Script {
  /** For every prompt; with a cancel before one of them, or at the end, the agent answers the prompt. */
  readonly steps: ReadonlyArray<Step>
  /** Takes its steps whatever the host says, and answers the prompt only by a step. */
  readonly deaf?: boolean
  /** Beside its turns, from its start on. */
  readonly beside?: (agent: FakeAgent) => Effect.Effect<void>
  /** In place of the answers to `initialize` and `session/new`. */
  readonly handshake?: (agent: FakeAgent) => Effect.Effect<void>
}

/** Some turns of the scheduler, at most so many. */
export const pause = (most: number): Effect.Effect<void> =>
  Effect.flatMap(Random.nextIntBetween(0, most), (times) => (times === 0 ? Effect.void : yields(times)))

export const yields = (times: number): Effect.Effect<void> => Effect.repeat(Effect.yieldNow, { times: times - 1 })

export const say: Step = (turn) => turn.say(1)
export const wait: Step = () => pause(6)
export const sleep =
  (ms: number): Step =>
  () =>
    Effect.sleep(ms)
export const ask =
  (...ids: ReadonlyArray<unknown>): Step =>
  (turn) =>
    turn.ask(ids)
export const askInVain =
  (...ids: ReadonlyArray<unknown>): Step =>
  (turn) =>
    turn.askInVain(ids)
export const answered: Step = (turn) => turn.answered
export const withdraw =
  (id: unknown): Step =>
  ({ agent }) =>
    agent.send({ method: "$/cancel_request", params: { requestId: id } })
export const die: Step = ({ agent }) => agent.exit(killed)
export const stall: Step = ({ agent }) => agent.stallStdin
/** The response, and in one piece with it what comes too late. */
export const respondTooEarly: Step = ({ frame, turnId, say }) =>
  say(1, responseTo(frame, false), text(`late ${turnId}`), { method: "x/note" }, text(`late ${turnId}`))
export const silence: Step = () => Effect.never
/** So many updates, in pieces of eight. */
export const flood =
  (updates: number): Step =>
  ({ say }) =>
    Effect.repeat(say(8), { times: Math.ceil(updates / 8) - 1 })

export const killed: ProcessExit = { _tag: "Signal", signal: "SIGKILL", inferred: false }

/** Dies after some turns of the scheduler, wherever it is. */
export const diesWithin =
  (most: number) =>
  (agent: FakeAgent): Effect.Effect<void> =>
    Effect.andThen(pause(most), agent.exit(killed))

const responseTo = (frame: Json, cancelled: boolean) =>
  respond(frame, { stopReason: cancelled ? "cancelled" : "end_turn" })

/** Who is told what an agent sends, before it does. */
export interface Watcher {
  readonly asked: (agent: FakeAgent, id: unknown) => void
  readonly said: (turnId: string, times: number) => void
}

export const scripted = (script: Script, watcher: Watcher) =>
  Effect.fnUntraced(function* (agent: FakeAgent): Effect.fn.Return<void, never, Scope.Scope> {
    if (script.beside !== undefined) yield* Effect.forkScoped(script.beside(agent))
    yield* (script.handshake ?? handshake)(agent)
    const owed = makeOwed(agent, watcher)
    let cancelTurn = () => {}
    for (;;) {
      const frame = yield* agent.receive
      if (isPrompt(frame)) {
        let cancelled = false
        cancelTurn = () => void (cancelled = true)
        const turnId = String(valueAt(frame, "params", "prompt", "0", "text"))
        let words = 0
        const say: AgentTurn["say"] = (times, ...behind) =>
          Effect.suspend(() => {
            watcher.said(turnId, times)
            return agent.send(...Array.from({ length: times }, () => text(word(turnId, words++))), ...behind)
          })
        const turn = { agent, frame, turnId, isCancelled: () => cancelled, say, ...owed }
        yield* Effect.forkScoped(perform(script, turn))
      } else if (isCancel(frame)) {
        cancelTurn()
      } else if (frame["method"] === undefined) {
        owed.got()
      }
    }
  })

const perform = Effect.fnUntraced(function* ({ steps, deaf = false }: Script, turn: AgentTurn) {
  for (const step of steps) {
    if (turn.isCancelled() && !deaf) break
    yield* step(turn)
  }
  if (!deaf) yield* turn.agent.send(responseTo(turn.frame, turn.isCancelled()))
})

/** What the agent has asked and waits for. */
const makeOwed = (agent: FakeAgent, { asked }: Watcher) => {
  let open = 0
  let waiting = Deferred.makeUnsafe<void>()
  const asking = (frameOf: (id: unknown) => Json) => (ids: ReadonlyArray<unknown>) =>
    Effect.suspend(() => {
      for (const id of ids) asked(agent, id)
      open += ids.length
      return agent.send(...ids.map(frameOf))
    })
  return {
    ask: asking((id) => permission(id, JSON.stringify(id))),
    askInVain: asking((id) => ({ id, method: "x/unknown", params: {} })),
    answered: Effect.suspend(() => (open <= 0 ? Effect.void : Deferred.await(waiting))),
    got: () => {
      open--
      if (open > 0) return
      Deferred.doneUnsafe(waiting, Effect.void)
      waiting = Deferred.makeUnsafe<void>()
    }
  }
}
