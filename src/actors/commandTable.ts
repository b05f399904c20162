/**
 * Every command of PRP v1 and v2, and how it is taken.
 *
 * `inOrder`: behind the commands of its run that came before. `atOnce`: whatever else is being done, for it ends or answers
 * something. `unavailable`: rejected with that code, for there is no such part.
 */
import type { CommandTypeV2 } from "../schema/prp/contract/command.ts"

export type CommandRow =
  | { readonly taken: "inOrder" | "atOnce"; readonly of: "run" | "runner" }
  | { readonly taken: "unavailable"; readonly of: "run"; readonly code: string; readonly reason: string }

const unavailable = (code: string, reason: string): CommandRow => ({ taken: "unavailable", of: "run", code, reason })

const inOrder: CommandRow = { taken: "inOrder", of: "run" }
const atOnce: CommandRow = { taken: "atOnce", of: "run" }
const ofRunner: CommandRow = { taken: "inOrder", of: "runner" }

export const commandTable: Readonly<Record<CommandTypeV2, CommandRow>> = {
  "run.prepare": inOrder,
  "run.attach": inOrder,
  "session.open": inOrder,
  "turn.start": inOrder,
  "turn.steer": unavailable("provider_command_unavailable", "the agent cannot be steered within a turn"),
  "turn.interrupt": atOnce,
  "turn.stop": atOnce,
  "request.resolve": atOnce,
  "interaction.receipt": unavailable("command_unavailable", "there are no interactions with the thread of an issue"),
  "semantic_tool.result": unavailable("command_unavailable", "there are no semantic tools"),
  "session.snapshot": atOnce,
  "session.close": inOrder,
  "session.budget.increase": unavailable("command_unavailable", "there are no budgets"),
  "session.destroy": inOrder,
  "run.cancel": atOnce,
  "runner.drain": ofRunner,
  "runner.suspend": ofRunner,
  "runner.shutdown": ofRunner,
  "session.goal.get": atOnce,
  "session.goal.set": unavailable("session_goal_action_unavailable", "goals are unsupported"),
  "session.goal.clear": unavailable("session_goal_action_unavailable", "goals are unsupported")
}
