/** Starts `daemon.ts` in a folder of its own, and looks for what it leaves. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { lookAround, sendKill } from "../process/processes.ts"
import type { DaemonConfig } from "./daemon.ts"

export interface Daemon {
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  readonly kill: () => void
  /** The names of its commits, in order. */
  readonly commits: () => ReadonlyArray<string>
  readonly stderr: () => string
}

/** Resolves when it listens, or has ended before. */
export const startDaemon = async (config: DaemonConfig): Promise<Daemon> => {
  const { folder } = config
  const child = childProcess.spawn(
    process.execPath,
    [path.join(import.meta.dirname, "daemon.ts"), JSON.stringify(config)],
    {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: "/",
      env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder }
    }
  )
  let stderr = ""
  child.stderr.on("data", (piece) => (stderr += piece))
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal }))
  )
  const ready = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()))
  await Promise.race([ready, exited])
  return {
    exited,
    kill: () => void child.kill("SIGKILL"),
    commits: () => [...stderr.matchAll(/^commit \d+: (.*)$/gmu)].map(([, name]) => name ?? ""),
    stderr: () => stderr
  }
}

/** Short, for a socket is in it. */
export const makeDaemonFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gr-"))
  fs.mkdirSync(path.join(folder, "workspace"))
  return folder
}

/** Live processes that were started in the folder or know of it. */
export const processesOf = (folder: string): ReadonlyArray<{ readonly pid: number; readonly command: string }> =>
  lookAround().filter(({ pid }) => pid !== process.pid && (isWithin(pid, folder) || knows(pid, folder)))

export const clearProcesses = (folder: string): number => {
  const left = processesOf(folder)
  for (const { pid } of left) sendKill(pid)
  return left.length
}

const isWithin = (pid: number, folder: string): boolean => {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
  } catch {
    return false
  }
}

const knows = (pid: number, folder: string): boolean => {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(`=${folder}`)
  } catch {
    return false
  }
}
