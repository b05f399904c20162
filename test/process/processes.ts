/** The processes of the machine, as the runner sees them: independent of the code under test. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import type { Backend } from "../../src/services/Os.ts"

export interface Seen {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** Every live process. */
export const lookAround = (): ReadonlyArray<Seen> => (fs.existsSync("/proc/self/cmdline") ? lookInProc() : lookByPs())

const lookInProc = (): ReadonlyArray<Seen> =>
  fs.readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const command = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim()
      // Zombies and threads of the kernel have none.
      if (command === "") return []
      const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8")
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
      return [{ pid: Number(name), parent, command }]
    } catch {
      return []
    }
  })

const lookByPs = (): ReadonlyArray<Seen> => {
  const listing = childProcess.execFileSync("ps", ["-axww", "-o", "pid=,ppid=,stat=,command="], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  return listing.split("\n").flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state === undefined || state.startsWith("Z")) return []
    return [{ pid: Number(pid), parent: Number(parent), command: command ?? "" }]
  })
}

/** A number that no process has as its last argument. */
export const freshTag = (): string => String(1_000_000_000 + Math.floor(Math.random() * 8_000_000_000))

export const tagged = (tag: string): ReadonlyArray<Seen> =>
  lookAround().filter(({ command }) => command.endsWith(` ${tag}`))

/** Polls until the condition holds; `false` when the bound is over. */
export const waitUntil = async (condition: () => boolean | Promise<boolean>, boundMs = 10_000): Promise<boolean> => {
  const end = performance.now() + boundMs
  while (!(await condition())) {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return true
}

/** Ends what a run left, found again by its tag directly before. Returns how many there were. */
export const clearTagged = (tag: string): number => {
  const left = tagged(tag)
  for (const { pid } of left) sendKill(pid)
  return left.length
}

export const sendKill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}

/** A process of nobody's launch. Its environment holds a marker of another one. */
export const startSentinel = () => {
  const tag = freshTag()
  const env = { PATH: process.env["PATH"] ?? "", GREENROOM_LAUNCH: "launch_of_somebody_else" }
  const child = childProcess.spawn("sleep", [tag], { stdio: "ignore", env })
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null && tagged(tag).length === 1,
    stop: () => child.kill("SIGKILL")
  }
}

/** Whether the system lets a backend work, asked without our code: then it must. */
export const isAllowed = (backend: Backend, user?: number): boolean => {
  if (backend === "marked") return process.platform !== "win32"
  const isRoot = (user ?? process.getuid?.()) === 0
  const args = [...(isRoot ? [] : ["--user", "--map-current-user"]), "--pid", "--fork", "--mount-proc", "true"]
  const as = user === undefined ? {} : { uid: user, gid: user }
  return childProcess.spawnSync("unshare", args, { stdio: "ignore", ...as }).status === 0
}
