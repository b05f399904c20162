/** A turn of which nothing is heard for a while is reported as stalled, once per quiet spell, and never ended for it. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { type OpenedSession, Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import type { FakeAgent, Json } from "../../src/testing/FakeLinks.ts"
import { agentSession, handshake, makeHost, openOptions, permission, text } from "./host.ts"
import { endTurn, isPrompt, type Record, record, settle, untilWritten, valueAt } from "./observe.ts"

interface Stage {
  readonly agent: FakeAgent
  readonly session: OpenedSession
  readonly seen: Record
  readonly prompt: Json
  /** Lets so much time pass, and everything happen that comes of it. */
  readonly pass: (ms: number) => Effect.Effect<void>
  readonly stalled: () => number
}

const onStage = (act: (stage: Stage) => Effect.Effect<unknown, unknown, Scope.Scope>): Effect.Effect<void, unknown> => {
  const host = makeHost(handshake)
  return Effect.gen(function* () {
    const seen = yield* record
    const session = yield* (yield* Runner).open(openOptions)
    const agent = host.agents[0]!
    yield* session.prompt("go", { turnId: "t1", events: "discard" })
    yield* untilWritten(agent, isPrompt)
    const stage: Stage = {
      agent,
      session,
      seen,
      prompt: agent.written.find(isPrompt)!,
      pass: (ms) => Effect.andThen(settle, Effect.andThen(TestClock.adjust(ms), settle)),
      stalled: () => seen.notices().filter((notice) => notice === "stalled").length
    }
    yield* act(stage).pipe(Effect.ensuring(agent.exit({ _tag: "Code", code: 0 })))
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

const quietMs = limits.stalledMs

describe("a turn of which nothing is heard", () => {
  it.effect("is reported after the bound, not before, and once for all the time that it is quiet", () =>
    onStage(
      Effect.fnUntraced(function* ({ seen, pass, stalled }) {
        yield* pass(quietMs - 1)
        expect(stalled()).toBe(0)
        yield* pass(1)
        expect(stalled()).toBe(1)
        expect(seen.notice("stalled")).toMatchObject({ turnId: "t1", payload: { severity: "warning", scope: "turn" } })
        yield* pass(10 * quietMs)
        expect(stalled()).toBe(1)
      })
    )
  )

  it.effect("is reported again in its next quiet spell", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, seen, pass, stalled }) {
        for (let spell = 1; spell <= 3; spell++) {
          yield* pass(quietMs)
          expect(stalled()).toBe(spell)
          yield* agent.send(text("a word"))
          yield* pass(quietMs - 1)
          expect(stalled()).toBe(spell)
          yield* agent.send(text("another"))
        }
        const ids = seen.ofType("provider.notice.recorded").map((event) => valueAt(event.payload, "noticeId"))
        expect(new Set(ids).size).toBe(3)
      })
    )
  )

  it.effect("is not stalled while words come, however long it takes", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, pass, prompt, seen, stalled }) {
        for (let n = 0; n < 200; n++) {
          yield* agent.send(text("."))
          yield* pass(quietMs - 1)
        }
        expect(stalled()).toBe(0)
        yield* agent.send(endTurn(prompt))
        yield* seen.untilEvent("turn.completed")
      })
    )
  )

  it.effect("is not stalled while a person is asked; the time of the agent begins with the answer", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, session, seen, pass, stalled }) {
        yield* agent.send(permission(1))
        yield* seen.untilEvent("runtime_request.created")
        yield* pass(20.5 * quietMs)
        expect(stalled()).toBe(0)
        const id = String(valueAt(seen.ofType("runtime_request.created")[0]?.payload, "request", "requestId"))
        yield* session.answer(id, { _tag: "Selected", optionId: "yes" })
        yield* pass(quietMs - 1)
        expect(stalled()).toBe(0)
        yield* pass(quietMs)
        expect(stalled()).toBe(1)
      })
    )
  )

  it.effect("is not saved by what belongs to no turn: words for another session, noise", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, pass, stalled }) {
        yield* pass(quietMs - 1)
        yield* agent.sendBytes(new TextEncoder().encode("still thinking\n"))
        yield* agent.send({ method: "session/update", params: { sessionId: "other", update: {} } })
        yield* pass(1)
        expect(stalled()).toBe(1)
        expect(agentSession).not.toBe("other")
      })
    )
  )

  it.effect("goes on: it ends by its response, hours later", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, pass, prompt, seen, stalled }) {
        yield* pass(100 * quietMs)
        yield* agent.send(text("at last"), endTurn(prompt))
        yield* seen.untilEvent("turn.completed")
        yield* pass(10 * quietMs)
        expect(stalled()).toBe(1)
        expect(seen.ofTurn("t1").at(-1)?.eventType).toBe("turn.completed")
      })
    )
  )

  it.effect("is given its time from its prompt on, however long it waited for the turns before it", () =>
    onStage(
      Effect.fnUntraced(function* ({ agent, session, pass, prompt, seen }) {
        yield* session.prompt("two", { turnId: "t2", events: "discard" })
        yield* pass(5.5 * quietMs)
        yield* agent.send(text("one"), endTurn(prompt))
        yield* untilWritten(agent, isPrompt, 2)
        const stalledTurns = () =>
          seen
            .ofType("provider.notice.recorded")
            .map((event) => `${event.turnId} ${valueAt(event.payload, "category")}`)
        yield* pass(quietMs - 1)
        expect(stalledTurns()).toEqual(["t1 stalled"])
        yield* pass(1)
        expect(stalledTurns()).toEqual(["t1 stalled", "t2 stalled"])
      })
    )
  )
})
