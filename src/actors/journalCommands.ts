/**
 * The commands of controllers, each of which has a stream of its own, by the rules of `commandJournal`.
 *
 * Guarantees: a command is stored as pending before `admit` answers that it is to be carried out, and only once; its outcome is
 * stored when `settle` returns. The rules decide in one step, also between two that come at once.
 */
import * as Effect from "effect/Effect"
import { type CommandOutcomeRefused, type CommandRefused, invariant, type JournalFailed } from "../schema/errors.ts"
import {
  type Admission,
  admitCommand,
  type CommandEntry,
  type CommandJournal,
  type CommandOutcome,
  emptyJournal,
  type JournalledCommand,
  recoverJournal,
  settleCommand
} from "../schema/prp/rules/commandJournal.ts"
import type { Change } from "../services/JournalStore.ts"

export interface CommandLog {
  /** If interrupted: the command may be stored, and then is pending. */
  readonly admit: (
    stream: string,
    command: JournalledCommand
  ) => Effect.Effect<Admission, CommandRefused | JournalFailed>
  /** Once per command. If interrupted it is done all the same. */
  readonly settle: (
    stream: string,
    commandId: string,
    outcome: CommandOutcome
  ) => Effect.Effect<CommandEntry, CommandOutcomeRefused | JournalFailed>
  readonly journal: (stream: string) => CommandJournal
  /** As if the stream had never had a command. If interrupted it is done all the same. */
  readonly forget: (streams: ReadonlyArray<string>) => Effect.Effect<void, JournalFailed>
}

type Persist = (changes: ReadonlyArray<Change>) => Effect.Effect<void, JournalFailed>

/** `changes`: what must be stored before anything else, so that an indeterminate command stays so. */
export const makeCommandLog = (loaded: ReadonlyMap<string, CommandJournal>, persist: Persist) => {
  const journals = new Map([...loaded].map(([stream, journal]) => [stream, recoverJournal(journal)]))
  const indeterminate = [...loaded].flatMap(([stream, { entries }]) =>
    entries
      .filter(({ status }) => status === "pending")
      .map((entry) => ({ stream, entry: { ...entry, status: "indeterminate" as const } }))
  )
  const journal = (stream: string): CommandJournal => journals.get(stream) ?? emptyJournal

  const keep = (stream: string, next: CommandJournal, entry: CommandEntry) =>
    Effect.suspend(() => {
      journals.set(stream, next)
      return persist([changeOf(stream, entry, next)])
    })

  const commands: CommandLog = {
    journal,
    forget: (streams) =>
      Effect.suspend(() => {
        const known = streams.filter((stream) => journals.delete(stream))
        return known.length === 0
          ? Effect.void
          : persist(known.map((stream) => ({ _tag: "CommandsForgotten", stream })))
      }),
    admit: Effect.fnUntraced(function* (stream, command) {
      const admission = yield* Effect.fromResult(admitCommand(journal(stream), command))
      if (admission._tag === "Execute") yield* keep(stream, admission.journal, admission.entry)
      return admission
    }),
    settle: Effect.fnUntraced(function* (stream, commandId, outcome) {
      const next = yield* Effect.fromResult(settleCommand(journal(stream), commandId, outcome))
      const entry = next.entries.find((one) => one.commandId === commandId)
      invariant(entry !== undefined, "a settled command is in its journal", commandId)
      yield* keep(stream, next, entry)
      return entry
    })
  }
  const changes = indeterminate.map(({ entry, stream }) => changeOf(stream, entry, journal(stream)))
  return { commands, indeterminate, changes }
}

const changeOf = (stream: string, entry: CommandEntry, { compactedThrough }: CommandJournal): Change => ({
  _tag: "Command",
  stream,
  entry,
  compactedThrough
})
