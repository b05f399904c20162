/** What a control plane is told of a command, and what is kept of it so that it can be told again. Pure. */
import type * as Exit from "effect/Exit"
import type { CommandRefused, CommandRejected, PrpRejected } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Command } from "../schema/prp/contract/command.ts"
import { nativeAt } from "../schema/prp/native.ts"
import type { CommandEntry, CommandOutcome } from "../schema/prp/rules/commandJournal.ts"
import type { CommandReply } from "../schema/run.ts"

const headOf = ({ commandId, controllerSeq, type }: Command) => ({ commandId, commandType: type, controllerSeq })

/** It was taken, and what became of it could not be kept. */
export const indeterminate = (one: Command, code: string): CommandReply => ({
  ...headOf(one),
  status: "indeterminate",
  result: null,
  code,
  reason: "what became of it could not be kept"
})

/** To something that is no command. */
export const unreadable = (raw: unknown, failure: PrpRejected): CommandReply => {
  const commandId = nativeAt(raw, "commandId")
  const controllerSeq = nativeAt(raw, "controllerSeq")
  const [first] = failure.issues
  return {
    commandId: typeof commandId === "string" ? commandId.slice(0, limits.idCharactersMax) : "",
    commandType: "",
    controllerSeq: typeof controllerSeq === "number" && Number.isSafeInteger(controllerSeq) ? controllerSeq : 0,
    status: "rejected",
    result: null,
    code: failure.code,
    reason: first === undefined ? "not a command" : `${first.path}: ${first.expectation}`
  }
}

/** As it is stored. */
export const outcomeOf = (exit: Exit.Exit<unknown, CommandRejected>): CommandOutcome => {
  if (exit._tag === "Success") return { status: "completed", result: { result: exit.value ?? null } }
  const [first] = exit.cause.reasons
  if (first?._tag === "Fail") {
    const { code, isTried, reason } = first.error
    return { status: isTried ? "failed" : "rejected", result: { result: null, code, reason } }
  }
  const code = first?._tag === "Interrupt" ? "runner_stopped" : "actor_crashed"
  return { status: "failed", result: { result: null, code, reason: "the runner could not finish it" } }
}

/** From what is kept. */
export const replyOf = ({ commandId, controllerSeq, result, status, type }: CommandEntry): CommandReply => {
  const text = (name: string) => {
    const value = nativeAt(result, name)
    return typeof value === "string" ? { [name]: value } : {}
  }
  const isOpen = status === "pending" || status === "indeterminate"
  return {
    commandId,
    commandType: type,
    controllerSeq,
    status: status === "pending" ? "indeterminate" : status,
    result: nativeAt(result, "result") ?? null,
    ...(isOpen ? { code: "command_indeterminate", reason: "the runner ended while it was pending" } : {}),
    ...text("code"),
    ...text("reason")
  }
}

export const refusal = (one: Command, { code, reason }: Pick<CommandRejected, "code" | "reason">): CommandReply => ({
  ...headOf(one),
  status: "rejected",
  result: null,
  code,
  reason
})

/** The log of commands does not admit it. */
export const notAdmitted = (one: Command, { code, expectedSeq }: CommandRefused): CommandReply => ({
  ...refusal(one, { code, reason: "the runner's log of commands does not admit it" }),
  expectedSeq
})
