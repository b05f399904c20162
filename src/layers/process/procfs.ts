/**
 * What Linux tells about processes through /proc. Plain synchronous reads: /proc is memory, and a signal must follow the read
 * of an identity without anything in between.
 */
import * as fs from "node:fs"

export interface ProcessStat {
  readonly state: string
  readonly parent: number
  readonly flags: number
  readonly threads: number
  /** Clock ticks since boot. */
  readonly startTime: string
}

/** The fields of `/proc/<pid>/stat` that matter here; `undefined` when the text is not one. */
export const parseStat = (text: string): ProcessStat | undefined => {
  // The name of a process may hold spaces and parentheses, so the fields begin behind the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const [state, parent, , , , , flags] = fields
  const threads = fields[17]
  const startTime = fields[19]
  if (state === undefined || threads === undefined || startTime === undefined) return undefined
  return { state, parent: Number(parent), flags: Number(flags), threads: Number(threads), startTime }
}

export const readStat = (pid: number): ProcessStat | undefined => {
  const text = readText(`/proc/${pid}/stat`)
  return text === undefined ? undefined : parseStat(text)
}

/** A zombie is dead, unless it is only the first thread of a process whose others go on. */
export const isDead = (stat: ProcessStat): boolean => "ZXx".includes(stat.state) && stat.threads <= 1

const kernelThreadFlag = 0x200000

export const isKernelThread = (stat: ProcessStat): boolean => (stat.flags & kernelThreadFlag) !== 0

/** Every process number in this pid namespace, in order. */
export const processNumbers = (): ReadonlyArray<number> =>
  fs.readdirSync("/proc").flatMap((name) => (digits.test(name) ? [Number(name)] : []))

const digits = /^\d+$/

/** `empty`: no environment is shown, which is also so in the middle of an `exec`. */
export const environmentHolds = (pid: number, needle: Buffer): "yes" | "no" | "empty" => {
  let file: number
  try {
    file = fs.openSync(`/proc/${pid}/environ`, "r")
  } catch {
    return "no"
  }
  try {
    return search(file, needle)
  } catch {
    // It ended, or it is not ours to look into.
    return "no"
  } finally {
    fs.closeSync(file)
  }
}

const buffer = Buffer.alloc(64 * 1024)

const search = (file: number, needle: Buffer): "yes" | "no" | "empty" => {
  let kept = 0
  let total = 0
  for (;;) {
    const read = fs.readSync(file, buffer, kept, buffer.length - kept, null)
    total += read
    const end = kept + read
    if (buffer.subarray(0, end).includes(needle)) return "yes"
    if (end < buffer.length) return total === 0 ? "empty" : "no"
    kept = needle.length - 1
    buffer.copyWithin(0, end - kept, end)
  }
}

/** Inode of the pid namespace of a process, or of the one that its children will be born into. */
export const pidNamespace = (pid: number | "self", which: "pid" | "pid_for_children" = "pid"): string | undefined => {
  try {
    return /\d+/.exec(fs.readlinkSync(`/proc/${pid}/ns/${which}`))?.[0]
  } catch {
    return undefined
  }
}

/** Empty of a zombie, a kernel thread, or a process in the middle of an `exec`. */
export const commandLine = (pid: number): string | undefined => readText(`/proc/${pid}/cmdline`)

/** Whether a process is the init of its pid namespace. */
export const isInit = (pid: number): boolean => /^NSpid:.*\t1$/m.test(readText(`/proc/${pid}/status`) ?? "")

/** The first child of a process. */
export const childOf = (pid: number): number | undefined => {
  const listed = readText(`/proc/${pid}/task/${pid}/children`)
  if (listed !== undefined) return firstNumber(listed)
  // Kernels without CONFIG_PROC_CHILDREN.
  return processNumbers().find((candidate) => readStat(candidate)?.parent === pid)
}

const firstNumber = (text: string) => {
  const number = Number.parseInt(text, 10)
  return Number.isNaN(number) ? undefined : number
}

export const readText = (path: string): string | undefined => {
  try {
    return fs.readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
