import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../../../src/schema/limits.ts"
import {
  admitCommand,
  type CommandJournal,
  emptyJournal,
  lowestPending,
  recoverJournal,
  settleCommand
} from "../../../../src/schema/prp/rules/commandJournal.ts"

const command = (controllerSeq: number, more: Readonly<Record<string, unknown>> = {}) => ({
  commandId: `command-${controllerSeq}`,
  controllerSeq,
  type: "turn.start",
  payload: { text: "go", turnId: "turn-1" },
  ...more
})

const done = { status: "completed", result: { status: "accepted" } } as const

const admitted = (journal: CommandJournal, seq: number): CommandJournal => {
  const admission = Result.getOrThrow(admitCommand(journal, command(seq)))
  return admission._tag === "Execute" ? admission.journal : journal
}

/** The journal after that many commands, all of them done. */
const doneUpTo = (count: number): CommandJournal => {
  let journal = emptyJournal
  for (let seq = 1; seq <= count; seq++) {
    journal = Result.getOrThrow(settleCommand(admitted(journal, seq), `command-${seq}`, done))
  }
  return journal
}

const codeOf = (result: Result.Result<unknown, { readonly code: string }>) =>
  Result.isFailure(result) ? result.failure.code : undefined

describe("admitCommand", () => {
  it("writes a command as pending before it is carried out", () => {
    const { entries, lastSeq } = admitted(emptyJournal, 1)
    expect(entries).toMatchObject([{ commandId: "command-1", controllerSeq: 1, status: "pending", result: null }])
    expect(lastSeq).toBe(1)
  })

  it("answers the same command with its stored outcome, in whatever order its properties come", () => {
    const same = {
      payload: { turnId: "turn-1", text: "go" },
      type: "turn.start",
      controllerSeq: 1,
      commandId: "command-1"
    }
    expect(Result.getOrThrow(admitCommand(admitted(emptyJournal, 1), same))).toMatchObject({
      _tag: "Replay",
      entry: { status: "pending" }
    })
    expect(Result.getOrThrow(admitCommand(doneUpTo(3), same))).toMatchObject({ _tag: "Replay", entry: done })
  })

  it("refuses another command by a known id, a gap, a number that is taken and what is no JSON", () => {
    const journal = doneUpTo(3)
    expect(codeOf(admitCommand(journal, command(2, { payload: {} })))).toBe("command_conflict")
    expect(codeOf(admitCommand(journal, command(4, { commandId: "command-1" })))).toBe("command_conflict")
    for (const seq of [5, 0, 3, 1]) {
      const other = command(seq, { commandId: "other" })
      expect(Result.isFailure(admitCommand(journal, other)) && admitCommand(journal, other)).toMatchObject({
        failure: { code: seq === 0 ? "command_history_compacted" : "controller_sequence_gap", expectedSeq: 4 }
      })
    }
    expect(codeOf(admitCommand(journal, command(4, { payload: { at: new Date(0) } })))).toBe("command_not_json")
  })

  it("remembers commandHistoryMax commands and never carries out one that it has forgotten", () => {
    const full = doneUpTo(limits.commandHistoryMax)
    expect(Result.getOrThrow(admitCommand(full, command(1)))._tag).toBe("Replay")
    const more = doneUpTo(limits.commandHistoryMax + 1)
    expect(more).toMatchObject({ compactedThrough: 1, lastSeq: limits.commandHistoryMax + 1 })
    expect(more.entries).toHaveLength(limits.commandHistoryMax)
    expect(codeOf(admitCommand(more, command(1)))).toBe("command_history_compacted")
    expect(Result.getOrThrow(admitCommand(more, command(2)))._tag).toBe("Replay")
  })

  it("forgets no command whose outcome is still to come", () => {
    let journal = emptyJournal
    for (let seq = 1; seq <= limits.commandHistoryMax; seq++) journal = admitted(journal, seq)
    const next = command(limits.commandHistoryMax + 1)
    expect(codeOf(admitCommand(journal, next))).toBe("command_history_full")
    const settled = Result.getOrThrow(settleCommand(journal, "command-1", done))
    expect(Result.getOrThrow(admitCommand(settled, next))._tag).toBe("Execute")
  })
})

describe("settleCommand", () => {
  it("writes one outcome, once, of a command that waits for it", () => {
    const journal = admitted(emptyJournal, 1)
    const settled = Result.getOrThrow(settleCommand(journal, "command-1", done))
    expect(settled.entries).toMatchObject([done])
    for (const [which, id] of [
      [settled, "command-1"],
      [journal, "command-2"],
      [recoverJournal(journal), "command-1"]
    ] as const) {
      expect(codeOf(settleCommand(which, id, { ...done, status: "failed" }))).toBe("command_not_pending")
    }
  })

  it("takes a result of commandResultBytesMax and no more, and only JSON", () => {
    const journal = admitted(emptyJournal, 1)
    const of = (bytes: number) => ({ ...done, result: "é".repeat((bytes - 2) / 2) })
    expect(codeOf(settleCommand(journal, "command-1", of(limits.commandResultBytesMax)))).toBeUndefined()
    expect(codeOf(settleCommand(journal, "command-1", of(limits.commandResultBytesMax + 2)))).toBe(
      "command_result_too_large"
    )
    expect(codeOf(settleCommand(journal, "command-1", { ...done, result: undefined }))).toBe("command_result_not_json")
  })
})

describe("recoverJournal", () => {
  it("makes what was pending indeterminate for ever", () => {
    const journal = recoverJournal(admitted(admitted(doneUpTo(1), 2), 3))
    expect(journal.entries.map(({ status }) => status)).toEqual(["completed", "indeterminate", "indeterminate"])
    expect(lowestPending(journal)).toBeUndefined()
    expect(Result.getOrThrow(admitCommand(journal, command(2)))).toMatchObject({ entry: { status: "indeterminate" } })
  })
})

describe("lowestPending", () => {
  it("lets commands take effect in their order", () => {
    const journal = admitted(admitted(doneUpTo(2), 3), 4)
    expect(lowestPending(journal)?.controllerSeq).toBe(3)
    expect(lowestPending(Result.getOrThrow(settleCommand(journal, "command-3", done)))?.controllerSeq).toBe(4)
  })
})

const Step = Schema.Union([
  Schema.Struct({ send: Schema.Literals([1, 2, 3, 4, 5, 6]), variant: Schema.Literals(["a", "b"]) }),
  Schema.Literals(["settle", "crash"])
])

describe("a journal", () => {
  it.effect.prop(
    "has no command carried out twice, whatever is sent again and whenever the runner crashes",
    { steps: Schema.Array(Step) },
    ({ steps }) =>
      Effect.sync(() => {
        let journal = emptyJournal
        const executed: Array<string> = []
        for (const step of steps) {
          if (step === "crash") journal = recoverJournal(journal)
          else if (step === "settle") {
            const id = lowestPending(journal)?.commandId
            if (id !== undefined) journal = Result.getOrThrow(settleCommand(journal, id, done))
          } else {
            const admission = admitCommand(journal, command(step.send, { variant: step.variant }))
            if (Result.isFailure(admission) || admission.success._tag === "Replay") continue
            journal = admission.success.journal
            executed.push(admission.success.entry.commandId)
          }
        }
        expect(executed).toEqual(executed.map((_, index) => `command-${index + 1}`))
      }),
    { arbitrary: { runs: 500, size: 40 } }
  )
})
