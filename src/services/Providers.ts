/** The agents of a host, by name. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Provider } from "./Provider.ts"

export class Providers extends Context.Service<
  Providers,
  {
    /** `undefined`: the host has no agent of this name. */
    readonly find: (id: string) => Effect.Effect<Provider | undefined>
  }
>()("greenroom/services/Providers") {}
