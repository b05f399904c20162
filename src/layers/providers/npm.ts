/**
 * One package into one folder, by the user's own npm: their registry, their proxy, their credentials. No script of the
 * package runs.
 *
 * Bounds: the time, and what is kept of the output. If interrupted, npm and what it started are killed and waited for.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { limits } from "../../schema/limits.ts"
import { isLoaderVariable } from "../../services/environment.ts"
import type { HostEnvironment } from "../../services/Provider.ts"

export type NpmReason =
  | "npm_missing"
  | "npm_failed"
  | "package_not_found"
  | "platform_unsupported"
  | "registry_unreachable"
  | "registry_refused"
  | "cache_unwritable"

export interface NpmFailure {
  readonly reason: NpmReason
  readonly detail: string
}

/** `name@version` below `folder/node_modules`. `undefined`: done. */
export const npmInstall = (
  packageSpec: string,
  folder: string,
  host: HostEnvironment
): Effect.Effect<NpmFailure | undefined> =>
  Effect.callback((resume) => {
    // A group of its own, so that one signal takes npm and what it started.
    const child = spawn("npm", ["install", ...options, "--prefix", folder, packageSpec], {
      cwd: folder,
      env: environmentOf(host),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true
    })
    const output = keepTail(child.stdout)
    const errors = keepTail(child.stderr)
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
    child.once("error", (error) => resume(Effect.succeed({ reason: "npm_missing", detail: error.message })))
    child.once("close", (code) => {
      resume(Effect.succeed(code === 0 ? undefined : npmFailure(output(), errors())))
    })
    return Effect.promise(async () => {
      if (child.pid === undefined) return
      killGroup(child.pid)
      await closed
    })
  })

const options = [
  "--ignore-scripts",
  "--no-save",
  "--no-package-lock",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--global=false",
  "--loglevel=error",
  "--json"
]

/** npm is the user's own program and gets their environment; loader variables are passed to nobody. */
const environmentOf = (host: HostEnvironment) =>
  Object.fromEntries(Object.entries(host).filter(([name]) => !isLoaderVariable(name)))

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It is gone already.
  }
}

/** The end of a stream, read to its end so that the writer never waits. */
const keepTail = (stream: NodeJS.ReadableStream): (() => string) => {
  let tail = ""
  stream.setEncoding("utf8")
  stream.on("data", (text: string) => {
    tail = (tail + text).slice(-limits.installOutputCharactersMax)
  })
  return () => tail
}

/** With `--json` npm tells its failure on stdout as `{"error": {"code", "summary", "detail"}}`. */
export const npmFailure = (output: string, errors: string): NpmFailure => {
  const { code, summary } = errorIn(output) ?? { code: "", summary: errors }
  return { reason: reasonOf(code), detail: `${code} ${summary}`.trim().slice(0, limits.installDetailCharactersMax) }
}

const errorIn = (output: string): { readonly code: string; readonly summary: string } | undefined => {
  try {
    const { error }: { error?: { code?: unknown; summary?: unknown } } = JSON.parse(output)
    return error === undefined ? undefined : { code: String(error.code ?? ""), summary: String(error.summary ?? "") }
  } catch {
    return undefined
  }
}

const reasonOf = (code: string): NpmReason => reasons.get(code) ?? "npm_failed"

const reasons: ReadonlyMap<string, NpmReason> = new Map([
  ["E404", "package_not_found"],
  ["ETARGET", "package_not_found"],
  ["EBADPLATFORM", "platform_unsupported"],
  ["E401", "registry_refused"],
  ["E403", "registry_refused"],
  ["ENEEDAUTH", "registry_refused"],
  ["ENOTFOUND", "registry_unreachable"],
  ["EAI_AGAIN", "registry_unreachable"],
  ["ECONNREFUSED", "registry_unreachable"],
  ["ECONNRESET", "registry_unreachable"],
  ["ETIMEDOUT", "registry_unreachable"],
  ["ENETUNREACH", "registry_unreachable"],
  ["EHOSTUNREACH", "registry_unreachable"],
  ["FETCH_ERROR", "registry_unreachable"],
  ["ERR_SOCKET_TIMEOUT", "registry_unreachable"],
  ["ENOTCACHED", "registry_unreachable"],
  ["EACCES", "cache_unwritable"],
  ["EPERM", "cache_unwritable"],
  ["EROFS", "cache_unwritable"],
  ["ENOSPC", "cache_unwritable"],
  ["EDQUOT", "cache_unwritable"]
])
