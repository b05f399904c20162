#!/usr/bin/env node
// Runs on any Node that knows modules, so that an old one is told what it needs.
import { existsSync, readFileSync } from "node:fs"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  const facts = { code: "platform_unsupported", node: process.versions.node, needed: ">=22.19.0" }
  process.stderr.write(`greenroom: Node ${facts.needed} is needed, this is ${facts.node} (${facts.code})\n`)
  process.exit(2)
}

const args = process.argv.slice(2)

// Loading the command takes several times as long as all that this needs.
if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  process.stdout.write(`greenroom v${version}\n`)
} else {
  const built = new URL("../dist/main.js", import.meta.url)
  const source = new URL("../src/main.ts", import.meta.url)
  await import((existsSync(built) ? built : source).href)
}
