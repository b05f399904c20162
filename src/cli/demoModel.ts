/** The demo model as an owned process on loopback. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { type LaunchError, ProviderSetupFailed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { type AgentLink, AgentLinks } from "../services/AgentLink.ts"
import type { ModelServer } from "../services/Provider.ts"

/** Ends with the scope. */
export const startDemoModel: Effect.Effect<ModelServer, LaunchError | ProviderSetupFailed, AgentLinks | Scope.Scope> =
  Effect.gen(function* () {
    const links = yield* AgentLinks
    const link = yield* links.open({ command: process.execPath, args: [program()], env: {}, cwd: tmpdir() })
    const line = yield* firstLine(link).pipe(Effect.timeoutOption(limits.demoModelReadyMs))
    const address = Option.flatMap(line, decodeAddress)
    if (Option.isSome(address)) return address.value
    return yield* new ProviderSetupFailed({ agent: "demo-model", reason: "it did not name its address in time" })
  })

/** Beside the sources it is TypeScript, in the built package JavaScript. */
const program = (): string => {
  const [source = "", built = ""] = ["ts", "js"].map((ending) =>
    fileURLToPath(new URL(`../programs/demoModel.${ending}`, import.meta.url))
  )
  return existsSync(source) ? source : built
}

const firstLine = Effect.fnUntraced(function* (link: AgentLink) {
  const decoder = new TextDecoder()
  let text = ""
  while (!text.includes("\n")) {
    const bytes = yield* link.pull
    if (bytes === undefined) break
    text += decoder.decode(bytes, { stream: true })
  }
  return text.split("\n")[0] ?? ""
})

const decodeAddress = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ origin: Schema.String })))
