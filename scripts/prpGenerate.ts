/**
 * `npm run prp:generate`: writes what is derived in `fixtures/prp`, and its manifest. The files that people write stay as they
 * are; a test fails when the folder is not as this leaves it.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { derivedFiles, derivedFolders, manifestOf } from "./prp/generated.ts"

const directory = resolve(import.meta.dirname, "../fixtures/prp")

const files = derivedFiles()
for (const folder of derivedFolders) rmSync(join(directory, folder), { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), text)
}
writeFileSync(join(directory, "manifest.json"), manifestOf(directory))
console.log(JSON.stringify({ ok: true, figures: { derivedFiles: files.size } }))
