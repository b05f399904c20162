/** The oldest Node that we run on, fetched once into the user's cache. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { cacheFolder } from "../../src/layers/folders.ts"

const version = "22.19.0"

export type OldNode = { readonly path: string } | { readonly skipped: string }

export const oldNode = (): OldNode => {
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(cacheFolder(process.env), "test", `node-${version}`)
  const path = join(folder, "node_modules", name, "bin", "node")
  if (existsSync(path)) return { path }
  const npm = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `${name}@${version}`]
  const installed = spawnSync("npm", npm, { encoding: "utf8", timeout: 240_000 })
  if (existsSync(path)) return { path }
  return { skipped: `${name}@${version} cannot be had: ${installed.stderr?.split("\n")[0] ?? "npm does not run"}` }
}
