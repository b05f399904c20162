import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import {
  claimed,
  type EndCause,
  type HarnessClaims,
  noClaims,
  reconcileTerminal,
  runEnd
} from "../../../../src/schema/prp/rules/terminalReconciliation.ts"

const exit = (exitCode: number | null) => ({ exitCode, success: exitCode === 0, signal: exitCode === null ? 9 : null })

const terminal = (turn: string, run: string, disposition: string) => ({
  schema: "paperclip.prp.terminal.v1",
  turnTerminalState: turn,
  runTerminalState: run,
  reportedWorkDisposition: disposition
})

const result = (reportedWorkDisposition: string) => ({ reportedWorkDisposition })

const facts = (cause: EndCause, code: number | null, claims: Partial<HarnessClaims>) => {
  const { turnTerminalState, runTerminalState, reconciliation } = reconcileTerminal(cause, exit(code), {
    ...noClaims,
    ...claims
  })
  return [turnTerminalState, runTerminalState, reconciliation.reason]
}

describe("reconcileTerminal", () => {
  it("believes what the runner saw", () => {
    const done = { result: result("done"), terminal: terminal("completed", "succeeded", "done") }
    expect(facts("natural", 0, done)).toEqual(["completed", "succeeded", "successful_process_and_result"])
    for (const code of [7, null]) {
      expect(facts("natural", code, done)).toEqual(["failed", "failed", "harness_process_failed"])
    }
    expect(facts("natural", 0, { terminal: done.terminal })).toEqual(["failed", "failed", "semantic_result_missing"])
    for (const code of [0, 130, null]) {
      expect(facts("interrupted", code, done)).toEqual(["interrupted", "cancelled", "turn_interrupted"])
      expect(facts("cancelled", code, done)).toEqual(["cancelled", "cancelled", "run_cancelled"])
      expect(facts("controller_closed", code, done)).toEqual(["cancelled", "cancelled", "controller_closed"])
      expect(facts("protocol_violation", code, done)).toEqual(["failed", "failed", "harness_protocol_violation"])
    }
  })

  it("takes the disposition of the result, then of the claim, and nobody's done for a run that did not succeed", () => {
    const disposition = (code: number, ofResult?: string, ofClaim?: string) =>
      reconcileTerminal("natural", exit(code), {
        result: ofResult === undefined ? undefined : result(ofResult),
        terminal: ofClaim === undefined ? undefined : terminal("completed", "succeeded", ofClaim)
      }).reportedWorkDisposition
    expect(disposition(0, "blocked", "done")).toBe("blocked")
    expect(disposition(0, "odd", "needs_review")).toBe("needs_review")
    expect(disposition(0, "odd", "odd")).toBe("done")
    expect(disposition(7, "needs_review", "blocked")).toBe("needs_review")
    expect(disposition(7, "done", "blocked")).toBe("blocked")
    expect(disposition(7, "done", "done")).toBe("yielded")
    expect(disposition(7)).toBe("yielded")
  })

  it("keeps the claim, and says whether it is one and whether it is contradicted", () => {
    const of = (claim: Readonly<Record<string, unknown>> | undefined) => {
      const payload = reconcileTerminal("natural", exit(0), { result: result("done"), terminal: claim })
      expect(payload.harnessTerminalProposal).toBe(claim ?? null)
      return [payload.reconciliation.proposalValid, payload.reconciliation.proposalContradicted]
    }
    expect(of(undefined)).toEqual([false, false])
    expect(of(terminal("completed", "succeeded", "yielded"))).toEqual([true, false])
    expect(of(terminal("completed", "failed", "done"))).toEqual([true, true])
    expect(of(terminal("failed", "succeeded", "done"))).toEqual([true, true])
    expect(of(terminal("odd", "failed", "done"))).toEqual([false, false])
  })

  it("is a terminal of the contract, whatever was claimed", () => {
    for (const claim of [undefined, {}, { stopReason: 1 }, terminal("failed", "failed", "blocked")]) {
      const payload = reconcileTerminal("natural", exit(0), { result: undefined, terminal: claim })
      expect(Result.isSuccess(decodePrp("paperclip.prp.terminal.v1", payload))).toBe(true)
      expect(payload.reconciliation).toMatchObject({
        authority: "runner",
        processExit: exit(0),
        semanticResultObserved: false
      })
    }
  })
})

describe("claimed", () => {
  it("passes on the first result and keeps the first terminal", () => {
    const first = claimed(noClaims, "result", result("done"))
    expect(first.drafts).toEqual([{ eventType: "run.result.proposed", payload: result("done") }])
    const second = claimed(first.claims, "terminal", result("blocked"))
    expect(second).toEqual({ claims: { result: result("done"), terminal: result("blocked") }, drafts: [] })
  })

  it("ignores later ones and says so", () => {
    const claims: HarnessClaims = { result: result("done"), terminal: result("done") }
    for (const [kind, code] of [
      ["result", "duplicate_semantic_result_ignored"],
      ["terminal", "duplicate_terminal_ignored"]
    ] as const) {
      const later = claimed(claims, kind, result("blocked"))
      expect(later.claims).toBe(claims)
      expect(later.drafts).toMatchObject([{ eventType: "harness.diagnostic", payload: { code } }])
    }
  })
})

describe("runEnd", () => {
  it("tells of the exit, then of the end, and of nothing after", () => {
    const logs = { lines: [], retainedBytes: 0, droppedLines: 0 }
    const claims: HarnessClaims = { result: result("done"), terminal: undefined }
    expect(runEnd("natural", exit(0), claims, logs)).toEqual([
      { eventType: "harness.exited", payload: { processExit: exit(0), semanticResultObserved: true, logs } },
      { eventType: "run.terminal", payload: reconcileTerminal("natural", exit(0), claims) }
    ])
  })
})
