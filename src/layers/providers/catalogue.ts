/** The agents that Greenroom knows by name. Each is loaded when it is asked for. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Provider } from "../../services/Provider.ts"
import { Providers } from "../../services/Providers.ts"

export interface CatalogueEntry {
  readonly id: string
  readonly load: Effect.Effect<Provider>
}

export const catalogue: ReadonlyArray<CatalogueEntry> = [
  { id: "bundled", load: Effect.promise(async () => (await import("./bundled/index.ts")).bundled) },
  { id: "copilot", load: Effect.promise(async () => (await import("./copilot/index.ts")).copilot) },
  { id: "codex", load: Effect.promise(async () => (await import("./codex/index.ts")).codex) },
  { id: "opencode", load: Effect.promise(async () => (await import("./opencode/index.ts")).opencode) }
]

/** `undefined`: no agent of this name. */
export const providerById = (id: string): Effect.Effect<Provider | undefined> =>
  catalogue.find((entry) => entry.id === id)?.load ?? Effect.succeed(undefined)

/** The agents of the catalogue, and those of the host, which come first. */
export const layer = (own: ReadonlyArray<Provider> = []): Layer.Layer<Providers> =>
  Layer.succeed(
    Providers,
    Providers.of({
      find: (id) => {
        const found = own.find((provider) => provider.id === id)
        return found === undefined ? providerById(id) : Effect.succeed(found)
      }
    })
  )
