/** Where ids come from: a service, so that a simulated run mints the same ones again. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

export class Ids extends Context.Service<
  Ids,
  {
    /** A new id `<kind>_<random>`, unique for ever, at most 160 characters. */
    readonly next: (kind: "run" | "session" | "turn" | "request" | "runner" | "launch") => Effect.Effect<string>
  }
>()("greenroom/services/Ids") {}

/** 120 random bits from the `Random` service. */
export const layer: Layer.Layer<Ids> = Layer.succeed(
  Ids,
  Ids.of({
    next: (kind) => Effect.map(Effect.all([word, word, word, word]), (words) => `${kind}_${words.join("")}`)
  })
)

const wordBits = 30

const word = Effect.map(Random.nextIntBetween(0, 2 ** wordBits), (value) => value.toString(36).padStart(6, "0"))
