import { describe, expect, it } from "vitest"
import { errorLines } from "../../src/cli/errorLines.ts"
import type { RunError } from "../../src/cli/exitCode.ts"
import { lastLine, processCounts, reasonLines } from "../../src/cli/summary.ts"
import * as errors from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import type { CleanupReport } from "../../src/services/AgentLink.ts"

const requests = { asked: 3, allowed: 2, denied: 1 }
const clean = { started: 4, left: [] }
const ended = (outcome: TurnOutcome) => ({ _tag: "Ended", outcome }) as const
const completed = { _tag: "Completed", stopReason: "end_turn", reply: "message", undeliveredEvents: 0 } as const
const failed = { _tag: "Failed", reason: "agent_error", detail: "the prompt failed", undeliveredEvents: 0 } as const

describe("the last line", () => {
  it("has the outcome, how long it took, the requests and the processes", () => {
    expect(lastLine(ended(completed), 1234, requests, clean)).toBe(
      "greenroom: completed in 1.2 s; requests: 3 asked, 2 allowed, 1 denied; processes: 4 started, all gone"
    )
  })

  it("names every outcome, on one line", () => {
    const cancelled = {
      _tag: "Cancelled",
      by: "interrupt",
      acknowledged: true,
      written: true,
      undeliveredEvents: 0
    } as const
    const texts = [
      ended({ ...completed, reply: "none", stopReason: "max_tokens" }),
      ended(failed),
      ended({ ...failed, reason: "turn_timeout" }),
      ended(cancelled),
      ended({ ...cancelled, by: "agent" }),
      { _tag: "TimedOut" } as const,
      { _tag: "Interrupted" } as const,
      { _tag: "Failed", error: new errors.AgentMissing({ agent: "a", hint: "h" }) } as const
    ].map((end) => lastLine(end, 0, requests, clean).split(" in ")[0])
    expect(texts).toEqual([
      "greenroom: completed without a message (max_tokens)",
      "greenroom: failed (agent_error)",
      "greenroom: timed out",
      "greenroom: cancelled",
      "greenroom: cancelled by the agent",
      "greenroom: timed out before the prompt",
      "greenroom: cancelled before the prompt",
      "greenroom: failed (agent_missing)"
    ])
  })

  it("names what is left, and never calls it clean", () => {
    const survivor = (pid: number) => ({ pid, startTime: "1", bootId: "b", pidNamespace: "n" })
    const report = (processesSeen: number, ...pids: ReadonlyArray<number>): CleanupReport => ({
      exit: { _tag: "Code", code: 0 },
      steps: [],
      proof: "marker",
      processesSeen,
      survivors: pids.map(survivor)
    })
    const left = lastLine(ended(completed), 0, requests, processCounts([report(2, 71), report(1), report(3, 72)]))
    expect(left).toMatch(/processes: 6 started, 2 LEFT: 71, 72$/)
    expect(lastLine(ended(completed), 0, requests, processCounts([]))).toMatch(/processes: none started$/)
  })
})

describe("the reason", () => {
  it("of a failed turn is ours, then the agent's own words and the end of its stderr, all safe", () => {
    const stderrTail = Array.from({ length: limits.shownOutputLinesMax + 1 }, (_, index) => `line ${index}\u001b`)
    const agentError = { rpcCode: -32603, rpcMessage: "no\nmodel" }
    expect(reasonLines(ended({ ...failed, classification: "rate_limited", agentError, stderrTail }))).toEqual([
      "the prompt failed",
      "classified as rate_limited",
      "the agent says: no model (-32603)",
      ...stderrTail.slice(1).map((line) => `stderr: ${line.replace("\u001b", "\ufffd")}`)
    ])
  })

  it("of a cancel is said only when the agent did not hear it", () => {
    const cancelled = {
      _tag: "Cancelled",
      by: "interrupt",
      acknowledged: true,
      written: true,
      undeliveredEvents: 0
    } as const
    expect(reasonLines(ended(cancelled))).toEqual([])
    expect(reasonLines(ended({ ...cancelled, acknowledged: false }))).toHaveLength(1)
    expect(reasonLines(ended(completed))).toEqual([])
  })

  it("says how an agent ended that ended by itself, and what it said", () => {
    const closed = (reason: errors.CloseReason, exit?: errors.ExitFact) =>
      errorLines(
        new errors.ConnectionClosed({ reason, stderrTail: ["no licence"], ...(exit === undefined ? {} : { exit }) })
      )
    expect(closed("exited", { _tag: "Code", code: 3 })).toEqual([
      "the agent ended in the middle of the conversation: exit code 3",
      "stderr: no licence"
    ])
    expect(closed("stdin_closed", { _tag: "Signal", signal: "SIGKILL", inferred: false })[0]).toBe(
      "the agent ended in the middle of the conversation: killed by SIGKILL"
    )
    expect(closed("stdin_closed")[0]).toBe("the agent ended in the middle of the conversation (stdin_closed)")
    expect(closed("guard_violation")[0]).toBe("the connection to the agent is over: guard_violation")
  })

  it("of every error is at least one safe line", () => {
    const evil = "\u001b[2J\nnext"
    const all: ReadonlyArray<RunError> = [
      new errors.AgentMissing({ agent: evil, hint: evil }),
      new errors.LaunchFailed({ command: evil, reason: evil, stderrTail: [evil] }),
      new errors.ProviderSetupFailed({ agent: evil, reason: evil }),
      new errors.ProfileInvalid({ file: evil, path: evil, reason: evil }),
      new errors.PolicyNotEnforceable({ agent: evil, policy: "deny-all", effects: ["edit"] }),
      new errors.BackendUnavailable({ backend: "namespace", reason: evil }),
      new errors.LedgerUnwritable({ path: evil, reason: evil }),
      new errors.PlatformUnsupported({ platform: evil, reason: evil }),
      new errors.EnvironmentRefused({ variable: evil, reason: evil }),
      new errors.HandshakeTimeout({
        method: "initialize",
        deadlineMs: 1,
        framesSeen: 0,
        noiseLines: 2,
        stderrTail: [evil]
      }),
      new errors.ProtocolVersionUnsupported({ requested: 1, offered: evil }),
      new errors.ConnectionClosed({ reason: "exited", stderrTail: [evil] }),
      new errors.FrameTooLarge({ bytes: 2, limitBytes: 1 }),
      new errors.AgentError({ method: evil, rpcCode: 1, rpcMessage: evil }),
      new errors.AnswerMalformed({ method: evil, issue: evil }),
      new errors.AuthRequired({ agent: evil, methods: [evil] }),
      new errors.SessionSetupTimeout({ method: evil, quietMs: 1, mcpServers: [evil], stderrTail: [evil] }),
      new errors.SettingRefused({ setting: evil, value: evil, available: [evil] }),
      new errors.McpServerRefused({ server: evil, reason: evil }),
      new errors.PromptRefused({ reason: "empty", detail: evil }),
      new errors.ResourceUnreleased({ resourceKey: evil, path: evil }),
      new errors.SessionClosed({ sessionId: evil }),
      new errors.ActorCrashed({ path: evil, defect: evil })
    ]
    for (const error of all) {
      const lines = errorLines(error)
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.join("")).not.toMatch(/\p{Cc}/u)
    }
  })
})
