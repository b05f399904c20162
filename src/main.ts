/** The `greenroom` command. */
import { main } from "./cli/program.ts"

// A terminal that is listened to, or a reader that never reads, would keep the process alive.
process.exit(await main(process.argv.slice(2)))
