import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { turnTerminal } from "../../../src/schema/prp/projection.ts"
import { TurnOutcome } from "../../../src/schema/turn.ts"
import { requireValid } from "./feed.ts"

const cancelled = { _tag: "Cancelled", acknowledged: true, written: true, undeliveredEvents: 3 } as const

describe("turnTerminal", () => {
  it("completes a turn", () => {
    const usage = { inputTokens: 10 }
    expect(
      turnTerminal("t1", { _tag: "Completed", stopReason: "max_tokens", reply: "none", undeliveredEvents: 0, usage })
    ).toStrictEqual({
      eventType: "turn.completed",
      priority: 0,
      turnId: "t1",
      payload: { status: "completed", stopReason: "max_tokens", reply: "none", undeliveredEvents: 0 },
      debug: { native: { usage } }
    })
  })

  it("tells an interrupted turn from a cancelled one, and keeps what the agent answered", () => {
    const by = (who: "interrupt" | "runCancel" | "shutdown" | "agent") => {
      const { eventType, payload, priority } = turnTerminal("t1", {
        ...cancelled,
        by: who,
        providerStopReason: "end_turn"
      })
      expect(payload).toMatchObject({
        by: who,
        acknowledged: true,
        providerStopReason: "end_turn",
        undeliveredEvents: 3
      })
      return [eventType, priority, "status" in payload && payload.status, "reason" in payload && payload.reason]
    }
    expect(by("interrupt")).toStrictEqual(["turn.interrupted", 0, "interrupted", "turn_interrupted"])
    expect(by("runCancel")).toStrictEqual(["turn.cancelled", 0, "cancelled", "run_cancelled"])
    expect(by("shutdown")).toStrictEqual(["turn.cancelled", 0, "cancelled", "controller_closed"])
    expect(by("agent")).toStrictEqual(["turn.cancelled", 0, "cancelled", "cancelled_by_agent"])
  })

  it("fails a turn with the agent's words bounded in the payload and whole beside", () => {
    const agentError = { rpcCode: -32603, rpcMessage: "x".repeat(4001), data: { code: "model_rate_limited" } }
    expect(
      turnTerminal("t1", {
        _tag: "Failed",
        reason: "agent_error",
        detail: "The agent answered with an error.",
        classification: "rate_limited",
        agentError,
        undeliveredEvents: 0
      })
    ).toStrictEqual({
      eventType: "turn.failed",
      priority: 0,
      turnId: "t1",
      payload: {
        status: "failed",
        reason: "agent_error",
        message: "The agent answered with an error.",
        classification: "rate_limited",
        agentError: { rpcCode: -32603, rpcMessage: "x".repeat(4000) },
        undeliveredEvents: 0
      },
      debug: { native: { error: agentError } }
    })
  })

  it("tells an exit in PRP's words and leaves unknown what is unknown", () => {
    const exitOf = (exit: Extract<TurnOutcome, { _tag: "Failed" }>["exit"] & object) =>
      turnTerminal("t1", {
        _tag: "Failed",
        reason: "connection_closed",
        detail: "",
        closeReason: "exited",
        exit,
        stderrTail: Array.from({ length: 65 }, (_, index) => `line ${index}`),
        undeliveredEvents: 0
      }).payload
    expect(exitOf({ _tag: "Code", code: 7 })).toMatchObject({
      processExit: { exitCode: 7, signal: null, success: false }
    })
    expect(exitOf({ _tag: "Code", code: 0 })).toMatchObject({ processExit: { success: true } })
    expect(exitOf({ _tag: "Signal", signal: "SIGKILL", inferred: true })).toMatchObject({
      processExit: { exitCode: null, signal: "SIGKILL", success: false, inferred: true }
    })
    const unknown = exitOf({ _tag: "Unknown", reason: "not told" })
    expect(unknown).toMatchObject({ processExit: { exitCode: null, signal: null, success: null } })
    const tail = "stderrTail" in unknown ? unknown.stderrTail : undefined
    expect(tail).toHaveLength(64)
    expect(tail).toContain("line 64")
  })

  it.prop("makes one valid event of every outcome", [Arbitrary.schema(TurnOutcome)], ([outcome]) => {
    const draft = turnTerminal("t1", outcome)
    expect(draft.priority).toBe(0)
    requireValid(draft)
  })
})
