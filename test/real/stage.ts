/**
 * Where a scene plays: one session of a real agent, opened through the library, with everything that can be seen of it from
 * outside. Waiting is polling with a bound that only guards against a hang.
 */
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Scope from "effect/Scope"
import type { OpenedSession, PromptHandle } from "../../src/actors/Runner.ts"
import type { DemoModel } from "../../src/programs/demoModel.ts"
import type { PromptPart } from "../../src/schema/acp/prompt.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import type { OptionKind } from "../../src/schema/request.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import type { Provider } from "../../src/services/Provider.ts"
import type { Seen } from "../process/processes.ts"
import type { CaseName } from "./cases.ts"
import { type Cue, scriptOf, wordsOf } from "./cues.ts"
import { carrying, ledgersIn } from "./look.ts"
import type { Subject } from "./subjects.ts"

/** What was found out about a case. */
export interface Finding {
  readonly holds: boolean
  readonly seen: string
}

export interface Turn {
  readonly turnId: string
  readonly cancel: Effect.Effect<TurnOutcome>
  /** The outcome, once the terminal event was read too. */
  readonly ended: Effect.Effect<TurnOutcome>
  readonly events: () => ReadonlyArray<Event>
  /** What the agent has said so far. */
  readonly text: () => string
}

export interface Asked {
  readonly requestId: string
  readonly kind: unknown
  readonly answer: (kind: OptionKind) => Effect.Effect<void>
}

export interface Stage {
  readonly subject: Subject
  readonly provider: Provider
  readonly session: OpenedSession
  readonly model: DemoModel
  readonly inWorkspace: (name: string) => string
  readonly prompt: (cue: Cue, ...more: ReadonlyArray<PromptPart>) => Effect.Effect<Turn, never, Scope.Scope>
  /** The first request of a turn. */
  readonly asked: (turn: Turn) => Effect.Effect<Asked>
  /** Dies when it does not come to hold, at once when the turn ends before. */
  readonly until: (what: string, holds: () => boolean, turn?: Turn) => Effect.Effect<void>
  /** Every process of the launch. */
  readonly processes: () => ReadonlyArray<Seen>
  /** The process of the agent itself. */
  readonly agentPid: () => number | undefined
  readonly tell: (name: CaseName, holds: boolean, seen?: unknown) => void
  /** Tells once it holds, or that it does not within a bound. */
  readonly eventually: (name: CaseName, holds: () => boolean) => Effect.Effect<void>
  /** Looks again and again, through the clean-up and after it, and tells at the very end. */
  readonly never: (name: CaseName, happened: () => boolean) => Effect.Effect<void>
}

export interface StageOptions {
  readonly subject: Subject
  readonly provider: Provider
  /** The executable of the agent. */
  readonly command: string
  readonly session: OpenedSession
  readonly model: DemoModel
  readonly cwd: string
  readonly ledgerFolder: string
  readonly events: ReadonlyArray<Event>
  readonly found: (name: CaseName, finding: Finding) => void
  readonly never: Stage["never"]
}

const hangGuardMs = 120_000
const pollMs = 20

export const makeStage = (options: StageOptions): Stage => {
  const { cwd, events, model, session, subject } = options

  const until = Effect.fnUntraced(function* (what: string, holds: () => boolean, turn?: Turn) {
    const polled = Effect.gen(function* () {
      while (!holds()) yield* Effect.sleep(pollMs)
    })
    const guarded = Effect.timeoutOrElse(polled, {
      duration: hangGuardMs,
      orElse: () => Effect.die(new Error(`not within ${hangGuardMs} ms: ${what}`))
    })
    if (turn === undefined) return yield* guarded
    const over = Effect.flatMap(turn.ended, (outcome) =>
      holds() ? Effect.void : Effect.die(new Error(`the turn ended before ${what}: ${JSON.stringify(outcome)}`))
    )
    yield* Effect.raceFirst(guarded, over)
  })

  const turnOf = (handle: PromptHandle): Turn => {
    const own = () => events.filter((event) => event.turnId === handle.turnId)
    const read = until("the terminal of the turn", () => own().some(isTurnTerminal))
    return {
      turnId: handle.turnId,
      cancel: handle.cancel,
      ended: Effect.tap(handle.outcome, () => read),
      events: own,
      text: () => own().map(wordsIn).join("")
    }
  }

  const prompt: Stage["prompt"] = (cue, ...more) =>
    Effect.suspend(() => {
      if (subject.tools !== undefined) model.setScript(scriptOf(cue, subject.tools))
      const parts: ReadonlyArray<PromptPart> = [{ _tag: "Text", text: wordsOf(cue) }, ...more]
      return Effect.map(session.prompt(parts, { events: "discard" }), turnOf)
    }).pipe(Effect.orDie)

  const requestIn = (turn: Turn) =>
    turn.events().flatMap((event) => (event.eventType === "runtime_request.created" ? [event.payload.request] : []))[0]

  const asked: Stage["asked"] = Effect.fnUntraced(function* (turn) {
    yield* until("it asks", () => requestIn(turn) !== undefined, turn)
    const request = requestIn(turn)
    const requestId = request?.requestId ?? ""
    return {
      requestId,
      kind: request?.["toolKind"],
      answer: (kind) => {
        const optionId = request?.choices?.find((choice) => choice["kind"] === kind)?.key ?? "none of this kind"
        return Effect.orDie(session.answer(requestId, { _tag: "Selected", optionId }))
      }
    }
  })

  const processes = () => ledgersIn(options.ledgerFolder).begun.flatMap(carrying)
  const agentPid = () => {
    const own = processes().filter(({ command }) => `${command} `.startsWith(`${options.command} `))
    return own.find(({ parent }) => !own.some(({ pid }) => pid === parent))?.pid
  }

  const tell: Stage["tell"] = (name, holds, seen = "") =>
    options.found(name, { holds, seen: typeof seen === "string" ? seen : JSON.stringify(seen) })

  const eventually: Stage["eventually"] = Effect.fnUntraced(function* (name, holds) {
    // What the agent is known not to do is not waited for in vain.
    const looks = (subject.cannot[name] === undefined ? hangGuardMs : knownNotToMs) / pollMs
    for (let look = 0; look < looks && !holds(); look++) yield* Effect.sleep(pollMs)
    tell(name, holds())
  })

  return {
    subject,
    provider: options.provider,
    session,
    model,
    inWorkspace: (name) => path.join(cwd, name),
    prompt,
    asked,
    until,
    processes,
    agentPid,
    tell,
    eventually,
    never: options.never
  }
}

const knownNotToMs = 2_000

const wordsIn = (event: Event): string =>
  event.eventType === "item.delta" && event.payload.kind === "assistant_message" ? event.payload.text : ""

/** Reads a subscription into a list until its scope closes. */
export const collect = (stream: Stream.Stream<Event>, into: Array<Event>) =>
  Stream.runForEach(stream, (event) => Effect.sync(() => into.push(event)))
