/** The command lines of the programs that prove something: what is wrong with one is said in a line, with exit code 2. */
import { parseArgs, type ParseArgsConfig } from "node:util"

type Options = NonNullable<ParseArgsConfig["options"]>

/** The values of the options. Ends the process if there are others, or words that are no option. */
export const commandLine = <const Given extends Options>(program: string, options: Given) => {
  try {
    return parseArgs({ options }).values
  } catch (cause) {
    return misused(program, cause instanceof Error ? cause.message : String(cause))
  }
}

/** Ends the process. */
export const misused = (program: string, problem: string): never => {
  process.stderr.write(`${program}: ${problem}\n`)
  process.exit(2)
}
