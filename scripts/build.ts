/** Builds the package into `dist`: what `bin/greenroom.js` and `exports` name. The same sources give the same files. */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")

rmSync(join(root, "dist"), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" })
process.exitCode = status ?? 1
