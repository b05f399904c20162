/** The package's own agent: a script on this Node, without a model, the same on every machine. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { version } from "../../../schema/version.ts"
import { providerOf } from "../profile.ts"

/** Beside the sources it is TypeScript, in the built package JavaScript. */
const program = ["ts", "js"]
  .map((ending) => fileURLToPath(new URL(`../../../programs/bundledAgent.${ending}`, import.meta.url)))
  .find((path) => existsSync(path))

export const bundled = providerOf({
  id: "bundled",
  name: "Bundled agent",
  commands: program === undefined ? [] : [process.execPath],
  args: program === undefined ? [] : [program],
  version,
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "sandboxed", mcp: "sandboxed" },
    toolKindTrusted: true,
    closesToolsOnCancel: true
  }
})
