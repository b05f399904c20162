import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DurableJournal } from "../../../src/actors/durableJournal.ts"
import { Journal } from "../../../src/actors/Journal.ts"
import { Runs } from "../../../src/actors/Runs.ts"
import { limits } from "../../../src/schema/limits.ts"
import { decodePrp } from "../../../src/schema/prp/contract/decode.ts"
import { append, sized } from "../durableHost.ts"
import { controllerOf, type Host, logged, makeHost, operator, prepare, typesOf } from "./controller.ts"

/** From now on the store takes nothing: what the process still says is lost, as with a process that is killed. */
const crash = ({ probe }: Host) => Effect.sync(() => void (probe.fails = true))
const repaired = ({ probe }: Host) => void (probe.fails = false)

const statuses = Effect.flatMap(Runs, (runs) => runs.statuses)

/** It is in the log, and so it survives. */
const untilAsked = ({ probe }: Host): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 1000; tries++) {
      if (typesOf(yield* logged(probe), "r1").includes("runtime_request.created")) return
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error("never asked"))
  })

describe("after a crash with a request open", () => {
  it.effect("everything that was open is ended and told once, and nothing is carried out again", () =>
    Effect.gen(function* () {
      const host = makeHost()
      const controller = controllerOf("r1")
      yield* host.inLife(
        Effect.gen(function* () {
          yield* controller.send("run.prepare", prepare)
          yield* controller.send("session.open")
          yield* controller.send("turn.start", { turnId: "t1", text: "ask" })
          yield* untilAsked(host)
          yield* crash(host)
        })
      )
      repaired(host)
      const before = yield* logged(host.probe)
      yield* host.inLife(
        Effect.gen(function* () {
          expect(yield* statuses).toEqual([
            expect.objectContaining({
              runState: "terminal",
              sessionState: "failed",
              lastControllerSeq: 3,
              terminal: expect.objectContaining({ runTerminalState: "failed", turnTerminalState: "failed" })
            })
          ])
          expect(yield* controller.resend("r1-c3")).toMatchObject({
            status: "completed",
            result: { status: "accepted", turnId: "t1" }
          })
          expect(yield* controller.send("turn.start", { text: "again" })).toMatchObject({
            status: "rejected",
            code: "session_not_open"
          })
        })
      )
      const after = yield* logged(host.probe)
      expect(after.slice(0, before.length)).toEqual(before)
      expect(after.map(({ sourceSeq }) => sourceSeq)).toEqual(after.map((_, n) => n + 1))
      expect(new Set(after.map(({ sourceEventId }) => sourceEventId)).size).toBe(after.length)
      const told = after.slice(before.length)
      for (const event of told)
        expect(decodePrp("event", event), JSON.stringify(event)).toMatchObject({ _tag: "Success" })
      expect(typesOf(told, "r1")).toEqual([
        "runtime_request.expired",
        "turn.failed",
        "session.failed",
        "runner.reconciled",
        "run.terminal"
      ])
      expect(told[0]?.payload).toMatchObject({ reason: "provider_process_lost", replayAllowed: false })
      expect(host.agents).toHaveLength(1)

      yield* host.inLife(Effect.void)
      expect(yield* logged(host.probe)).toHaveLength(after.length)
    })
  )

  it.effect("a command that was pending is indeterminate for ever", () =>
    Effect.gen(function* () {
      const host = makeHost((agent) => Effect.andThen(agent.receive, Effect.never))
      const controller = controllerOf("r1")
      yield* host.inLife(
        Effect.gen(function* () {
          yield* controller.send("run.prepare", prepare)
          yield* Effect.forkChild(controller.send("session.open"))
          for (let tries = 0; tries < 1000; tries++) yield* Effect.yieldNow
          expect(yield* statuses).toEqual([expect.objectContaining({ sessionState: "starting" })])
          yield* crash(host)
        })
      )
      repaired(host)
      yield* host.inLife(
        Effect.gen(function* () {
          for (const _ of [1, 2]) {
            expect(yield* controller.resend("r1-c2")).toMatchObject({
              status: "indeterminate",
              code: "command_indeterminate"
            })
          }
          expect(yield* statuses).toEqual([expect.objectContaining({ runState: "terminal", sessionState: "failed" })])
        })
      )
      expect(host.agents).toHaveLength(1)
    })
  )
})

describe("after an end that had its time", () => {
  it.effect("a suspended run is as it was, and any other is over", () =>
    Effect.gen(function* () {
      const host = makeHost()
      yield* host.inLife(
        Effect.gen(function* () {
          for (const runId of ["r1", "r2"]) {
            const controller = controllerOf(runId)
            yield* controller.send("run.prepare", prepare)
            yield* controller.send("session.open")
            if (runId === "r1") yield* controller.send("turn.stop")
          }
        })
      )
      const before = yield* logged(host.probe)
      expect(typesOf(before, "r2").at(-1)).toBe("run.terminal")
      yield* host.inLife(
        Effect.gen(function* () {
          expect((yield* statuses).map(({ runId, runState }) => [runId, runState])).toEqual([
            ["r1", "suspended"],
            ["r2", "terminal"]
          ])
        })
      )
      expect(yield* logged(host.probe)).toEqual(before)
    })
  )
})

describe("a run that was prepared and nothing more", () => {
  it.effect("goes on after a crash, unless it had secrets, which are not kept", () =>
    Effect.gen(function* () {
      const host = makeHost()
      const [plain, secret] = [controllerOf("r1"), controllerOf("r2")]
      const servers = [{ name: "s", type: "http", url: "http://127.0.0.1:1/", headers: [] }]
      yield* host.inLife(
        Effect.gen(function* () {
          yield* plain.send("run.prepare", prepare)
          yield* secret.send("run.prepare", { provider: { ...prepare.provider, mcpServers: servers } })
          yield* crash(host)
        })
      )
      repaired(host)
      yield* host.inLife(
        Effect.gen(function* () {
          expect((yield* statuses).map(({ runState }) => runState)).toEqual(["prepared", "terminal"])
          expect(yield* plain.send("session.open")).toMatchObject({ status: "completed" })
        })
      )
    })
  )
})

describe("without a store", () => {
  it.effect("no command is taken, and the runner says that it failed", () =>
    Effect.gen(function* () {
      const host = makeHost()
      yield* host.inLife(
        Effect.gen(function* () {
          const runs = yield* Runs
          const controller = controllerOf("r1")
          yield* controller.send("run.prepare", prepare)
          yield* crash(host)
          expect(yield* controller.send("session.open")).toMatchObject({ status: "rejected", code: "store_failed" })
          expect(runs.runnerState()).toBe("failed")
          expect(host.agents).toHaveLength(0)
          expect(yield* runs.command(operator, "r1", {}, 2)).toMatchObject({ status: "rejected" })
        })
      )
      repaired(host)
      yield* host.inLife(
        Effect.gen(function* () {
          expect(yield* statuses).toEqual([expect.objectContaining({ runState: "prepared", lastControllerSeq: 1 })])
        })
      )
    })
  )
})

describe("a journal that is full", () => {
  it.effect("has room for what a restart has to say of as many runs as there may be", () =>
    Effect.gen(function* () {
      const host = makeHost()
      const peer = Effect.flatMap(DurableJournal, (journal) => journal.peers.register("control-plane"))
      yield* host.inLife(
        Effect.gen(function* () {
          yield* peer
          for (let n = 0; n < limits.liveRunsMax; n++) {
            const controller = controllerOf(`r${n}`)
            yield* controller.send("run.prepare", prepare)
            yield* controller.send("session.open")
            yield* controller.send("turn.start", { turnId: `t${n}`, text: "ask" })
          }
          for (let tries = 0; tries < 1000 && (yield* asked(host)) < limits.liveRunsMax; tries++) yield* Effect.yieldNow
          expect(yield* asked(host)).toBe(limits.liveRunsMax)
          yield* filled
          yield* crash(host)
        })
      )
      repaired(host)
      yield* host.inLife(
        Effect.gen(function* () {
          expect((yield* statuses).map(({ runState }) => runState)).toEqual(
            Array.from({ length: limits.liveRunsMax }, () => "terminal")
          )
          expect((yield* Runs).runnerState()).toBe("ready")
        })
      )
    })
  )
})

/** Nobody acknowledges, so the log fills until an event has to wait. */
const filled = Effect.gen(function* () {
  const journal = yield* Journal
  yield* Effect.forkScoped(Effect.forever(append(...sized(1, 256 * 1024))))
  for (let tries = 0; tries < 10_000; tries++) {
    if ((yield* Effect.result(journal.admitsTurns))._tag === "Failure") return
    yield* Effect.yieldNow
  }
  return yield* Effect.die(new Error("never full"))
}).pipe(Effect.scoped)

const asked = ({ probe }: Host) =>
  Effect.map(logged(probe), (events) => events.filter((event) => event.eventType === "runtime_request.created").length)
