/**
 * The two-way byte pipe to one agent, and the ownership of everything behind it. The layer that opens links decides what is
 * behind: an owned process, an agent in this process, a fake of the simulator.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { LaunchError, StdinClosed } from "../schema/errors.ts"
import type { Backend, ProcessExit, ProcessIdentity } from "./Os.ts"

/** How to start an agent. The environment is complete: nothing is inherited. */
export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly graces?: { readonly eofMs?: number; readonly termMs?: number; readonly killMs?: number }
  readonly backend?: Backend
  /** A folder that was made for this launch alone, in a folder named `homes`. Its scope deletes it; if this host is killed
   * before, a later one does. */
  readonly home?: string
}

/** What ending a link proved. `survivors` empty is the only clean end. */
export interface CleanupReport {
  readonly exit: ProcessExit
  /** The steps that were needed, in order: `eof`, `SIGTERM`, `SIGKILL`. Empty: everything had ended by itself. */
  readonly steps: ReadonlyArray<"eof" | "SIGTERM" | "SIGKILL">
  readonly proof: "namespace" | "marker" | "in-process"
  /** Processes of the launch that were seen by us, at least one for a real process. */
  readonly processesSeen: number
  readonly survivors: ReadonlyArray<ProcessIdentity>
}

export interface AgentLink {
  /** The next piece of output; `undefined` once there will be no more. One consumer. If interrupted no byte is lost. */
  readonly pull: Effect.Effect<Uint8Array | undefined>
  /** Completes when the operating system took the bytes. If interrupted the link is unusable for further writes. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StdinClosed>
  /** Ends the agent's input. Idempotent. */
  readonly end: Effect.Effect<void>
  /** Exit of the agent. Not the end of its output: that is `pull`, drained within a bound. */
  readonly exit: Effect.Effect<ProcessExit>
  readonly identity: ProcessIdentity | undefined
  readonly backend: Backend | "in-process"
  /** The last lines of stderr, sensitive values removed. */
  readonly stderrTail: () => ReadonlyArray<string>
  /** Ends the agent by the ladder and proves that nothing is left. Idempotent; every caller gets the same report. The
   * scope's finalizer does the same. If interrupted the ladder goes on. */
  readonly close: Effect.Effect<CleanupReport>
  /** As `close`, without the graces: straight to SIGKILL. */
  readonly kill: Effect.Effect<CleanupReport>
}

export class AgentLinks extends Context.Service<
  AgentLinks,
  {
    /** Starts the agent; it is owned by the scope. A failed or interrupted open leaves nothing. */
    readonly open: (launch: Launch) => Effect.Effect<AgentLink, LaunchError, Scope.Scope>
  }
>()("greenroom/services/AgentLink") {}
