/** The payloads of what a runner says of itself, of a run, and of what its session offers. */
import * as Schema from "effect/Schema"
import { CapabilitiesV2 } from "./contract/capabilities.ts"
import { openPayload } from "./contract/event.ts"
import { GoalCapability, GoalSnapshot } from "./contract/goal.ts"
import { Id, Name, ShortText } from "./contract/primitives.ts"
import { RunResult } from "./contract/result.ts"
import { Terminal } from "./contract/terminal.ts"

/** How far a run is. The end is told by `run.terminal`. */
export const RunPhase = Schema.Literals(["workspace_preparing", "ready", "executing"])
export type RunPhase = typeof RunPhase.Type

/** What became of a run whose process is gone. */
export const ReconcileOutcome = Schema.Literals(["session_lost"])
export type ReconcileOutcome = typeof ReconcileOutcome.Type

const bare = openPayload({})

export const runPayloads = {
  "runner.reconciled": openPayload({ outcome: ReconcileOutcome }),
  "runner.draining": bare,
  "runner.suspending": bare,
  "runner.suspended": bare,
  "runtime.phase.changed": openPayload({ phase: RunPhase }),
  "workspace.ready": openPayload({ workspace: ShortText }),
  "harness.starting": openPayload({ driverKind: Name }),
  "session.starting": openPayload({ driverSessionId: Id }),
  /** The session of the other run goes on under this one. */
  "run.attached": openPayload({ fromRunId: Id }),
  "run.detached": openPayload({ toRunId: Id }),
  "run.result.proposed": RunResult,
  "run.terminal": Terminal,
  /** Of v2. */
  "session.capabilities.updated": openPayload({ sessionGoals: GoalCapability, capabilities: CapabilitiesV2 }),
  "session.goal.snapshot": openPayload({ goal: Schema.NullOr(GoalSnapshot), sessionGoals: GoalCapability })
} as const
