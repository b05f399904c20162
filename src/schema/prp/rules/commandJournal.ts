/**
 * Which commands of a controller were carried out, so that none is carried out twice.
 *
 * Commands are numbered contiguously from 1. One is written as `pending` before its effect; sent again it gets what was written
 * of it. After a crash a pending one is `indeterminate` for ever. The latest `commandHistoryMax` are kept.
 */
import * as Result from "effect/Result"
import { utf8Bytes } from "../../characters.ts"
import { CommandOutcomeRefused, CommandRefused } from "../../errors.ts"
import type { Digest } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { canonicalDigest, canonicalJson } from "./canonicalJson.ts"

export interface JournalledCommand {
  readonly commandId: string
  readonly controllerSeq: number
  readonly type: string
}

export interface CommandEntry {
  readonly commandId: string
  readonly controllerSeq: number
  readonly type: string
  /** Of the whole command. */
  readonly fingerprint: Digest
  readonly status: "pending" | "completed" | "failed" | "rejected" | "indeterminate"
  /** JSON; `null` as long as there is none. */
  readonly result: unknown
}

export interface CommandJournal {
  /** The last number taken. */
  readonly lastSeq: number
  /** Of commands up to this number nothing is known any more. */
  readonly compactedThrough: number
  /** In the order of their numbers. */
  readonly entries: ReadonlyArray<CommandEntry>
}

export const emptyJournal: CommandJournal = { lastSeq: 0, compactedThrough: 0, entries: [] }

export type Admission =
  /** To be carried out, once `journal` is stored. */
  | { readonly _tag: "Execute"; readonly journal: CommandJournal; readonly entry: CommandEntry }
  /** Known. Its outcome so far is the answer. */
  | { readonly _tag: "Replay"; readonly entry: CommandEntry }

/** What to do with a command that arrived. */
export const admitCommand = (
  journal: CommandJournal,
  command: JournalledCommand
): Result.Result<Admission, CommandRefused> => {
  const refused = (code: CommandRefused["code"]) =>
    Result.fail(
      new CommandRefused({
        code,
        commandId: command.commandId,
        controllerSeq: command.controllerSeq,
        expectedSeq: journal.lastSeq + 1
      })
    )
  const digest = canonicalDigest(command)
  if (Result.isFailure(digest)) return refused("command_not_json")
  const known = entryOf(journal, command.commandId)
  if (known !== undefined) {
    return known.fingerprint === digest.success
      ? Result.succeed({ _tag: "Replay", entry: known })
      : refused("command_conflict")
  }
  if (command.controllerSeq <= journal.compactedThrough) return refused("command_history_compacted")
  if (command.controllerSeq !== journal.lastSeq + 1) return refused("controller_sequence_gap")
  if (isFull(journal)) return refused("command_history_full")
  const { commandId, controllerSeq, type } = command
  const entry: CommandEntry = {
    commandId,
    controllerSeq,
    type,
    fingerprint: digest.success,
    status: "pending",
    result: null
  }
  return Result.succeed({ _tag: "Execute", journal: withEntry(journal, entry), entry })
}

const entryOf = (journal: CommandJournal, commandId: string): CommandEntry | undefined =>
  journal.entries.find((entry) => entry.commandId === commandId)

/** The oldest command would have to go, and somebody still waits for its outcome. */
const isFull = ({ entries }: CommandJournal): boolean =>
  entries.length >= limits.commandHistoryMax && entries[0]?.status === "pending"

const withEntry = (journal: CommandJournal, entry: CommandEntry): CommandJournal => {
  const all = [...journal.entries, entry]
  const dropped = all.slice(0, -limits.commandHistoryMax)
  return {
    lastSeq: entry.controllerSeq,
    compactedThrough: dropped.at(-1)?.controllerSeq ?? journal.compactedThrough,
    entries: all.slice(-limits.commandHistoryMax)
  }
}

export interface CommandOutcome {
  readonly status: "completed" | "failed" | "rejected"
  readonly result: unknown
}

/** Writes the outcome of a pending command, once. The result's canonical text takes at most `commandResultBytesMax`. */
export const settleCommand = (
  journal: CommandJournal,
  commandId: string,
  outcome: CommandOutcome
): Result.Result<CommandJournal, CommandOutcomeRefused> => {
  const refused = (code: CommandOutcomeRefused["code"]) =>
    Result.fail(new CommandOutcomeRefused({ code, commandId, limitBytes: limits.commandResultBytesMax }))
  if (entryOf(journal, commandId)?.status !== "pending") return refused("command_not_pending")
  const text = canonicalJson(outcome.result)
  if (Result.isFailure(text)) return refused("command_result_not_json")
  if (utf8Bytes(text.success) > limits.commandResultBytesMax) return refused("command_result_too_large")
  const settled = (entry: CommandEntry): CommandEntry =>
    entry.commandId === commandId ? { ...entry, status: outcome.status, result: outcome.result } : entry
  return Result.succeed({ ...journal, entries: journal.entries.map(settled) })
}

/** The journal after a crash: nobody knows how far a pending command got. */
export const recoverJournal = (journal: CommandJournal): CommandJournal => ({
  ...journal,
  entries: journal.entries.map((entry) => (entry.status === "pending" ? { ...entry, status: "indeterminate" } : entry))
})

/** The one pending command that may be carried out: commands take effect in their order. */
export const lowestPending = (journal: CommandJournal): CommandEntry | undefined =>
  journal.entries.find(({ status }) => status === "pending")
