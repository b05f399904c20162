#!/usr/bin/env node
// Runs on any Node that knows modules, so that an old one is told what it needs.
import { accessSync, constants, existsSync } from "node:fs"
import module from "node:module"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  const facts = { code: "platform_unsupported", node: process.versions.node, needed: ">=22.19.0" }
  process.stderr.write(`greenroom: Node ${facts.needed} is needed, this is ${facts.node} (${facts.code})\n`)
  process.exit(2)
}

// Compiled once, for most of a start is compiling. Below the user's own cache: the default is shared with everybody.
const cache = process.env.XDG_CACHE_HOME ?? ""
const greenroom = join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), "greenroom")
if (isWritable(greenroom)) module.enableCompileCache?.(join(greenroom, "compiled"))

const built = new URL("../dist/main.js", import.meta.url)
const source = new URL("../src/main.ts", import.meta.url)
// A checkout runs its sources, so that nothing built before can be in the way; the published package has no sources.
await import((existsSync(source) ? source : built).href)

/** The folder is there and ours to write in. It is not made here: what Node does where no folder can be made is not safe. */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
