/** Starts `host.ts` and talks to it. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as readline from "node:readline"
import type { CleanupReport, Launch } from "../../src/services/AgentLink.ts"
import type { Backend, BackendProbe } from "../../src/services/Os.ts"
import type { HostConfig, HostOrder } from "./host.ts"

/** What the host says; which of it, depends on the order. */
export interface HostAnswer {
  readonly opened?: ReadonlyArray<{ readonly pid: number; readonly backend: Backend }>
  readonly reports?: ReadonlyArray<CleanupReport>
  readonly backends?: ReadonlyArray<BackendProbe>
  readonly released?: boolean
}

export interface Host {
  readonly pid: number
  readonly opened: NonNullable<HostAnswer["opened"]>
  readonly order: (order: HostOrder) => Promise<HostAnswer>
  readonly tell: (order: HostOrder) => void
  readonly signal: (signal: NodeJS.Signals) => void
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  readonly stderr: () => string
}

export interface HostOptions extends HostConfig {
  /** Runs the host as this user and group; only root can. */
  readonly user?: number
}

export const startHost = async ({ user, ...config }: HostOptions): Promise<Host> => {
  const program = path.join(import.meta.dirname, "host.ts")
  const child = childProcess.spawn(process.execPath, [program, JSON.stringify(config)], {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: "/",
    env: { PATH: process.env["PATH"], HOME: config.ledgerFolder },
    ...(user === undefined ? {} : { uid: user, gid: user })
  })
  let stderr = ""
  child.stderr.on("data", (piece) => (stderr += piece))
  child.stdin.on("error", () => {})
  const waiting: Array<(answer: HostAnswer) => void> = []
  const next = () => new Promise<HostAnswer>((resolve) => waiting.push(resolve))
  readline.createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.(JSON.parse(line)))
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on("close", (code, signal) => {
      for (const answer of waiting.splice(0)) answer({})
      resolve({ code, signal })
    })
  )
  const tell = (order: HostOrder) => child.stdin.write(`${JSON.stringify(order)}\n`)
  const { opened } = await next()
  if (opened === undefined || child.pid === undefined) throw new Error(`the host did not open its launches: ${stderr}`)
  return {
    pid: child.pid,
    opened,
    tell,
    order: (order) => {
      tell(order)
      return next()
    },
    signal: (signal) => child.kill(signal),
    exited,
    stderr: () => stderr
  }
}

/** A folder that every user may use. */
export const makeFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "greenroom-process-"))
  fs.chmodSync(folder, 0o777)
  return folder
}

/** A launch of a shell text. Its last argument is the agent's own tag. */
export const shellLaunch = (
  text: string,
  tag: string,
  backend: Backend,
  graces: NonNullable<Launch["graces"]> = { eofMs: 200, termMs: 300, killMs: 3_000 }
): Launch => ({
  command: "sh",
  args: ["-c", text, "agent", tag],
  env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
  cwd: "/",
  backend,
  graces
})
