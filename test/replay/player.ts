/** Does the steps of a plan, one after another: our host's through its public interface, the agent's on its output. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import type { OpenedSession, OpenError } from "../../src/actors/Runner.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import { seeded } from "../../src/testing/choices.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { type Skipped, type Step } from "./plan.ts"
import type { RecordedHost } from "./recordedHost.ts"
import { idle } from "./virtualRun.ts"

type StepOf<Tag extends Step["_tag"]> = Extract<Step, { readonly _tag: Tag }>

export type Said = StepOf<"Says">

export interface RunningTurn {
  readonly turnId: string
  /** As its own stream gives them. */
  readonly events: Array<Event>
  readonly outcome: Fiber.Fiber<TurnOutcome>
}

export interface Player {
  readonly take: (step: Step) => Effect.Effect<void, never, Scope.Scope>
  /** Until all that was said has been dealt with. */
  readonly settle: Effect.Effect<void>
  /** What our host did not do as planned. */
  readonly failures: Array<string>
  readonly skipped: ReadonlyArray<Skipped>
  readonly said: ReadonlyArray<Said>
  readonly turns: ReadonlyArray<RunningTurn>
}

export interface PlayerOptions {
  readonly host: RecordedHost
  readonly agent: FakeAgent
  readonly opening: Fiber.Fiber<Exit.Exit<OpenedSession, OpenError>>
  readonly events: ReadonlyArray<Event>
  readonly seed: number
}

export const makePlayer = ({ host, agent, opening, events, seed }: PlayerOptions): Player => {
  const failures: Array<string> = []
  const skipped: Array<Skipped> = []
  const said: Array<Said> = []
  const turns: Array<RunningTurn> = []
  /** Ids of our requests, by the recorded ones. */
  const ids = new Map<string, unknown>()
  const mouth = makeMouth(agent, seed)
  const ear = makeEar(agent)
  const requests = makeRequests(events)

  const settle = Effect.andThen(mouth.flush, idle)
  const failed = (step: Step, what: string) => void failures.push(`line ${step.line}: ${what}`)
  const skip = (step: Step, reason: string) => void skipped.push({ line: step.line, reason })

  /** Takes the frame that our host must have written by now. */
  const written = (step: Step, what: string, is: (frame: Json) => boolean): Json | undefined => {
    const frame = ear.hear(is)
    if (frame === undefined) failed(step, `our host did not write ${what}`)
    return frame
  }

  const asked = (step: Step & { readonly id: string }, method: string): Json | undefined => {
    const frame = written(step, method, (one) => one["method"] === method)
    if (frame !== undefined) ids.set(step.id, frame["id"])
    return frame
  }

  const say = Effect.fnUntraced(function* (step: StepOf<"Says" | "SaysRaw">) {
    if (host.isUnread()) return skip(step, "our host does not read any more")
    if (step._tag === "SaysRaw") return yield* mouth.say(step.text)
    const { frame, answers } = step
    if (answers !== undefined && !ids.has(answers)) return failed(step, "the answer to what our host did not ask")
    if ("method" in frame && "id" in frame) requests.asked(frame)
    said.push(step)
    yield* mouth.say(JSON.stringify(answers === undefined ? frame : { ...frame, id: ids.get(answers) }))
  })

  const prompt = Effect.fnUntraced(function* (step: StepOf<"Prompts">, session: OpenedSession) {
    const turnId = `turn-${step.turn}`
    const parts = step.texts.map((text) => ({ _tag: "Text" as const, text }))
    const accepted = yield* Effect.exit(session.prompt(parts, { turnId }))
    if (Exit.isFailure(accepted)) return failed(step, "our host did not accept the prompt")
    const ofTurn: Array<Event> = []
    yield* Effect.forkScoped(
      Stream.runForEach(accepted.value.events, (event) => Effect.sync(() => void ofTurn.push(event)))
    )
    turns.push({ turnId, events: ofTurn, outcome: yield* Effect.forkScoped(accepted.value.outcome) })
    yield* idle
    if (!host.isUnread()) asked(step, "session/prompt")
  })

  const cancel = Effect.fnUntraced(function* (step: StepOf<"Cancels">, session: OpenedSession) {
    const turnId = step.turn === undefined ? undefined : `turn-${step.turn}`
    yield* Effect.ignore(session.cancel(turnId))
    yield* idle
    if (step.isWritten) written(step, "session/cancel", (frame) => frame["method"] === "session/cancel")
  })

  const answer = Effect.fnUntraced(function* (step: StepOf<"Answers">, session: OpenedSession) {
    const requestId = requests.idOf(step.request)
    if (requestId === undefined) return step.isTaken ? failed(step, "our host does not know the request") : undefined
    const exit = yield* Effect.exit(session.answer(requestId, step.answer))
    if (!step.isTaken) return Exit.isSuccess(exit) ? failed(step, "our host took the answer") : undefined
    if (Exit.isFailure(exit)) return failed(step, "our host refused the answer")
    const id = requests.nativeId(step.request)
    const frame = written(step, "the answer", (one) => !("method" in one) && one["id"] === id)
    const { answer: given } = step
    const outcome =
      given._tag === "Selected" ? { outcome: "selected", optionId: given.optionId } : { outcome: "cancelled" }
    if (!isDeepStrictEqual(frame?.["result"], { outcome })) failed(step, "our host wrote another answer")
  })

  const hear = (step: StepOf<"Hears">) => {
    const id = requests.nativeId(step.request)
    const frame = written(step, "its answer", (one) => !("method" in one) && one["id"] === id)
    if (frame === undefined || isDeepStrictEqual(frame["result"], step.reply["result"])) return
    failed(step, "our host answered otherwise")
  }

  const setMode = Effect.fnUntraced(function* (step: StepOf<"SetsMode">, session: OpenedSession) {
    const setting = yield* Effect.forkScoped(Effect.exit(session.setMode(step.modeId)))
    yield* idle
    if (step.isOffered) return void asked(step, "session/set_mode")
    const exit = setting.pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit) || Exit.isSuccess(exit.value)) failed(step, "our host took the mode")
  })

  const act = (
    step: Exclude<Step, StepOf<"Says" | "SaysRaw" | "Opens" | "Exits" | "Hears">>,
    session: OpenedSession
  ) => {
    switch (step._tag) {
      case "Prompts":
        return prompt(step, session)
      case "Cancels":
        return cancel(step, session)
      case "Answers":
        return answer(step, session)
      case "SetsMode":
        return setMode(step, session)
      case "Closes":
        return Effect.andThen(Effect.forkScoped(session.close), idle)
    }
  }

  const take = Effect.fnUntraced(function* (step: Step) {
    const pauseMs = step.t - (yield* Clock.currentTimeMillis)
    if (pauseMs > 0) yield* Effect.andThen(mouth.flush, Effect.sleep(pauseMs))
    if (step._tag === "Says" || step._tag === "SaysRaw") return yield* say(step)
    yield* settle
    if (step._tag === "Exits") return yield* Effect.andThen(agent.exit(step.exit), idle)
    if (step._tag === "Opens") {
      return host.isUnread() ? skip(step, "the open had failed") : void asked(step, step.method)
    }
    if (step._tag === "Hears") return host.isUnread() ? skip(step, "our host does not read any more") : hear(step)
    const opened = opening.pollUnsafe()
    if (opened === undefined || Exit.isFailure(opened) || Exit.isFailure(opened.value)) {
      return skip(step, "the open had failed")
    }
    yield* act(step, opened.value.value)
  })

  return { take, settle, failures, skipped, said, turns }
}

/** The agent's output: whole frames for seed 0, else what stands together cut anywhere. */
const makeMouth = (agent: FakeAgent, seed: number) => {
  const encoder = new TextEncoder()
  const draw = seeded(seed + 3)
  let unsaid: Array<Uint8Array> = []

  const say = (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const line = encoder.encode(`${text}\n`)
      if (seed === 0) return agent.sendBytes(line)
      unsaid.push(line)
      return Effect.void
    })

  const flush = Effect.suspend(() => {
    const bytes = Buffer.concat(unsaid)
    const pieces: Array<Uint8Array> = []
    unsaid = []
    for (let start = 0; start < bytes.length;) {
      const end = start + 1 + Math.floor(draw() * (bytes.length - start))
      pieces.push(bytes.subarray(start, end))
      start = end
    }
    return Effect.forEach(pieces, agent.sendBytes, { discard: true })
  })
  return { say, flush }
}

/** What our host wrote, each frame heard once. */
const makeEar = (agent: FakeAgent) => {
  const heard = new Set<Json>()
  return {
    hear: (is: (frame: Json) => boolean): Json | undefined => {
      const frame = agent.written.find((one) => !heard.has(one) && is(one))
      if (frame !== undefined) heard.add(frame)
      return frame
    }
  }
}

/** The agent's requests and the ids that our host gave them. */
const makeRequests = (events: ReadonlyArray<Event>) => {
  const natives: Array<Json> = []
  const ids = new Map<number, string>()
  return {
    asked: (frame: Json) => void natives.push(frame),
    nativeId: (index: number): unknown => natives[index]?.["id"],
    idOf: (index: number): string | undefined => {
      const known = ids.get(index)
      if (known !== undefined) return known
      const taken = new Set(ids.values())
      for (const event of events) {
        if (event.eventType !== "runtime_request.created") continue
        const { requestId } = event.payload.request
        if (taken.has(requestId) || !isDeepStrictEqual(event.debug?.["native"], natives[index]?.["params"])) continue
        ids.set(index, requestId)
        return requestId
      }
      return undefined
    }
  }
}
