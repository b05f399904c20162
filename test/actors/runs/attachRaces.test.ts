import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Runs } from "../../../src/actors/Runs.ts"
import { type Controller, controllerOf, logged, makeHost, prepare, typesOf } from "./controller.ts"

const attachTo = (sessionId: string) => ({
  paperclipNextAuthority: { identity: { normalizedSessionId: sessionId } }
})

/** An idle session of `r1`. */
const opened = Effect.gen(function* () {
  const controller = controllerOf("r1")
  yield* controller.send("run.prepare", { ...prepare, identity: { normalizedSessionId: "s1" } })
  yield* controller.send("session.open")
  return controller
})

/** All of them under way before the first is answered. */
const atOnce = (...commands: ReadonlyArray<ReturnType<Controller["send"]>>) =>
  Effect.gen(function* () {
    const fibers = yield* Effect.forEach(commands, (one) => Effect.forkChild(one, { startImmediately: true }))
    return yield* Effect.forEach(fibers, Fiber.join)
  })

const statuses = Effect.flatMap(Runs, (runs) => runs.statuses)

describe("the attachment of a run, against other commands", () => {
  it.effect("comes before the commands of the new run that are sent behind it", () =>
    Effect.suspend(() => {
      const host = makeHost()
      return host.inLife(
        Effect.gen(function* () {
          yield* opened
          const second = controllerOf("r2")
          const replies = yield* atOnce(
            second.send("run.attach", attachTo("s1")),
            second.send("run.prepare", prepare),
            second.send("turn.start", { turnId: "t1", text: "work" })
          )
          expect(replies).toMatchObject([
            { status: "completed", result: { status: "attached" } },
            { status: "rejected", code: "run_exists" },
            { status: "completed", result: { turnId: "t1" } }
          ])
          yield* second.send("session.close")
          expect(typesOf(yield* logged(host.probe), "r2").filter((type) => type === "run.terminal")).toHaveLength(1)
        })
      )
    })
  )

  it.effect("leaves no second one where two sessions are to go on under one run", () =>
    Effect.suspend(() => {
      const host = makeHost()
      return host.inLife(
        Effect.gen(function* () {
          yield* opened
          const other = controllerOf("other")
          yield* other.send("run.prepare", { ...prepare, identity: { normalizedSessionId: "s2" } })
          yield* other.send("session.open")
          const second = controllerOf("r2")
          const [first, late] = yield* atOnce(
            second.send("run.attach", attachTo("s1")),
            second.send("run.attach", attachTo("s2"))
          )
          expect([first?.status, late?.code]).toEqual(["completed", "run_exists"])
          expect((yield* statuses).map(({ runId, runState, sessionId }) => [runId, runState, sessionId])).toEqual([
            ["r1", "terminal", "s1"],
            ["other", "active", "s2"],
            ["r2", "active", "s1"]
          ])
        })
      )
    })
  )

  it.effect("is refused while the agent of the session is being ended, and no run is left without one", () =>
    Effect.suspend(() =>
      makeHost().inLife(
        Effect.gen(function* () {
          const first = yield* opened
          const replies = yield* atOnce(
            first.send("turn.stop"),
            controllerOf("r2").send("run.attach", attachTo("s1")),
            first.send("turn.start", { text: "work" })
          )
          expect(replies).toMatchObject([
            { status: "completed", result: { status: "stopped" } },
            { status: "rejected" },
            { status: "rejected", code: "session_not_open" }
          ])
          expect(yield* statuses).toMatchObject([{ runId: "r1", runState: "suspended", sessionState: "closed" }])
        })
      )
    )
  )
})
