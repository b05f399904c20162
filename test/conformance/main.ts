/**
 * `npm run conformance -- [--reference DIR] [--instances N] [--seed S]`: our reading of the contract against JSON Schema files
 * and fixtures. DIR has `schemas/*.schema.json` and `fixtures/` (or its fixtures beside `schemas`); default: our own corpus.
 *
 * Prints a table of schemas, each tried with N random instances, and one of fixtures; the last line is
 * `{"ok": ..., "figures": {...}}`, and the exit code agrees. Wrong usage: 2.
 */
import { join, resolve } from "node:path"
import { commandLine, misused } from "../commandLine.ts"
import { reportOn } from "./report.ts"

const values = commandLine("conformance", {
  reference: { type: "string", default: join(import.meta.dirname, "../../fixtures/prp") },
  instances: { type: "string", default: "2000" },
  seed: { type: "string", default: "1" }
})

const number = (name: "instances" | "seed"): number => {
  const value = Number(values[name])
  return Number.isSafeInteger(value) && value > 0
    ? value
    : misused("conformance", `--${name} is not a positive whole number`)
}

const { ok, figures } = reportOn(
  { directory: resolve(values.reference), instances: number("instances"), seed: number("seed") },
  (line) => console.log(line)
)
console.log(JSON.stringify({ ok, figures }))
process.exitCode = ok ? 0 : 1
