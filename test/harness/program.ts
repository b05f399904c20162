/**
 * The local runner as a process: `node program.ts OPTIONS`, with commands on stdin, and what it says on stdout. The last line of
 * stderr is the report of the harness's clean-up.
 */
import * as Effect from "effect/Effect"
import { pullFrom, writeTo } from "../../src/layers/process/pipes.ts"
import { runWithLinks } from "../process/links.ts"
import { type LocalRunnerOptions, runLocalRunner } from "./localRunner.ts"

const options: LocalRunnerOptions & { readonly ledgerFolder: string } = JSON.parse(process.argv[2] ?? "")

const write = writeTo(process.stdout)
const report = await runWithLinks(
  options.ledgerFolder,
  runLocalRunner(options, {
    pull: pullFrom(process.stdin),
    // A controller that is gone has closed its end of stdin too.
    say: (message) => Effect.ignore(write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)))
  })
)
process.stdin.destroy()
process.stderr.write(`${JSON.stringify({ report: report ?? null })}\n`)
