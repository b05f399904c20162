import { describe, expect, it } from "vitest"
import { exitCodeOf, type RunEnd, type RunError } from "../../src/cli/exitCode.ts"
import * as errors from "../../src/schema/errors.ts"
import { TurnFailureReason, type TurnOutcome } from "../../src/schema/turn.ts"

const completed: TurnOutcome = { _tag: "Completed", stopReason: "end_turn", reply: "message", undeliveredEvents: 0 }
const failed = (reason: TurnFailureReason): TurnOutcome => ({
  _tag: "Failed",
  reason,
  detail: "",
  undeliveredEvents: 0
})
const ended = (outcome: TurnOutcome): RunEnd => ({ _tag: "Ended", outcome })
const notOpened = (error: RunError): RunEnd => ({ _tag: "Failed", error })

describe("the exit code of a run", () => {
  it("is 0 for every way to complete", () => {
    for (const stopReason of ["end_turn", "max_tokens", "max_turn_requests", "unknown"] as const)
      for (const reply of ["message", "none"] as const)
        expect(exitCodeOf(ended({ ...completed, stopReason, reply }), 0)).toBe(0)
  })

  it("is 124 for a timeout, 3 for a refusal and 1 for every other failed turn", () => {
    const codes = TurnFailureReason.literals.map((reason) => [reason, exitCodeOf(ended(failed(reason)), 0)])
    const special: Record<string, number> = { turn_timeout: 124, refused: 3 }
    expect(codes).toEqual(TurnFailureReason.literals.map((reason) => [reason, special[reason] ?? 1]))
    expect(exitCodeOf({ _tag: "TimedOut" }, 0)).toBe(124)
  })

  it("is 130 for a cancelled turn, whoever cancelled it, and before there was one", () => {
    for (const by of ["interrupt", "runCancel", "shutdown", "agent"] as const) {
      const outcome = { _tag: "Cancelled", by, acknowledged: true, written: true, undeliveredEvents: 0 } as const
      expect(exitCodeOf(ended(outcome), 0)).toBe(130)
    }
    expect(exitCodeOf({ _tag: "Interrupted" }, 0)).toBe(130)
  })

  it("tells a mistake, a refusal and a missing agent from a failure", () => {
    const table: ReadonlyArray<readonly [RunError, number]> = [
      [new errors.ProfileInvalid({ file: "f", path: "", reason: "r" }), 2],
      [new errors.PolicyNotEnforceable({ agent: "a", policy: "deny-all", effects: ["edit"] }), 3],
      [new errors.PromptRefused({ reason: "empty", detail: "d" }), 3],
      [new errors.SettingRefused({ setting: "mode", value: "v", available: [] }), 3],
      [new errors.McpServerRefused({ server: "s", reason: "r" }), 3],
      [new errors.EnvironmentRefused({ variable: "V", reason: "r" }), 3],
      [new errors.BackendUnavailable({ backend: "namespace", reason: "r" }), 3],
      [new errors.AgentMissing({ agent: "a", hint: "h" }), 4],
      [new errors.LaunchFailed({ command: "c", reason: "r" }), 4],
      [new errors.AuthRequired({ agent: "a", methods: [] }), 1],
      [new errors.ConnectionClosed({ reason: "exited", stderrTail: [] }), 1],
      [new errors.PlatformUnsupported({ platform: "p", reason: "r" }), 1]
    ]
    expect(table.map(([error]) => exitCodeOf(notOpened(error), 0))).toEqual(table.map(([, code]) => code))
  })

  it("is 5 when processes are left, whatever else happened", () => {
    for (const end of [ended(completed), ended(failed("turn_timeout")), { _tag: "Interrupted" } as const])
      expect(exitCodeOf(end, 1)).toBe(5)
  })
})
