/**
 * The runs of a runner, for control planes: commands in, replies out. Their events go through the journal.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Authority } from "../schema/authority.ts"
import type { ResultRefused } from "../schema/errors.ts"
import type { CommandReply, RunnerState, RunStatus } from "../schema/run.ts"

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * Carries out a command, once. Whatever is wrong with it is said in the reply. `runId` is that of the frame; `null` for a
     * command to the runner as a whole (`runner.*`), whose sequence is one of its own. `version` is the negotiated one.
     * If interrupted: a command that was taken goes on, and sent again it is answered with its outcome.
     */
    readonly command: (
      authority: Authority,
      runId: string | null,
      command: unknown,
      version: number
    ) => Effect.Effect<CommandReply>
    /** The result that `run.terminal` will stand on, instead of the default. The first one counts. */
    readonly proposeResult: (runId: string, result: unknown) => Effect.Effect<void, ResultRefused>
    /** Of every run that is remembered, the oldest first. */
    readonly statuses: Effect.Effect<ReadonlyArray<RunStatus>>
    /** Whether events and requests of the run are for that authority. */
    readonly isVisible: (authority: Authority, runId: string) => boolean
    readonly runnerState: () => RunnerState
    /** The reply to `runner.suspend` or `runner.shutdown` has arrived. Any other command id is ignored. */
    readonly acknowledged: (commandId: string) => Effect.Effect<void>
    /** Completes when the runner was told to end, and that was acknowledged or `lifecycleAckMs` have passed. */
    readonly ended: Effect.Effect<"suspended" | "stopped">
  }
>()("greenroom/actors/Runs") {}
