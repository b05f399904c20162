/**
 * What actors need of the operating system, as a service: spawn an owned process, signal a proven identity, look for
 * everything that carries a launch's marker, and remember launches in a ledger that survives the host.
 *
 * Guarantees: a signal is sent only to an identity that was read again directly before it; unknown stays unknown (an exit
 * status that the kernel did not tell us is `unknown`, never code 0).
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { BackendUnavailable, ExitFact, LaunchFailed, LedgerUnwritable, StdinClosed } from "../schema/errors.ts"

/** The environment variable that holds the markers of a process, outermost launch first, joined by `:`. */
export const markerVariable = "GREENROOM_LAUNCH"

/** Names one process for ever: a pid alone is reused. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time in clock ticks since boot, as the kernel prints it. */
  readonly startTime: string
  readonly bootId: string
  /** Inode of the pid namespace in which `pid` is meant. */
  readonly pidNamespace: string
}

/** How a process ended. */
export type ProcessExit = ExitFact

/** `namespace`: one kill takes everything, kernel-enforced. `marked`: found by a marker in the environment, weaker. */
export type Backend = "namespace" | "marked"

export interface BackendProbe {
  readonly backend: Backend
  readonly usable: boolean
  /** What was run and what it showed. */
  readonly reason: string
}

export interface SpawnRequest {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The whole environment; nothing is inherited. The marker is added by the backend. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Unique per launch; every process of the launch inherits it. */
  readonly marker: string
  readonly backend: Backend
}

/** One spawned launch with its pipes. The methods never throw and never block the event loop. */
export interface OsProcess {
  readonly marker: string
  readonly backend: Backend
  /** Of the process whose end is the end of the launch: the agent under `marked`; under `namespace` the anchor, whose
   * SIGKILL takes everything. */
  readonly identity: ProcessIdentity
  /** The next piece of stdout; `undefined` once it has ended. One consumer. */
  readonly stdout: Effect.Effect<Uint8Array | undefined>
  /** The next piece of stderr; `undefined` once it has ended. One consumer. */
  readonly stderr: Effect.Effect<Uint8Array | undefined>
  /** Completes in the callback of the write to the pipe. If interrupted the pipe must not be written again. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StdinClosed>
  /** Ends stdin. Idempotent. */
  readonly end: Effect.Effect<void>
  /** Exit of the agent itself, once known; it says nothing of output that is still in the pipe. */
  readonly exit: Effect.Effect<ProcessExit>
  /** Stops reading and destroys our ends of the three pipes. Idempotent. */
  readonly closePipes: Effect.Effect<void>
  /** Ends what the backend itself started for the launch and completes when that is gone. Under `namespace` the kernel then
   * ends everything that is left; under `marked` there is nothing to end. Idempotent. */
  readonly release: Effect.Effect<void>
}

export type SignalName = "SIGTERM" | "SIGKILL"

export interface LedgerEntry {
  readonly marker: string
  readonly backend: Backend
  readonly command: string
  readonly identity: ProcessIdentity | undefined
  /** The folder that was made for this launch alone, if one was. */
  readonly home?: string
}

/** A ledger of another host, found at a start. `hostGone` is proof: its identity does not exist any more. */
export interface ForeignLedger {
  readonly host: ProcessIdentity
  readonly hostGone: boolean
  /** Why it is held to be gone, alive, or not provable from here. */
  readonly reason: string
  readonly path: string
  /** The launches that did not end. */
  readonly entries: ReadonlyArray<LedgerEntry>
  /** Homes of its launches, ended ones included, that were there when it was read. */
  readonly homes: ReadonlyArray<string>
}

/** A home of a dead host that could not be deleted, or was not ours to delete. */
export interface KeptHome {
  readonly path: string
  readonly reason: string
}

export class Os extends Context.Service<
  Os,
  {
    /** Probes by running, once per host. First usable one is the default. */
    readonly backends: Effect.Effect<ReadonlyArray<BackendProbe>>
    /** The backend to use: the one asked for if it works here, else the first that does. Probes no more than it
     * must, and makes ready what the first launch needs. */
    readonly backend: (asked?: Backend) => Effect.Effect<Backend, BackendUnavailable>
    /** Spawns. The caller owns the process from the moment this succeeds. Bounded and short; to be called where it cannot be
     * interrupted. A failure leaves nothing running. */
    readonly spawn: (request: SpawnRequest) => Effect.Effect<OsProcess, LaunchFailed | BackendUnavailable>
    /** `undefined`: there is no such process, or it is a zombie. */
    readonly readIdentity: (pid: number) => Effect.Effect<ProcessIdentity | undefined>
    /** Sends only if the identity still holds; `false`: it does not, or the kernel refused; nothing was sent. */
    readonly signal: (identity: ProcessIdentity, signal: SignalName) => Effect.Effect<boolean>
    /** Every live process (zombies are not) that carries the marker, and for a `namespace` launch of this host every process
     * in it. The backend's own helpers are not counted while their launch lives. */
    readonly census: (marker: string) => Effect.Effect<ReadonlyArray<ProcessIdentity>>
    readonly ledger: {
      /** Written before this returns: the end of this host does not lose it. */
      readonly add: (entry: LedgerEntry) => Effect.Effect<void, LedgerUnwritable>
      /** The launch is proven gone: nobody needs to look for its marker any more. Its home is remembered while it is there. */
      readonly remove: (marker: string) => Effect.Effect<void>
      readonly foreign: Effect.Effect<ReadonlyArray<ForeignLedger>>
      /** For a host that is gone and whose entries are all proven gone: deletes its homes, then its ledger. What it
       * returns is left, and the ledger with it. */
      readonly forget: (ledger: ForeignLedger) => Effect.Effect<ReadonlyArray<KeptHome>>
    }
  }
>()("greenroom/services/Os") {}
