/**
 * `npm run record -- AGENT`: records the scenarios of one agent into the corpus, against the demo model where the agent needs a
 * model. The agent is the pinned version, fetched into the cache if it is not there, or what `GREENROOM_AGENT_<ID>` names.
 */
import * as Effect from "effect/Effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { providerById } from "../../src/layers/providers/catalogue.ts"
import { install } from "../../src/layers/providers/install.ts"
import { startDemoModel } from "../../src/programs/demoModel.ts"
import { writeManifest } from "./manifest.ts"
import { recordScenario } from "./recordScenario.ts"
import { scenarios } from "./scenarios.ts"

const root = join(import.meta.dirname, "../../fixtures/wire")
const fileBytesMax = 200_000

/** Agents that need no model. */
const withoutModel: ReadonlySet<string> = new Set(["bundled"])

const main = async (id: string): Promise<void> => {
  const { provider, version } = await Effect.runPromise(located(id))
  const folder = `${id}-${version}`
  const model = withoutModel.has(id) ? undefined : await startDemoModel()
  const recorded = new Map<string, string>()
  for (const [name, scenario] of Object.entries(scenarios)) {
    const text = await recordScenario(provider, scenario, model)
    if (text.length > fileBytesMax) throw new Error(`${name} has ${text.length} bytes, more than ${fileBytesMax}`)
    recorded.set(name, text)
    console.log(`${folder}/${name}.jsonl: ${text.split("\n").length - 1} lines, ${text.length} bytes`)
  }
  await model?.close()
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  for (const [name, text] of recorded) writeFileSync(join(root, folder, `${name}.jsonl`), text)
  writeManifest(root, folder, { agent: id, version })
}

const located = Effect.fnUntraced(function* (id: string) {
  const provider = yield* providerById(id)
  if (provider === undefined) return yield* Effect.die(new Error(`no agent ${id}`))
  if (provider.distribution !== undefined) yield* install(id, provider.distribution, process.env)
  const found = yield* provider.locate(process.env)
  if (found._tag === "Missing") return yield* Effect.die(new Error(found.hint))
  return { provider, version: found.version ?? "unknown" }
})

await main(process.argv[2] ?? "bundled")
