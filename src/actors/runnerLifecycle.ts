/**
 * The runner as a whole: draining, suspending and ending it.
 *
 * Guarantees: nothing new is taken from the first of these commands on; the end comes when its reply is acknowledged, or a
 * while after it was given.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CommandRejected } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import * as drafts from "../schema/prp/runDrafts.ts"
import type { RunnerState } from "../schema/run.ts"
import type { Journal } from "./Journal.ts"
import type { OwnedRuns } from "./ownedRuns.ts"

export interface RunnerLifecycle {
  readonly state: () => RunnerState
  /** `runner.drain`, `runner.suspend`, `runner.shutdown`. */
  readonly perform: (command: Command) => Effect.Effect<unknown, CommandRejected>
  readonly acknowledged: (commandId: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<"suspended" | "stopped">
  /** The journal keeps nothing any more. */
  readonly failed: () => void
  /** Nobody told it to, but it ends. */
  readonly stopping: () => void
}

export const makeLifecycle = (runs: OwnedRuns, journal: Journal["Service"], scope: Scope.Scope): RunnerLifecycle => {
  const ended = Deferred.makeUnsafe<"suspended" | "stopped">()
  let state: RunnerState = "ready"
  let lifecycleCommand: string | undefined

  const sayEverywhere = (draft: (runId: string) => EventDraft) =>
    Effect.forEach(
      runs.live(),
      ({ life }) => {
        if (life.isOver()) return Effect.void
        const { runId, sessionId } = life.record()
        return journal.force({ runId, sessionId, drafts: [draft(runId)], bytes: 0 })
      },
      { discard: true }
    )

  const perform = (one: Command): Effect.Effect<unknown, CommandRejected> => {
    switch (one.type) {
      case "runner.drain":
        return Effect.gen(function* () {
          if (state === "ready") state = "draining"
          yield* sayEverywhere(() => drafts.runnerDraining)
          return { status: state }
        })
      case "runner.suspend":
        return Effect.gen(function* () {
          state = "suspending"
          yield* sayEverywhere(() => drafts.runnerSuspending)
          yield* Effect.forEach(runs.live(), ({ life }) => Effect.ignore(life.suspend), {
            concurrency: "unbounded",
            discard: true
          })
          yield* sayEverywhere(() => drafts.runnerSuspended)
          state = "suspended"
          return yield* told(one, "suspended")
        })
      default:
        return Effect.gen(function* () {
          state = "stopping"
          const going = runs.live()
          yield* Effect.forEach(going, ({ life }) => life.end("controller_closed"), {
            concurrency: "unbounded",
            discard: true
          })
          state = "stopped"
          return yield* told(one, "stopped")
        })
    }
  }

  /** The end waits for the acknowledgement of the reply that is about to be given. */
  const told = (one: Command, how: "suspended" | "stopped") => {
    lifecycleCommand = one.commandId
    const late = Effect.andThen(Effect.sleep(limits.lifecycleAckMs), Deferred.succeed(ended, how))
    return Effect.as(Effect.forkIn(late, scope), { status: how })
  }

  const acknowledged = (commandId: string) =>
    Effect.suspend(() =>
      commandId === lifecycleCommand && (state === "suspended" || state === "stopped")
        ? Effect.asVoid(Deferred.succeed(ended, state))
        : Effect.void
    )

  return {
    state: () => state,
    perform,
    acknowledged,
    ended: Deferred.await(ended),
    failed: () => void (state = "failed"),
    stopping: () => {
      if (state === "ready" || state === "draining") state = "stopping"
    }
  }
}
