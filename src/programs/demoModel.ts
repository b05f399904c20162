/**
 * The demo model as a process: `demoModel [--script FILE]`. It prints `{"origin":"http://127.0.0.1:PORT"}` on one line once it
 * listens, and ends when its input ends: whoever started it only has to let go.
 */
import { readFileSync, realpathSync } from "node:fs"
import { parseScript } from "./demoModel/script.ts"
import { startDemoModel } from "./demoModel/server.ts"

export { startDemoModel } from "./demoModel/server.ts"
export type { DemoModel, DemoModelOptions, LogEntry } from "./demoModel/server.ts"
export type { ModelCall, ModelScript, ModelTurn } from "./demoModel/script.ts"

const main = async (args: ReadonlyArray<string>): Promise<void> => {
  const [option, file, ...rest] = args
  if (args.length > 0 && (option !== "--script" || file === undefined || rest.length > 0))
    throw new Error("usage: demoModel [--script FILE]")
  const model = await startDemoModel({
    script: file === undefined ? undefined : parseScript(readFileSync(file, "utf8"))
  })
  process.stdout.write(`${JSON.stringify({ origin: model.origin })}\n`)
  process.stdin.resume()
  process.stdin.on("close", () => process.exit(0))
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename)
  await main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(64)
  })
