/** The frames that mutants are made of: every kind of value of the contract, whole runs, and lines of recorded agents. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isPrpKind } from "../../src/schema/prp/rules/judgeValue.ts"
import type { PrpKind } from "../../src/schema/prp/contract/kinds.ts"
import { fixtureNames, fixtureText } from "../schema/prp/rules/fixtures.ts"
import { samples, typedKinds } from "../schema/prp/contract/samples.ts"

/** `acp`: a piece of an agent's output. Else one value of the contract as a text. */
export type Target = PrpKind | "acp"

export interface Frame {
  readonly target: Target
  readonly bytes: Uint8Array
}

export const isTarget = (name: unknown): name is Target =>
  typeof name === "string" && (name === "acp" || isPrpKind(name))

const wire = join(import.meta.dirname, "../../fixtures/wire")

const encoder = new TextEncoder()

const frameOf = (target: Target, text: string): Frame => ({ target, bytes: encoder.encode(text) })

/** As they are when nobody has changed them. */
export const soundFrames = (): ReadonlyArray<Frame> => [
  ...Object.entries(samples).flatMap(([kind, value]) =>
    isPrpKind(kind) ? [frameOf(kind, JSON.stringify(value))] : []
  ),
  ...typedKinds.map(([eventType, kind]) =>
    frameOf("event", JSON.stringify({ ...samples["paperclip.prp.event.v1"], eventType, payload: samples[kind] }))
  ),
  ...fixtureNames.map((name) => frameOf("paperclip.prp.fixture.v1", fixtureText(name))),
  ...resolutions.map((resolution) => frameOf("paperclip.question_response.v1", JSON.stringify(resolution))),
  ...recordedOutputs().map((output) => frameOf("acp", output))
]

/** They are no values of the contract, but of the rules. */
const resolutions = [
  { action: "accept" },
  { action: "submit", answers: { q1: { answers: ["a"] } } },
  { action: "submit", content: { any: [1] } },
  { action: "submit", response: samples["paperclip.question_response.v1"] }
]

/** Some lines of each recorded run, as the agent wrote them. */
const recordedOutputs = (): ReadonlyArray<string> =>
  readdirSync(wire, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .sort()
    .map((path) => linesOf(readFileSync(join(wire, path), "utf8")))

const linesOf = (recording: string): string =>
  recording
    .split("\n")
    .filter((line) => line.startsWith('{"dir":"a2c"'))
    .slice(0, 8)
    .map((line): { readonly msg?: unknown } => JSON.parse(line))
    .map(({ msg }) => `${JSON.stringify(msg)}\n`)
    .join("")
