/** What a runner says of itself, of a run, and of what its session offers, as event drafts. */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { CapabilitiesV2 } from "./contract/capabilities.ts"
import type { RunResult } from "./contract/result.ts"
import type { Terminal } from "./contract/terminal.ts"
import { draftOf, type EventDraft } from "./event.ts"
import type { ReconcileOutcome, RunPhase } from "./runPayloads.ts"

/** Behind a restart, of each run that had a process. */
export const runnerReconciled = (outcome: ReconcileOutcome): EventDraft => draftOf("runner.reconciled", { outcome })

export const runnerDraining: EventDraft = draftOf("runner.draining", {})
export const runnerSuspending: EventDraft = draftOf("runner.suspending", {})
export const runnerSuspended: EventDraft = draftOf("runner.suspended", {})

export const phase = (reached: RunPhase): EventDraft => draftOf("runtime.phase.changed", { phase: reached })

/** The folder that the agent works in. */
export const workspaceReady = (workspace: string): EventDraft =>
  draftOf("workspace.ready", { workspace: shortText(workspace, limits.shortTextCharactersMax) })

export const harnessStarting = (agent: string): EventDraft =>
  draftOf("harness.starting", { driverKind: shortText(agent, limits.nameCharactersMax) })

export const sessionStarting = (sessionId: string): EventDraft =>
  draftOf("session.starting", { driverSessionId: sessionId })

/** Said instead of `session.started`. */
export const sessionNotOpened = (code: string, reason: string): EventDraft =>
  draftOf("session.failed", {
    code: shortText(code, limits.nameCharactersMax),
    message: shortText(reason, limits.shortTextCharactersMax),
    reason: "not_opened"
  })

/** The first that is said under the run that takes over a session. */
export const runAttached = (fromRunId: string): EventDraft => draftOf("run.attached", { fromRunId })

/** Its session goes on under another run. */
export const runDetached = (toRunId: string): EventDraft => draftOf("run.detached", { toRunId })

export const resultProposed = (result: RunResult): EventDraft => draftOf("run.result.proposed", result)

/** The last event of its run. */
export const runTerminal = (terminal: Terminal): EventDraft => draftOf("run.terminal", terminal)

/** What the session can do and how its goal stands: for a reader of v2 that may have missed it, each of them whole. */
export const offers = (capabilities: CapabilitiesV2): ReadonlyArray<EventDraft> => {
  const { sessionGoals } = capabilities
  return [
    draftOf("session.capabilities.updated", { sessionGoals, capabilities }),
    draftOf("session.goal.snapshot", { goal: null, sessionGoals })
  ]
}
