import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { GoalCapability, GoalStatus } from "../../../../src/schema/prp/contract/goal.ts"
import {
  checkGoalCommand,
  goalCapabilityOf,
  goalDisposition,
  withholdsTerminal
} from "../../../../src/schema/prp/rules/goalCommand.ts"
import { fixture } from "./fixtures.ts"

const offered: GoalCapability = {
  availability: "available",
  actions: ["set", "pause", "resume", "clear"],
  autonomousUpdates: false,
  persistentAcrossResume: false,
  maxObjectiveChars: 5,
  tokenBudgetControl: true,
  usageReporting: false
}

const goalCommand = (type: string, payload: unknown = {}) => ({ schema: "paperclip.prp.command.v2", type, payload })

const codeOf = (version: number, capability: GoalCapability | undefined, type: string, payload: unknown = {}) => {
  const checked = checkGoalCommand(version, capability, goalCommand(type, payload))
  return Result.isFailure(checked) ? checked.failure.code : "allowed"
}

const unavailable = "session_goal_action_unavailable"

describe("checkGoalCommand", () => {
  it("lets every other command pass, whatever the version", () => {
    expect(codeOf(1, undefined, "turn.start")).toBe("allowed")
  })

  it("lets no goal command to a peer of version 1, and none under the schema of version 1", () => {
    for (const type of ["session.goal.get", "session.goal.set", "session.goal.clear"]) {
      expect(codeOf(1, offered, type, { objective: "x" })).toBe("session_goal_version_unsupported")
      const old = { ...goalCommand(type), schema: "paperclip.prp.command.v1" }
      expect(checkGoalCommand(2, offered, old)).toMatchObject({ failure: { code: "session_goal_version_unsupported" } })
    }
  })

  it("lets a goal be read from every peer of version 2", () => {
    for (const capability of [undefined, offered, { ...offered, availability: "policy_disabled" } as const]) {
      expect(codeOf(2, capability, "session.goal.get")).toBe("allowed")
    }
  })

  it("offers only the actions that are advertised", () => {
    const actions = {
      set: ["session.goal.set", { objective: "x" }],
      pause: ["session.goal.set", { status: "paused" }],
      resume: ["session.goal.set", { status: "active" }],
      clear: ["session.goal.clear", {}]
    } as const
    for (const [action, [type, payload]] of Object.entries(actions)) {
      const without = { ...offered, actions: offered.actions.filter((each) => each !== action) }
      expect(codeOf(2, offered, type, payload), action).toBe("allowed")
      expect(codeOf(2, without, type, payload), action).toBe(unavailable)
      expect(codeOf(2, { ...offered, availability: "unsupported" }, type, payload), action).toBe(unavailable)
      expect(codeOf(2, undefined, type, payload), action).toBe(unavailable)
    }
  })

  it("bounds an objective by what the runner takes, in characters", () => {
    expect(codeOf(2, offered, "session.goal.set", { objective: "🎯".repeat(5) })).toBe("allowed")
    expect(codeOf(2, offered, "session.goal.set", { objective: "🎯".repeat(6) })).toBe(unavailable)
  })

  it("lets a token budget be set only where the runner can hold it", () => {
    const fixed = { ...offered, tokenBudgetControl: false }
    expect(codeOf(2, offered, "session.goal.set", { objective: "x", tokenBudget: 1 })).toBe("allowed")
    expect(codeOf(2, fixed, "session.goal.set", { objective: "x", tokenBudget: 1 })).toBe(unavailable)
    expect(codeOf(2, fixed, "session.goal.set", { objective: "x", tokenBudget: null })).toBe("allowed")
  })

  it("takes a payload of any shape", () => {
    for (const payload of [null, 1, [], "x", { objective: 1 }])
      expect(codeOf(2, offered, "session.goal.set", payload)).toBe("allowed")
  })
})

describe("goalCapabilityOf", () => {
  it("is what a v2 object says, and nothing for a v1 object, whatever that holds", () => {
    const { capabilities } = fixture("goal-run")
    expect(goalCapabilityOf(capabilities)).toMatchObject({ availability: "available" })
    const old = { ...fixture("whole-run").capabilities, sessionGoals: offered }
    expect(goalCapabilityOf(old)).toBeUndefined()
  })
})

describe("the status of a goal", () => {
  const expected = {
    active: "needs_review",
    paused: "yielded",
    blocked: "blocked",
    limited: "yielded",
    usage_limited: "yielded",
    budget_limited: "yielded",
    complete: "done"
  } as const

  it("says what becomes of the work, else the result does, else whether the run succeeded", () => {
    for (const status of GoalStatus.literals) {
      expect(goalDisposition({ status }, "needs_review", true), status).toBe(expected[status])
    }
    expect(goalDisposition(null, "blocked", true)).toBe("blocked")
    expect(goalDisposition(null, undefined, true)).toBe("done")
    expect(goalDisposition({ status: "active" }, undefined, false)).toBe("needs_review")
  })

  it("holds back the end of the run only while the goal is active", () => {
    expect(GoalStatus.literals.filter((status) => withholdsTerminal({ status }))).toEqual(["active"])
    expect(withholdsTerminal(null)).toBe(false)
  })
})
