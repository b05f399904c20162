/** What a controller asks of a runner. Payloads are open; only that of `session.goal.set` is fixed by the schema. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { Timestamp } from "../timestamp.ts"
import { decoderOf } from "./acceptor.ts"
import { whereOneOf } from "./conditional.ts"
import { anyProperty, Id, open, Revision } from "./primitives.ts"

const commandTypesV1 = [
  "run.prepare",
  "run.attach",
  "session.open",
  "turn.start",
  "turn.steer",
  "turn.interrupt",
  "turn.stop",
  "request.resolve",
  "interaction.receipt",
  "semantic_tool.result",
  "session.snapshot",
  "session.close",
  "session.budget.increase",
  "session.destroy",
  "run.cancel",
  "runner.drain",
  "runner.suspend",
  "runner.shutdown"
] as const

/** Only v2 has goals. */
const goalCommandTypes = ["session.goal.get", "session.goal.set", "session.goal.clear"] as const

export const CommandTypeV1 = Schema.Literals(commandTypesV1).annotate({ expected: "a command type of PRP v1" })
export type CommandTypeV1 = typeof CommandTypeV1.Type

export const CommandTypeV2 = Schema.Literals([...commandTypesV1, ...goalCommandTypes]).annotate({
  expected: "a command type of PRP v2"
})
export type CommandTypeV2 = typeof CommandTypeV2.Type

/** A command that meets another state than these is not carried out. */
export const Precondition = open({
  runnerState: Schema.optionalKey(Schema.Array(Schema.String)),
  runState: Schema.optionalKey(Schema.Array(Schema.String)),
  sessionState: Schema.optionalKey(Schema.Array(Schema.String)),
  activeTurnId: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const envelope = {
  commandId: Id,
  /** Without a gap in one run. */
  controllerSeq: Revision,
  issuedAt: Timestamp,
  deadlineAt: Schema.optionalKey(Timestamp),
  precondition: Schema.optionalKey(Precondition),
  payload: anyProperty
}

export const CommandV1 = open({ schema: Schema.Literal("paperclip.prp.command.v1"), type: CommandTypeV1, ...envelope })
export type CommandV1 = typeof CommandV1.Type

export const GoalSetPayload = open({
  requestId: Schema.optionalKey(Id),
  objective: Schema.optionalKey(textOf(1, limits.shortTextCharactersMax)),
  status: Schema.optionalKey(Schema.Literals(["active", "paused"])),
  tokenBudget: Schema.optionalKey(Schema.NullOr(Revision))
})
export type GoalSetPayload = typeof GoalSetPayload.Type

const decodeGoalSet = decoderOf(GoalSetPayload)

export const CommandV2 = open({
  schema: Schema.Literal("paperclip.prp.command.v2"),
  type: CommandTypeV2,
  ...envelope
}).check(
  Schema.makeFilter(
    ({ type, payload }, _ast, { errors }) => {
      if (type !== "session.goal.set") return undefined
      const decoded = decodeGoalSet(payload, { errors })
      return Result.isSuccess(decoded) ? undefined : { path: ["payload"], issue: decoded.failure.issue }
    },
    {
      representation: { id: "greenroom/prp/goalSetPayload", payload: null, schemas: [GoalSetPayload.ast] },
      toJsonSchema: ({ schemas: [payload] }) => whereOneOf("type", ["session.goal.set"], { properties: { payload } })
    }
  )
)
export type CommandV2 = typeof CommandV2.Type

/** A command of either version, told by its own `schema`. */
export const Command = Schema.Union([CommandV1, CommandV2]).annotate({ expected: "a command of PRP v1 or v2" })
export type Command = typeof Command.Type
