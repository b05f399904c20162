/** Plays a script with the local runner as a process of its own, and looks at its processes from outside. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as readline from "node:readline"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type HarnessScript, readHarnessScript } from "../../fixtures/agents/harness/script.ts"
import { RunnerMessage } from "../../fixtures/agents/harness/wire.ts"
import type { CleanupReport } from "../../src/services/AgentLink.ts"
import { lookAround, type Seen } from "../process/processes.ts"
import { makeController } from "./controller.ts"
import type { LocalRunnerOptions } from "./localRunner.ts"

export interface Played {
  readonly script: HarnessScript
  readonly messages: ReadonlyArray<RunnerMessage["message"]>
  readonly runnerCode: number | null
  readonly report: CleanupReport | undefined
  /** Workers of the harness that were seen while it ran, and those that are left. */
  readonly workersSeen: number
  readonly workersLeft: number
}

export type PlayOptions = Pick<LocalRunnerOptions, "file" | "backend" | "lineBytesMax"> & {
  readonly ledgerFolder: string
}

/** Fails on a file that is no script, and on a runner that says what is none of its messages. */
export const playFile = async (options: PlayOptions): Promise<Played> => {
  const script = Result.getOrThrowWith(
    readHarnessScript(fs.readFileSync(options.file, "utf8")),
    (reason) => new Error(`${path.basename(options.file)}: ${reason}`)
  )
  const controller = makeController(script)
  const runner = startRunner(options)
  const messages: Array<RunnerMessage["message"]> = []
  const workers = new Map<number, Seen>()
  const look = () => {
    for (const worker of workersOf(runner.pid ?? 0, script)) workers.set(worker.pid, worker)
  }
  const looking = setInterval(look, lookEveryMs)
  try {
    runner.stdin.write(`${controller.begin()}\n`)
    for await (const line of readline.createInterface({ input: runner.stdout })) {
      const { message } = decodeMessage(line)
      messages.push(message)
      look()
      for (const command of controller.hear(message)) runner.stdin.write(`${command}\n`)
    }
  } finally {
    clearInterval(looking)
    runner.stdin.end()
  }
  const { code, report } = await runner.ended
  const left = lookAround().filter(({ command, pid }) => workers.get(pid)?.command === command)
  return { script, messages, runnerCode: code, report, workersSeen: workers.size, workersLeft: left.length }
}

const lookEveryMs = 100

const decodeMessage = Schema.decodeUnknownSync(Schema.fromJsonString(RunnerMessage))

const startRunner = (options: PlayOptions) => {
  const program = path.join(import.meta.dirname, "program.ts")
  const identity = { runId: "run_1", normalizedSessionId: "session_1", runnerInstanceId: "runner_1" }
  // A busy machine starts a program slowly.
  const whole: LocalRunnerOptions & PlayOptions = { ...identity, readyMs: 30_000, ...options }
  const child = childProcess.spawn(process.execPath, [program, JSON.stringify(whole)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: options.ledgerFolder }
  })
  let stderr = ""
  child.stderr.on("data", (piece) => (stderr += piece))
  child.stdin.on("error", () => {})
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve)).then((code) => ({
    code,
    report: reportIn(stderr)
  }))
  ended.catch(() => {})
  return { pid: child.pid, stdin: child.stdin, stdout: child.stdout, ended }
}

const reportIn = (stderr: string): CleanupReport | undefined => {
  const last = stderr.trim().split("\n").at(-1) ?? ""
  if (!last.startsWith('{"report":')) throw new Error(`the runner failed: ${stderr}`)
  return JSON.parse(last).report ?? undefined
}

/** Only a script with workers is worth a look at all processes. */
const workersOf = (runner: number, { steps }: HarnessScript): ReadonlyArray<Seen> => {
  if (!steps.some(({ kind }) => kind === "spawn_worker")) return []
  const all = lookAround()
  const parents = new Map(all.map(({ parent, pid }) => [pid, parent]))
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === runner || isBelow(parents.get(pid)))
  return all.filter(({ command, pid }) => command.endsWith("sleep 60") && isBelow(pid))
}
