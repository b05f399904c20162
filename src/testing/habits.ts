/** How a simulated process behaves, as data. */
import type { ProcessExit } from "../services/Os.ts"

export type PipeName = "stdin" | "stdout" | "stderr"

/** What a process does at an event: it forks, and may exit. */
export interface Reaction {
  /** Milliseconds from the event to the forks. */
  readonly afterMs?: number
  readonly forks?: ReadonlyArray<Habits>
  /** Milliseconds from the forks to the exit; without it, it lives on. */
  readonly exitMs?: number
  readonly exit?: ProcessExit
}

export interface Habits {
  readonly onBirth?: Reaction
  /** Of an agent that reads its input. By default it exits at once with code 0. */
  readonly onEof?: Reaction
  /** By default it exits at once. Only the first SIGTERM counts. */
  readonly onTerm?: Reaction
  /** Its parent has ended. By default it does not care. */
  readonly onOrphaned?: Reaction
  /** Forks one such child after another, so many at most. */
  readonly storm?: { readonly everyMs: number; readonly most: number; readonly of: Habits }
  /** What it writes, in order, each so long after the one before. */
  readonly says?: ReadonlyArray<{ readonly afterMs: number; readonly to: "stdout" | "stderr"; readonly text: string }>
  /** Milliseconds that SIGKILL takes; `Infinity`: stuck in the kernel for ever. Default 0. */
  readonly killMs?: number
  /** Milliseconds from its birth in which its environment cannot be read. */
  readonly execMs?: number
  /** Its environment has no marker. */
  readonly dropsMarker?: boolean
  /** Leads a session and a group of its own. */
  readonly ownSession?: boolean
  /** Its parent was one that forked it and exited in the same step. */
  readonly doubleForked?: boolean
  /** Does not wait for its children: they stay zombies as long as it lives. */
  readonly neverWaits?: boolean
  /** Pipes of the agent that it holds. By default: the agent all three, the others none. */
  readonly holds?: ReadonlyArray<PipeName>
}
