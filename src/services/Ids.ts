/** Where ids come from: a service, so that a simulated run mints the same ones again. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

export class Ids extends Context.Service<
  Ids,
  {
    /** A new id `<kind>_<random>`, unique for ever, at most 160 characters. */
    readonly next: (
      kind: "run" | "session" | "turn" | "request" | "runner" | "launch" | "connection" | "command"
    ) => Effect.Effect<string>
  }
>()("greenroom/services/Ids") {}

/** 120 random bits from the `Random` service. */
export const layer: Layer.Layer<Ids> = Layer.succeed(
  Ids,
  Ids.of({
    next: (kind) =>
      Effect.map(Random.Random, (random) => `${kind}_${word(random)}${word(random)}${word(random)}${word(random)}`)
  })
)

const wordBits = 30

const word = (random: Random.Random): string =>
  Math.floor(random.nextDoubleUnsafe() * 2 ** wordBits)
    .toString(36)
    .padStart(6, "0")
