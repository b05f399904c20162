import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { commandTable } from "../../../src/actors/commandTable.ts"
import { Runs } from "../../../src/actors/Runs.ts"
import { limits } from "../../../src/schema/limits.ts"
import { CommandTypeV2 } from "../../../src/schema/prp/contract/command.ts"
import { decodePrp } from "../../../src/schema/prp/contract/decode.ts"
import type { RunStatus } from "../../../src/schema/run.ts"
import { controllerOf, type Host, logged, makeHost, operator, prepare, typesOf } from "./controller.ts"

const statusOf = (runId: string) =>
  Effect.flatMap(Runs, (runs) => Effect.map(runs.statuses, (all) => all.find((one) => one.runId === runId)))

/** Polls, with time standing still, until the status is so. */
const until = (runId: string, isSo: (status: RunStatus) => boolean): Effect.Effect<RunStatus, never, Runs> =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 10_000; tries++) {
      const status = yield* statusOf(runId)
      if (status !== undefined && isSo(status)) return status
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error(`never so: ${JSON.stringify(yield* statusOf(runId))}`))
  })

const opened = (runId = "r1") =>
  Effect.gen(function* () {
    const controller = controllerOf(runId)
    expect(yield* controller.send("run.prepare", prepare)).toMatchObject({ status: "completed" })
    expect(yield* controller.send("session.open")).toMatchObject({ status: "completed", result: { status: "started" } })
    return controller
  })

const inHost = <A, E>(test: (host: Host) => Effect.Effect<A, E, Runs>) =>
  Effect.suspend(() => {
    const host = makeHost()
    return host.inLife(test(host))
  })

describe("a run, driven by commands", () => {
  it.effect("goes from its preparation to its terminal, and every event of it is one of the contract", () =>
    Effect.gen(function* () {
      const host = makeHost()
      yield* host.inLife(
        Effect.gen(function* () {
          const controller = yield* opened()
          const started = yield* controller.send("turn.start", { turnId: "t1", text: "work" })
          expect(started).toMatchObject({ status: "completed", result: { status: "accepted", turnId: "t1" } })
          yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
          expect(yield* controller.send("session.close")).toMatchObject({ result: { status: "closed" } })
          expect(yield* statusOf("r1")).toMatchObject({
            runState: "terminal",
            sessionState: "closed",
            lastControllerSeq: 4,
            terminal: { runTerminalState: "succeeded", reportedWorkDisposition: "needs_review" }
          })
        })
      )
      const events = yield* logged(host.probe)
      for (const event of events)
        expect(decodePrp("event", event), JSON.stringify(event)).toMatchObject({ _tag: "Success" })
      expect(events.map(({ sourceSeq }) => sourceSeq)).toEqual(events.map((_, n) => n + 1))
      expect(typesOf(events, "r1")).toEqual([
        "runtime.phase.changed",
        "workspace.ready",
        "harness.starting",
        "session.starting",
        "harness.ready",
        "session.started",
        "session.capabilities.updated",
        "session.goal.snapshot",
        "runtime.phase.changed",
        "turn.submitted",
        "runtime.phase.changed",
        "turn.started",
        "item.started",
        "item.delta",
        "item.completed",
        "turn.completed",
        "session.capabilities.updated",
        "session.goal.snapshot",
        "run.result.proposed",
        "harness.exited",
        "session.closed",
        "run.terminal"
      ])
    })
  )

  it.effect("stands on the result that the host proposes, the first one", () =>
    inHost((host) =>
      Effect.gen(function* () {
        const controller = yield* opened()
        const runs = yield* Runs
        yield* controller.send("turn.start", { text: "work" })
        yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
        const result = {
          schema: "paperclip.run_result.v1",
          reportedWorkDisposition: "complete",
          summary: "Did it.",
          completionClaim: { contractRevision: "1", objectiveSatisfied: true, criteria: [], remainingWork: [] },
          evidence: [],
          verification: [],
          attentionRequests: [],
          artifacts: []
        }
        expect(yield* Effect.flip(runs.proposeResult("r2", result))).toMatchObject({ code: "run_unknown" })
        expect(yield* Effect.flip(runs.proposeResult("r1", { ...result, summary: "" }))).toMatchObject({
          code: "result_invalid",
          issues: [{ path: "/summary" }]
        })
        yield* runs.proposeResult("r1", result)
        expect(yield* Effect.flip(runs.proposeResult("r1", result))).toMatchObject({ code: "result_already_proposed" })
        yield* controller.send("session.close")
        expect(yield* Effect.flip(runs.proposeResult("r1", result))).toMatchObject({ code: "run_ended" })
        expect(yield* statusOf("r1")).toMatchObject({
          terminal: { runTerminalState: "succeeded", reportedWorkDisposition: "done" }
        })
        expect(typesOf(yield* logged(host.probe), "r1").filter((type) => type === "run.result.proposed")).toHaveLength(
          1
        )
      })
    )
  )

  it.effect("is cancelled with its turn, also while its agent starts", () =>
    Effect.gen(function* () {
      const host = makeHost((agent) => Effect.andThen(agent.receive, Effect.never))
      yield* host.inLife(
        Effect.gen(function* () {
          const controller = controllerOf("r1")
          yield* controller.send("run.prepare", prepare)
          const opening = yield* Effect.forkChild(controller.send("session.open"))
          yield* until("r1", ({ sessionState }) => sessionState === "starting")
          expect(yield* controller.send("run.cancel")).toMatchObject({ status: "completed" })
          expect(yield* Fiber.join(opening)).toMatchObject({ status: "failed", code: "cancelled" })
          expect(yield* statusOf("r1")).toMatchObject({
            runState: "terminal",
            terminal: { runTerminalState: "cancelled", turnTerminalState: "cancelled" }
          })
        })
      )
      expect(host.agents[0]?.isEnded()).toBe(true)
      expect(typesOf(yield* logged(host.probe), "r1").at(-1)).toBe("run.terminal")
    })
  )

  it.effect("ends a hanging turn by interrupt, and goes on", () =>
    inHost(() =>
      Effect.gen(function* () {
        const controller = yield* opened()
        yield* controller.send("turn.start", { turnId: "t1", text: "hang" })
        yield* until("r1", ({ activeTurnId }) => activeTurnId === "t1")
        expect(yield* controller.send("turn.interrupt", { reason: "enough" })).toMatchObject({
          result: { status: "interrupt_requested", reason: "enough", providerTurnId: null }
        })
        yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
        expect(yield* controller.send("turn.interrupt", { turnId: "t1" })).toMatchObject({
          result: { status: "already_settled" }
        })
        expect(yield* controller.send("turn.start", { turnId: "t2", text: "work" })).toMatchObject({
          status: "completed"
        })
        yield* controller.send("run.cancel")
        expect(yield* statusOf("r1")).toMatchObject({ terminal: { runTerminalState: "cancelled" } })
      })
    )
  )

  it.effect("fails, once and at once, when its agent dies", () =>
    inHost((host) =>
      Effect.gen(function* () {
        const controller = yield* opened()
        yield* controller.send("turn.start", { turnId: "t1", text: "die" })
        const status = yield* until("r1", ({ runState }) => runState === "terminal")
        expect(status).toMatchObject({
          sessionState: "failed",
          terminal: { runTerminalState: "failed", turnTerminalState: "failed" }
        })
        expect(yield* controller.send("turn.start", { text: "more" })).toMatchObject({ code: "session_not_open" })
        const types = typesOf(yield* logged(host.probe), "r1")
        expect(types.filter((type) => type === "run.terminal")).toHaveLength(1)
        expect(types.at(-1)).toBe("run.terminal")
      })
    )
  )

  it.effect("answers a request of the agent once, by the choice that is meant", () =>
    inHost((host) =>
      Effect.gen(function* () {
        const controller = yield* opened()
        yield* controller.send("turn.start", { turnId: "t1", text: "ask" })
        const { openRequests } = yield* until("r1", (status) => status.openRequests.length > 0)
        const [requestId] = openRequests
        const resolve = (response: unknown) => controller.send("request.resolve", { requestId, response })
        expect(yield* resolve({ action: "submit", answers: {} })).toMatchObject({ code: "invalid_resolution" })
        expect(yield* resolve({ action: "accept_for_session" })).toMatchObject({ code: "invalid_resolution" })
        expect(yield* resolve({ action: "accept" })).toMatchObject({ result: { status: "delivered", requestId } })
        expect(yield* resolve({ action: "accept" })).toMatchObject({ status: "rejected", code: "already_terminal" })
        yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
        const answers = host.agents[0]?.written.filter((frame) => String(frame["id"]).startsWith("p-"))
        expect(answers).toEqual([
          expect.objectContaining({ result: { outcome: { outcome: "selected", optionId: "yes" } } })
        ])
      })
    )
  )

  it.effect("hands its session to another run without a new agent", () =>
    inHost((host) =>
      Effect.gen(function* () {
        const first = yield* opened()
        yield* first.send("turn.start", { turnId: "t1", text: "work" })
        yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
        const sessionId = (yield* statusOf("r1"))?.sessionId
        const second = controllerOf("r2")
        const payload = { paperclipNextAuthority: { identity: { normalizedSessionId: sessionId } } }
        expect(yield* second.send("run.attach", payload)).toMatchObject({
          status: "completed",
          result: { status: "attached", sessionId }
        })
        expect(yield* statusOf("r1")).toMatchObject({
          runState: "terminal",
          terminal: { runTerminalState: "succeeded" }
        })
        yield* second.send("turn.start", { turnId: "t2", text: "more" })
        yield* until("r2", ({ activeTurnId }) => activeTurnId === null)
        yield* second.send("session.close")
        expect(host.agents).toHaveLength(1)
        const events = yield* logged(host.probe)
        expect(typesOf(events, "r1").slice(-3)).toEqual(["run.result.proposed", "run.detached", "run.terminal"])
        expect(typesOf(events, "r2")[0]).toBe("run.attached")
        expect(events.filter(({ turnId }) => turnId === "t2").map(({ runId }) => runId)).not.toContain("r1")
      })
    )
  )
})

describe("every command", () => {
  const payloads: Readonly<Record<string, unknown>> = {
    "run.prepare": prepare,
    "turn.start": { text: "work" },
    "request.resolve": { requestId: "none", response: { action: "accept" } },
    "session.goal.set": { objective: "win" }
  }
  const expected: Readonly<Record<string, Record<string, unknown>>> = {
    "run.prepare": { status: "rejected", code: "run_exists" },
    "run.attach": { status: "rejected", code: "run_exists" },
    "session.open": { status: "rejected", code: "session_exists" },
    "turn.start": { status: "completed" },
    "turn.steer": { status: "rejected", code: "provider_command_unavailable" },
    "turn.interrupt": { status: "completed", result: { status: "already_settled" } },
    "turn.stop": { status: "completed", result: { status: "stopped", providerExitConfirmed: true } },
    "request.resolve": { status: "rejected", code: "already_terminal" },
    "interaction.receipt": { status: "rejected", code: "command_unavailable" },
    "semantic_tool.result": { status: "rejected", code: "command_unavailable" },
    "session.snapshot": { status: "completed", result: { status: "running", warmAttachReady: true } },
    "session.close": { status: "completed", result: { status: "closed" } },
    "session.budget.increase": { status: "rejected", code: "command_unavailable" },
    "session.destroy": { status: "completed", result: { status: "destroyed" } },
    "run.cancel": { status: "completed", result: { status: "interrupt_requested" } },
    "runner.drain": { status: "rejected", code: "run_unexpected" },
    "runner.suspend": { status: "rejected", code: "run_unexpected" },
    "runner.shutdown": { status: "rejected", code: "run_unexpected" },
    "session.goal.get": { status: "completed", result: { goal: null, sessionGoals: { availability: "unsupported" } } },
    "session.goal.set": { status: "rejected", code: "session_goal_action_unavailable" },
    "session.goal.clear": { status: "rejected", code: "session_goal_action_unavailable" }
  }

  it("is in the table", () => {
    expect(Object.keys(commandTable).sort()).toEqual([...CommandTypeV2.literals].sort())
    expect(Object.keys(expected).sort()).toEqual([...CommandTypeV2.literals].sort())
  })

  for (const type of CommandTypeV2.literals) {
    it.effect(`${type} is answered with what the table says of it`, () =>
      inHost(() =>
        Effect.gen(function* () {
          const controller = yield* opened()
          const reply = yield* controller.send(type, payloads[type])
          expect(reply).toMatchObject({ commandType: type, controllerSeq: 3, ...expected[type] })
          if (expected[type]?.["code"] === "run_unexpected") return
          expect(yield* controller.resend(reply.commandId)).toEqual(reply)
        })
      )
    )
  }

  it.effect("of the runner drains it, suspends it or shuts it down", () =>
    Effect.gen(function* () {
      for (const [type, state] of [
        ["runner.drain", "draining"],
        ["runner.suspend", "suspended"],
        ["runner.shutdown", "stopped"]
      ] as const) {
        const host = makeHost()
        yield* host.inLife(
          Effect.gen(function* () {
            const runs = yield* Runs
            const controller = yield* opened()
            const ended = yield* Effect.forkChild(runs.ended)
            const reply = yield* controllerOf(null).send(type)
            expect(reply).toMatchObject({ status: "completed", result: { status: state } })
            expect(runs.runnerState()).toBe(state)
            expect(yield* controller.send("turn.start", { text: "more" })).toMatchObject({ code: "runner_draining" })
            const another = controllerOf("r2")
            expect(yield* another.send("run.prepare", prepare)).toMatchObject({ code: "runner_draining" })
            if (state === "draining") return
            yield* runs.acknowledged("another")
            expect(ended.pollUnsafe()).toBeUndefined()
            yield* runs.acknowledged(reply.commandId)
            expect(yield* Fiber.join(ended)).toBe(state)
          })
        )
        const types = typesOf(yield* logged(host.probe), "r1")
        expect(types.filter((type) => type === "run.terminal")).toHaveLength(state === "suspended" ? 0 : 1)
      }
    })
  )

  it.effect("that ends the runner does so without the acknowledgement of its reply, after a while", () =>
    inHost(() =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const ended = yield* Effect.forkChild(runs.ended)
        yield* controllerOf(null).send("runner.shutdown")
        yield* TestClock.adjust(limits.lifecycleAckMs - 1)
        expect(ended.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust(1)
        expect(yield* Fiber.join(ended)).toBe("stopped")
      })
    )
  )
})

describe("a command is refused", () => {
  it.effect("when it is none, when its run is unknown, and when its number is not the next", () =>
    inHost(() =>
      Effect.gen(function* () {
        const runs = yield* Runs
        expect(yield* runs.command(operator, "r1", { commandId: "c", controllerSeq: 1 }, 2)).toMatchObject({
          commandId: "c",
          status: "rejected",
          code: "schema_validation"
        })
        const controller = controllerOf("r1")
        expect(yield* controller.send("session.open")).toMatchObject({ code: "run_unknown" })
        expect(yield* controller.send("run.prepare", prepare)).toMatchObject({
          code: "controller_sequence_gap",
          expectedSeq: 1
        })
        expect(yield* controller.send("run.prepare", prepare, { controllerSeq: 1 })).toMatchObject({
          status: "completed"
        })
        expect(yield* controller.send("session.open", {}, { controllerSeq: 2, commandId: "r1-c3" })).toMatchObject({
          code: "command_conflict"
        })
      })
    )
  )

  const refusals: ReadonlyArray<readonly [string, unknown, string]> = [
    ["an agent that nobody has", { provider: { kind: "none", cwd: "/workspace" } }, "agent_unknown"],
    ["no folder", { provider: { kind: "fake" } }, "payload_invalid"],
    ["a payload of another shape", { provider: "fake" }, "payload_invalid"],
    [
      "a policy that the agent cannot keep",
      { provider: { kind: "silent", cwd: "/workspace", permissionMode: "deny-all" } },
      "policy_not_enforceable"
    ]
  ]
  for (const [name, payload, code] of refusals) {
    it.effect(`and takes no number: a run with ${name}`, () =>
      inHost(() =>
        Effect.gen(function* () {
          const controller = controllerOf("r1")
          expect(yield* controller.send("run.prepare", payload)).toMatchObject({ status: "rejected", code })
          expect(yield* controller.send("run.prepare", prepare, { controllerSeq: 1 })).toMatchObject({
            status: "completed"
          })
        })
      )
    )
  }

  it.effect("when it presumes another state, or comes too late, and takes its number all the same", () =>
    inHost(() =>
      Effect.gen(function* () {
        const controller = yield* opened()
        yield* TestClock.setTime(Date.parse("2026-01-01T00:00:01Z"))
        const cases = [
          [{ precondition: { runnerState: ["draining"] } }, "precondition_failed"],
          [{ precondition: { runState: ["prepared"] } }, "precondition_failed"],
          [{ precondition: { sessionState: ["closed"] } }, "precondition_failed"],
          [{ precondition: { activeTurnId: "t9" } }, "precondition_failed"],
          [{ deadlineAt: "2026-01-01T00:00:00.999Z" }, "deadline_exceeded"]
        ] as const
        for (const [extra, code] of cases) {
          expect(yield* controller.send("session.snapshot", {}, extra)).toMatchObject({ status: "rejected", code })
        }
        const met = {
          precondition: { runnerState: ["ready"], runState: ["active"], sessionState: ["running"], activeTurnId: null },
          deadlineAt: "2026-01-01T00:00:01Z"
        }
        expect(yield* controller.send("session.snapshot", {}, met)).toMatchObject({ status: "completed" })
        expect(yield* statusOf("r1")).toMatchObject({ lastControllerSeq: 8 })
      })
    )
  )

  it.effect("when it is of version 2 and the connection is not", () =>
    inHost(() =>
      Effect.gen(function* () {
        yield* opened()
        const old = controllerOf("r1", { version: 1 })
        expect(yield* old.send("session.goal.get", {}, { controllerSeq: 3, commandId: "a" })).toMatchObject({
          code: "unsupported_required_version"
        })
        expect(yield* old.send("session.snapshot", {}, { controllerSeq: 3, commandId: "b" })).toMatchObject({
          status: "completed"
        })
      })
    )
  )
})

describe("a command that comes more than once", () => {
  it.effect("is carried out once, also while it is under way, and has one answer", () =>
    inHost((host) =>
      Effect.gen(function* () {
        const controller = yield* opened()
        const sending = yield* Effect.forkChild(controller.send("turn.start", { turnId: "t1", text: "work" }))
        yield* Effect.yieldNow
        const again = yield* Effect.all([controller.resend("r1-c3"), controller.resend("r1-c3")], { concurrency: 2 })
        const first = yield* Fiber.join(sending)
        expect(again).toEqual([first, first])
        yield* until("r1", ({ activeTurnId }) => activeTurnId === null)
        yield* controller.send("session.close")
        expect(yield* controller.resend("r1-c3")).toEqual(first)
        expect(host.agents[0]?.written.filter((frame) => frame["method"] === "session/prompt")).toHaveLength(1)
      })
    )
  )

  it.effect("or in another order than their numbers is taken in that of its numbers only", () =>
    inHost(() =>
      Effect.gen(function* () {
        const controller = yield* opened()
        const [late, early] = yield* Effect.all(
          [
            controller.send("session.snapshot", {}, { controllerSeq: 4, commandId: "late" }),
            controller.send("session.snapshot", {}, { controllerSeq: 3, commandId: "early" })
          ],
          { concurrency: 2 }
        )
        expect(late).toMatchObject({ code: "controller_sequence_gap", expectedSeq: 3 })
        expect(early).toMatchObject({ status: "completed" })
        expect(yield* controller.resend("late")).toMatchObject({ status: "completed" })
      })
    )
  )
})

describe("a tenant", () => {
  const tenant = (companyId: string, runIds: ReadonlyArray<string> | null = null) =>
    ({ authority: { _tag: "Tenant", companyId, runIds } }) as const

  it.effect("reaches its own runs and nothing else, and cannot tell what is there", () =>
    inHost(() =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const own = controllerOf("r1", tenant("acme"))
        expect(yield* own.send("run.prepare", prepare)).toMatchObject({ status: "completed" })
        expect(yield* own.send("session.open")).toMatchObject({ status: "completed" })
        const foreign = controllerOf("r1", tenant("other"))
        const nobody = controllerOf("r9", tenant("other"))
        for (const type of ["session.snapshot", "session.open", "run.cancel", "turn.start", "request.resolve"]) {
          const [theirs, none] = [yield* foreign.send(type), yield* nobody.send(type)]
          expect({ ...theirs, commandId: "" }).toEqual({ ...none, commandId: "" })
          expect(theirs).toMatchObject({ status: "rejected", code: "run_unknown" })
        }
        // The very command of the other company, with its id and its content, is not answered from the log.
        expect(yield* foreign.send("run.prepare", prepare, { commandId: "r1-c1", controllerSeq: 1 })).toMatchObject({
          code: "run_unknown"
        })
        expect(yield* controllerOf(null, tenant("acme")).send("runner.drain")).toMatchObject({ code: "not_authorized" })
        const named = controllerOf("r2", tenant("acme", ["r3"]))
        expect(yield* named.send("run.prepare", prepare)).toMatchObject({ code: "run_unknown" })
        const identity = { companyId: "other" }
        expect(yield* controllerOf("r4", tenant("acme")).send("run.prepare", { ...prepare, identity })).toMatchObject({
          code: "tenant_mismatch"
        })
        expect(runs.isVisible(tenant("acme").authority, "r1", 1)).toBe(true)
        expect(runs.isVisible(tenant("acme", ["r3"]).authority, "r1", 1)).toBe(false)
        expect(runs.isVisible(tenant("other").authority, "r1", 1)).toBe(false)
        expect(runs.isVisible(operator, "r1", 1)).toBe(true)
      })
    )
  )
})

describe("a run without an agent", () => {
  it.effect("ends when its time has come, prepared or suspended, and not before", () =>
    inHost(() =>
      Effect.gen(function* () {
        yield* controllerOf("r1").send("run.prepare", prepare)
        const controller = yield* opened("r2")
        yield* TestClock.adjust(limits.idleRunMs - 1)
        expect(yield* controller.send("turn.stop")).toMatchObject({ status: "completed" })
        expect(yield* controller.send("session.open")).toMatchObject({ code: "session_unavailable" })
        expect(yield* statusOf("r1")).toMatchObject({ runState: "prepared" })
        yield* TestClock.adjust(1)
        expect(yield* until("r1", ({ runState }) => runState === "terminal")).toMatchObject({
          terminal: { runTerminalState: "failed", reconciliation: { reason: "run_abandoned" } }
        })
        expect(yield* statusOf("r2")).toMatchObject({ runState: "suspended" })
        yield* TestClock.adjust(limits.idleRunMs - 1)
        yield* until("r2", ({ runState }) => runState === "terminal")
      })
    )
  )

  it.effect(
    "is refused beyond the bound of runs that have not ended, and forgotten beyond that of those that have",
    () =>
      inHost(() =>
        Effect.gen(function* () {
          const runs = yield* Runs
          for (let n = 0; n < limits.liveRunsMax; n++) {
            expect((yield* controllerOf(`r${n}`).send("run.prepare", prepare)).status).toBe("completed")
          }
          expect(yield* controllerOf("one-more").send("run.prepare", prepare)).toMatchObject({ code: "too_many_runs" })
          const end = (n: number) =>
            controllerOf(`r${n}`).send("run.cancel", {}, { controllerSeq: 2, commandId: "cancel" })
          for (let n = 0; n < limits.liveRunsMax; n++) yield* end(n)
          for (let n = limits.liveRunsMax; n < limits.rememberedRunsMax; n++) {
            yield* controllerOf(`r${n}`).send("run.prepare", prepare)
            yield* end(n)
          }
          yield* controllerOf("next").send("run.prepare", prepare)
          expect(yield* runs.statuses).toHaveLength(limits.rememberedRunsMax + 1)
          yield* controllerOf("next").send("run.cancel", {}, { controllerSeq: 2, commandId: "cancel" })
          yield* controllerOf("last").send("run.prepare", prepare)
          const left = (yield* runs.statuses).map(({ runId }) => runId)
          expect(left).toHaveLength(limits.rememberedRunsMax + 1)
          expect(left).not.toContain("r0")
          expect(yield* controllerOf("r0").send("run.prepare", prepare)).toMatchObject({ status: "completed" })
        })
      )
  )
})
