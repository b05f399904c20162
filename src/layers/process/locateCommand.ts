/**
 * Finds what a launch would execute, before anything is started, so that both backends refuse the same commands with the
 * same words.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Result from "effect/Result"
import { LaunchFailed } from "../../schema/errors.ts"
import type { SpawnRequest } from "../../services/Os.ts"

/** The absolute path of the executable. Fails with the reason: no folder, not found, not executable, no interpreter. */
export const locateCommand = (
  request: Pick<SpawnRequest, "command" | "cwd" | "env">
): Result.Result<string, LaunchFailed> => {
  const failed = (reason: string) => Result.fail(new LaunchFailed({ command: request.command, reason }))
  if (request.command === "" || request.command.includes("\0")) return failed("not a name of a command")
  if (!isFolder(request.cwd)) return failed("the working directory does not exist")
  const file = find(request.command, request)
  if (file === undefined) return failed("the command was not found")
  if (!isExecutable(file)) return failed("the command is not executable")
  const interpreter = missingInterpreter(file, request)
  return interpreter === undefined ? Result.succeed(file) : failed(`its interpreter ${interpreter} was not found`)
}

/** The first executable file on the way, else the first file at all. */
const find = (command: string, { cwd, env }: Pick<SpawnRequest, "cwd" | "env">): string | undefined => {
  if (command.includes("/")) {
    const file = path.resolve(cwd, command)
    return isFile(file) ? file : undefined
  }
  const folders = (env["PATH"] ?? defaultPath).split(":")
  const files = folders.map((folder) => path.resolve(cwd, folder, command)).filter(isFile)
  return files.find(isExecutable) ?? files[0]
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin"

/** Follows `#!/path` and `#!/usr/bin/env name`; anything fancier is left to the kernel. */
const missingInterpreter = (file: string, request: Pick<SpawnRequest, "cwd" | "env">): string | undefined => {
  const line = /^#![ \t]*(\S+)(?:[ \t]+(\S+))?/.exec(firstBytes(file))
  const [, interpreter, argument] = line ?? []
  if (interpreter === undefined) return undefined
  if (!isExecutable(path.resolve(request.cwd, interpreter))) return interpreter
  const viaEnv = path.basename(interpreter) === "env" && argument !== undefined && /^[^-=]+$/.test(argument)
  return viaEnv && find(argument, request) === undefined ? argument : undefined
}

const firstBytes = (file: string): string => {
  const buffer = Buffer.alloc(256)
  try {
    const opened = fs.openSync(file, "r")
    try {
      return buffer.toString("latin1", 0, fs.readSync(opened, buffer, 0, buffer.length, 0))
    } finally {
      fs.closeSync(opened)
    }
  } catch {
    // Executable but not readable is fine for the kernel.
    return ""
  }
}

const isFolder = (name: string) => statOf(name)?.isDirectory() ?? false
const isFile = (name: string) => statOf(name)?.isFile() ?? false
const statOf = (name: string) => {
  try {
    return fs.statSync(name, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
const isExecutable = (name: string) => {
  try {
    fs.accessSync(name, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}
