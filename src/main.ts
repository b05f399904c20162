/** The `greenroom` command. */
import { version } from "./schema/version.ts"

const args = process.argv.slice(2)

/** Loading the rest takes several times as long as everything else that this needs. */
const isVersionAsked = args.length === 1 && (args[0] === "--version" || args[0] === "-v")

if (isVersionAsked) process.stdout.write(`greenroom v${version}\n`)
else {
  const { main } = await import("./cli/program.ts")
  // A terminal that is listened to, or a reader that never reads, would keep the process alive.
  process.exit(await main(args))
}
