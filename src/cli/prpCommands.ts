/** `greenroom prp`: names, options and descriptions. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { ExitCode } from "./exitCode.ts"

/** `done` gets the code to exit with. */
export const makePrpCommand = (done: (code: ExitCode) => void) => {
  const exitWith = <E, R>(command: Effect.Effect<ExitCode, E, R>) => Effect.map(command, done)

  const validate = Command.make("validate", { file, kind, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { prpValidate } = yield* Effect.promise(() => import("./prpValidate.ts"))
        return yield* prpValidate({ file: input.file, kind: Option.getOrUndefined(input.kind), json: input.json })
      })
    )
  ).pipe(Command.withDescription(validateDescription), Command.withShortDescription("Judges values of the contract."))

  const reduce = Command.make("reduce", { file, summary, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { prpReduce } = yield* Effect.promise(() => import("./prpReduce.ts"))
        return yield* prpReduce(input)
      })
    )
  ).pipe(Command.withDescription(reduceDescription), Command.withShortDescription("Reduces a run to its snapshot."))

  const schema = Command.make("schema", { name, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { prpSchema } = yield* Effect.promise(() => import("./prpSchema.ts"))
        return yield* prpSchema({ name: Option.getOrUndefined(input.name), json: input.json })
      })
    )
  ).pipe(Command.withDescription("Lists the JSON Schemas of the contract, or prints one (2020-12)."))

  return Command.make("prp").pipe(
    Command.withDescription("Checks what others made against the contract (Paperclip Runner Protocol, v1 and v2)."),
    Command.withShortDescription("Judges and reduces values of the PRP contract, and prints its schemas."),
    Command.withSubcommands([validate, reduce, schema])
  )
}

const switchFlag = (flag: string, description: string) =>
  Flag.Boolean(flag).pipe(Flag.withDescription(description), Flag.withDefault(false), Flag.withoutNegation)

const json = switchFlag("json", "One line of JSON on stdout")

const summary = switchFlag("summary", "The few facts that two readers of a run compare, instead of the snapshot")

const file = Argument.String("file").pipe(Argument.withDescription("A JSON document or JSON Lines; - reads stdin"))

const name = Argument.String("name").pipe(Argument.withDescription("One of the list"), Argument.optional)

const kind = Flag.String("kind").pipe(
  Flag.withMetavar("KIND"),
  Flag.withDescription("Judge as this kind (default: the one that the value's own `schema` names)"),
  Flag.optional
)

const validateDescription = `Judges a JSON document, or each line of JSON Lines, by its own \`schema\`.

Names line, place, expectation and code of what is wrong, never a value. Fixtures and question sets are held to the rules \
beyond their schemas, too. Exit codes: 0 all are valid, 1 one is not, 2 usage, or a file that cannot be read.`

const reduceDescription = `Reduces a fixture, or events as JSON Lines, to the snapshot of the session.

Exit codes: 0 reduced, 1 a value is not valid (said on stderr), 2 usage, or a file that cannot be read.`
