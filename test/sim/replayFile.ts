/** The file that shows one schedule again: which program, what it violated, and the options of the run. */
import { readFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Chance = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const Replay = Schema.Struct({
  program: Schema.String,
  what: Schema.optionalKey(Schema.String),
  options: Schema.Struct({
    seed: Schema.optionalKey(Schema.Int),
    choices: Schema.optionalKey(Schema.Array(Count)),
    thereafter: Schema.optionalKey(Schema.Literals(["seed", "first"])),
    yieldProbability: Schema.optionalKey(Chance),
    timeProbability: Schema.optionalKey(Chance),
    interruptAt: Schema.optionalKey(Count),
    maxSteps: Schema.optionalKey(Count),
    maxStepsAtOnce: Schema.optionalKey(Count),
    story: Schema.optionalKey(Schema.Boolean)
  })
})

export type Replay = typeof Replay.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Replay))

/** Or why it is none. */
export const readReplay = (file: string): Result.Result<Replay, string> =>
  Result.try({ try: () => readFileSync(file, "utf8"), catch: () => `cannot read ${file}` }).pipe(
    Result.flatMap((text) =>
      Result.mapError(decode(text, { onExcessProperty: "error" }), (error) => `${file} is no replay: ${error.message}`)
    )
  )
