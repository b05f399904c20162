/** The life of a session as event drafts. */
import type { InitializeResult } from "../acp/protocol.ts"
import type { Noise } from "../acp/noise.ts"
import type { ConnectionClosed, ExitFact } from "../errors.ts"
import { draftOf, type EventDraft } from "./event.ts"
import { noticeDraft } from "./notices.ts"
import type { ProcessExit } from "./payload.ts"

export const harnessReady = (agent: string, initialized: InitializeResult): EventDraft =>
  draftOf("harness.ready", {
    driverKind: agent,
    driverVersion: initialized.agentInfo?.version ?? null,
    transport: "acp-stdio"
  })

export const sessionStarted = (sessionId: string, agent: string, agentSessionId: string): EventDraft =>
  draftOf("session.started", { driverSessionId: sessionId, provider: agent, providerSessionId: agentSessionId })

/** Some effects of this agent may happen without being asked for: nobody has measured it. */
export const gateUnverified = (sessionId: string, effects: ReadonlyArray<string>): EventDraft =>
  noticeDraft({
    id: `${sessionId} gate_unverified`,
    category: "gate_unverified",
    severity: "warning",
    summary: `it is not verified that this agent asks before: ${effects.join(", ")}`,
    userActionable: true
  })

export const sessionFailed = (cause: ConnectionClosed): EventDraft =>
  draftOf("session.failed", {
    code: cause.code,
    message: `the connection to the agent is over: ${cause.reason}`,
    reason: cause.reason,
    stderrTail: cause.stderrTail
  })

/** A defect of ours ended it, and every turn that was open. */
export const sessionCrashed: EventDraft = draftOf("session.failed", {
  code: "actor_crashed",
  message: "a defect of the runner ended the session",
  reason: "crashed"
})

/** What the agent wrote to its output between the frames. The samples hold no secrets. */
export const outputNoise = (sessionId: string, noise: Noise): EventDraft =>
  noticeDraft({
    id: `${sessionId} output_noise`,
    category: "output_noise",
    severity: "info",
    summary:
      `${noise.lines} lines (${noise.bytes} bytes) of the agent's output were no frames` +
      (noise.truncatedLines === 0 ? "" : ", the last one cut short") +
      (noise.invalidUtf8Lines === 0 ? "" : `; ${noise.invalidUtf8Lines} lines were not UTF-8`),
    native: { samples: noise.samples }
  })

export const harnessExited = (exit: ExitFact): EventDraft =>
  draftOf("harness.exited", { processExit: processExitOf(exit) })

/** What the end of the agent proved. */
export const sessionClosed = (report: {
  readonly steps: ReadonlyArray<string>
  readonly proof: string
  readonly processesSeen: number
  readonly survivors: ReadonlyArray<{ readonly pid: number }>
}): EventDraft =>
  draftOf("session.closed", {
    cleanup: {
      clean: report.survivors.length === 0,
      steps: report.steps,
      proof: report.proof,
      processesSeen: report.processesSeen,
      survivors: report.survivors.map((survivor) => survivor.pid)
    }
  })

/** In PRP's words; what is not known is `null`. */
export const processExitOf = (exit: ExitFact): ProcessExit => {
  switch (exit._tag) {
    case "Code":
      return { exitCode: exit.code, signal: null, success: exit.code === 0 }
    case "Signal":
      return exit.inferred
        ? { exitCode: null, signal: exit.signal, success: false, inferred: true }
        : { exitCode: null, signal: exit.signal, success: false }
    case "Unknown":
      return { exitCode: null, signal: null, success: null }
  }
}
