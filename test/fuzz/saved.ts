/** Mutants that once broke something: each is judged again by a test. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync } from "node:zlib"
import { type Frame, isTarget } from "./frames.ts"

const folder = join(import.meta.dirname, "../../fixtures/prp/fuzz")

/** Keeps the frame under a name that its content decides. */
export const saveFrame = ({ target, bytes }: Frame): string => {
  mkdirSync(folder, { recursive: true })
  const name = `${createHash("sha256").update(target).update(bytes).digest("hex").slice(0, 16)}.json`
  const brotli = brotliCompressSync(bytes).toString("base64")
  writeFileSync(join(folder, name), `${JSON.stringify({ target, brotli }, null, 2)}\n`)
  return name
}

export const savedFrames = (): ReadonlyArray<readonly [name: string, frame: Frame]> =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [name, frameOf(JSON.parse(readFileSync(join(folder, name), "utf8")))])

const frameOf = ({ target, brotli }: { readonly target?: unknown; readonly brotli?: unknown }): Frame => {
  if (!isTarget(target) || typeof brotli !== "string") throw new Error("no saved frame")
  return { target, bytes: brotliDecompressSync(Buffer.from(brotli, "base64")) }
}
