/** Which files the corpus has, with their SHA-256: what is replayed is what was recorded. */
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Schema from "effect/Schema"

export const Manifest = Schema.Record(
  Schema.String,
  Schema.Struct({
    agent: Schema.String,
    version: Schema.String,
    files: Schema.Record(Schema.String, Schema.Struct({ bytes: Schema.Int, sha256: Schema.String }))
  })
)
export type Manifest = typeof Manifest.Type

const fileName = "manifest.json"

export const readManifest = (root: string): Manifest => {
  const file = join(root, fileName)
  return existsSync(file) ? Schema.decodeUnknownSync(Manifest)(JSON.parse(readFileSync(file, "utf8"))) : {}
}

/** Replaces the entry of one folder. */
export const writeManifest = (root: string, folder: string, about: { agent: string; version: string }): void => {
  const all = { ...readManifest(root), [folder]: { ...about, files: filesOf(join(root, folder)) } }
  const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)))
  writeFileSync(join(root, fileName), `${JSON.stringify(sorted, null, 2)}\n`)
}

export const filesOf = (folder: string): Manifest[string]["files"] =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => {
        const bytes = readFileSync(join(folder, name))
        return [name, { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }]
      })
  )
