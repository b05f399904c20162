/** Everything of `fixtures/prp` that is derived: the schemas, the cases at every bound, and the manifest. */
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { PrpRejected } from "../../src/schema/errors.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { prpJsonSchema, prpSchemaDocument, prpSchemaNames } from "../../src/schema/prp/contract/jsonSchema.ts"
import { type PrpSchemaId, prpSchemas } from "../../src/schema/prp/contract/kinds.ts"
import { samples, typedKinds } from "../../test/schema/prp/contract/samples.ts"
import { placesIn } from "./applied.ts"
import { type Case, type CaseFile, type Json, valueOf } from "./caseFile.ts"
import { type Variation, variationsAt } from "./variations.ts"

/** Folders that are derived as a whole: a file in them that is not derived is left over. */
export const derivedFolders = ["schemas", "accepted/bounds", "rejected/bounds"] as const

/** Text by the file's path in `fixtures/prp`; the manifest is not among them. */
export const derivedFiles = (): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  for (const name of prpSchemaNames) files.set(`schemas/${name}.schema.json`, textOf(prpSchemaDocument(name)))
  for (const subject of subjects()) {
    for (const [folder, file] of caseFilesOf(subject)) files.set(`${folder}/bounds/${subject.name}.json`, textOf(file))
  }
  return files
}

const textOf = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`

/** Of every file in the folder, as it is on disk. */
export const manifestOf = (directory: string): string =>
  textOf({
    schema: "greenroom.prp.manifest.v1",
    protocolVersion: 2,
    files: readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .filter((path) => path !== "manifest.json")
      .sort()
      .map((path) => ({ path, digest: `sha256:${digest(readFileSync(join(directory, path)))}` }))
  })

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** One full value whose places are varied: those within a pointer, and not in what is a kind by itself. */
interface Subject {
  readonly name: string
  readonly description: string
  readonly kind: PrpSchemaId
  readonly base: Json
  readonly within: string
}

const isId = (name: string): name is PrpSchemaId => Object.hasOwn(prpSchemas, name)

const subjects = (): ReadonlyArray<Subject> => [...wholes(), ...payloads()]

const wholes = (): ReadonlyArray<Subject> =>
  Object.keys(samples)
    .filter(isId)
    .filter((kind) => typedKinds.every(([, payload]) => payload !== kind))
    .map((kind) => ({ name: kind, description: `A value of kind ${kind}`, kind, base: samples[kind], within: "" }))

/** In an event of the first type that demands it. */
const payloads = (): ReadonlyArray<Subject> =>
  [...new Map(typedKinds.toReversed().map(([eventType, kind]) => [kind, eventType])).entries()].map(
    ([kind, eventType]) => ({
      name: kind,
      description: `An event ${eventType}, whose payload is a ${kind}`,
      kind: "paperclip.prp.event.v1",
      base: { ...samples["paperclip.prp.event.v1"], eventType, payload: samples[kind] },
      within: "/payload"
    })
  )

const caseFilesOf = ({ description, kind, base, within }: Subject): ReadonlyArray<readonly [string, CaseFile]> => {
  const isOther = (definition: string, pointer: string) => isId(definition) && pointer !== within
  const variations = placesIn(prpJsonSchema(kind), base, isOther)
    .filter(({ pointer }) => pointer.startsWith(within))
    .flatMap(variationsAt)
    .map((variation) => (variation.accepted ? { ...variation, change: withPayload(variation.change) } : variation))
  const file = (said: string, cases: ReadonlyArray<Case>): CaseFile => ({
    schema: "greenroom.prp.cases.v1",
    description: `${description}, changed at one place: ${said}`,
    kind,
    base,
    cases
  })
  const accepted = variations.filter((variation) => variation.accepted).map(({ change }) => change)
  const rejected = variations
    .filter((variation) => !variation.accepted)
    .map((variation) => judged(kind, base, variation))
  return [
    ["accepted", file("all are accepted.", [{ name: "as it is" }, ...accepted])],
    ["rejected", file("all are refused.", rejected)]
  ]
}

/** An event of another type has the payload of that type. */
const withPayload = (change: Case): Case => {
  const type = change.set?.["/eventType"]
  return typeof type === "string" ? { ...change, set: { ...change.set, "/payload": payloadOf(type) } } : change
}

const payloadOf = (type: string): unknown => {
  const kind = typedKinds.find(([eventType]) => eventType === type)?.[1]
  if (kind !== undefined) return samples[kind]
  return type.startsWith("session.goal.")
    ? { goal: samples.goal_snapshot }
    : type === "session.capabilities.updated"
      ? { sessionGoals: samples.goal_capability }
      : {}
}

/** With the rejection that it meets, which names the changed place or an owner of it. */
const judged = (kind: PrpSchemaId, base: Json, { change }: Variation): Case => {
  const decoded: Result.Result<unknown, PrpRejected> = decodePrp(kind, valueOf(base, change))
  if (Result.isSuccess(decoded)) throw new Error(`${kind} accepts ${change.name}`)
  const { code, issues } = decoded.failure
  return { ...change, rejection: { code, issues } }
}
