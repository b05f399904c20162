/**
 * The processes of this machine, as one platform shows them: what `Os` is built on.
 *
 * Linux reads /proc. Other POSIX systems ask `ps`, which is weaker: a second between start times, environments only of
 * processes that allow it, and a longer way from reading an identity to the signal.
 */
import type * as Effect from "effect/Effect"
import type { ProcessIdentity, SignalName } from "../../services/Os.ts"

export interface ProcessTable {
  readonly host: ProcessIdentity
  /** Tells one machine from another that shares the folder of ledgers; `undefined` when it cannot. */
  readonly machine: string | undefined
  readonly readIdentity: (pid: number) => Effect.Effect<ProcessIdentity | undefined>
  /** The identity of a child of ours that was just started, even if it has already ended. */
  readonly identify: (pid: number) => Effect.Effect<ProcessIdentity>
  readonly signal: (identity: ProcessIdentity, signal: SignalName) => Effect.Effect<boolean>
  /** Every live process that has the marker in its environment or is in the pid namespace, but for helpers of the backend. */
  readonly census: (query: CensusQuery) => Effect.Effect<ReadonlyArray<ProcessIdentity>>
}

export interface CensusQuery {
  readonly marker: string
  /** Inode; `undefined`: the marker alone decides. */
  readonly pidNamespace: string | undefined
  readonly isHelper: (pid: number) => boolean
}

export const isSame = (left: ProcessIdentity, right: ProcessIdentity): boolean =>
  left.pid === right.pid &&
  left.startTime === right.startTime &&
  left.bootId === right.bootId &&
  left.pidNamespace === right.pidNamespace

/** Sends a signal to a number whose identity was just read. `false`: nobody there, or not allowed. */
export const sendSignal = (pid: number, signal: SignalName): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
