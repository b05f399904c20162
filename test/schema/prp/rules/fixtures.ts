/** The corpus of replayed runs, as text and as values. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { decodePrpText } from "../../../../src/schema/prp/contract/decode.ts"
import type { Fixture } from "../../../../src/schema/prp/contract/fixture.ts"
import { validateFixture } from "../../../../src/schema/prp/rules/fixtureBindings.ts"

const folder = join(import.meta.dirname, "../../../../fixtures/prp/replay")

export const fixtureNames: ReadonlyArray<string> = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length))

export const fixtureText = (name: string): string => readFileSync(join(folder, `${name}.json`), "utf8")

export const goldenFile = (name: string, kind: "snapshot" | "summary"): string =>
  readFileSync(join(folder, "golden", `${name}.${kind}.json`), "utf8")

export const goldenNames: ReadonlyArray<string> = readdirSync(join(folder, "golden"))

export const validated = (text: string) =>
  validateFixture(text, (json) => decodePrpText("paperclip.prp.fixture.v1", json))

export const fixture = (name: string): Fixture => Result.getOrThrow(validated(fixtureText(name)))
