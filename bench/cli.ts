/** The start of the command: `greenroom --version`, from the spawn to the exit, beside an empty program. */
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { inTurns, median } from "./measure.ts"

const rounds = 10
const greenroom = resolve(import.meta.dirname, "../bin/greenroom.js")

const millisOf = async (args: ReadonlyArray<string>): Promise<number> => {
  const begin = performance.now()
  await promisify(execFile)(process.execPath, [...args])
  return performance.now() - begin
}

export const run = async (): Promise<Record<string, number>> => {
  const { cli, empty } = await inTurns(rounds, {
    empty: () => millisOf(["-e", "0"]),
    cli: () => millisOf([greenroom, "--version"])
  })
  return { cliStartMs: median(cli), emptyStartMs: median(empty) }
}
