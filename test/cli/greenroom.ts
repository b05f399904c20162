/** The real command in a world of its own: a workspace, a home, and a look at what is left afterwards. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const program = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface World {
  readonly folder: string
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
  readonly remove: () => void
}

/** The folder is in the environment of everything that runs in it, and so names its processes. */
export const makeWorld = (): World => {
  const folder = mkdtempSync(join(tmpdir(), "greenroom-cli-"))
  const workspace = join(folder, "workspace")
  const home = join(folder, "home")
  for (const path of [workspace, home]) mkdirSync(path)
  return {
    folder,
    workspace,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      LANG: "C.UTF-8",
      NODE_COMPILE_CACHE: join(tmpdir(), "greenroom-cli-cache")
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<Ended>
}

export const start = (
  world: World,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Running => {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: world.workspace,
    env: { ...world.env, ...env },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, stdout: () => stdout, stderr: () => stderr, ended }
}

/** Runs to the end. `input` is all of stdin. */
export const greenroom = (
  world: World,
  args: ReadonlyArray<string>,
  { env = {}, input = "" }: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {}
): Promise<Ended> => {
  const running = start(world, args, env)
  running.child.stdin?.end(input)
  return running.ended
}

/** The line that every run ends with. */
export const lastLineOf = (stderr: string): string => stderr.trimEnd().split("\n").at(-1) ?? ""

/** Live processes whose environment names the world. */
export const processesOf = (world: World): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/environ`, "utf8").includes(world.folder) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Launches that a ledger of the world still names. */
export const ledgersOf = (world: World): ReadonlyArray<string> => {
  try {
    return readdirSync(join(world.folder, "home", ".local", "state", "greenroom", "hosts"))
  } catch {
    return []
  }
}

/** Ends the world. What it still had is killed and named: nothing is the only good answer. */
export const endWorld = (world: World): ReadonlyArray<number | string> => {
  const processes = processesOf(world)
  const left = [...processes, ...ledgersOf(world)]
  for (const pid of processes) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has just ended.
    }
  }
  world.remove()
  return left
}

/** Polls a condition; fails with its name when it does not hold within the bound. */
export const until = async (what: string, condition: () => boolean, boundMs = 30_000): Promise<void> => {
  const end = performance.now() + boundMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${boundMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A command line for `--agent-command`. */
export const commandLine = (words: ReadonlyArray<string>): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")
