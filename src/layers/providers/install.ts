/**
 * Fetching an agent, into a folder of its own below the cache.
 *
 * Guarantees: the folder of a version appears whole or not at all, whoever else installs at the same time; an executable
 * whose SHA-256 is known is checked; a failed or interrupted install leaves nothing, a killed one is tidied by a later one.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { AgentInstallFailed } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { Distribution, HostEnvironment } from "../../services/Provider.ts"
import { agentsFolder, executableIn, installFolder, packageName, platform } from "./agentCache.ts"
import { isExecutable } from "./executable.ts"
import { npmInstall } from "./npm.ts"

export interface Installed {
  readonly executable: string
  readonly version: string
  /** Its SHA-256 is the one that was measured. `false`: none is known for this platform, and npm's own check stands. */
  readonly verified: boolean
}

/** Does nothing where the version is there already. If interrupted, npm is killed and its folder deleted. */
export const install = Effect.fn("install")(function* (
  id: string,
  distribution: Distribution,
  host: HostEnvironment
): Effect.fn.Return<Installed, AgentInstallFailed> {
  const attempt: Attempt = { id, distribution, host, folder: installFolder(id, distribution, host) }
  const present = yield* presentIn(attempt, attempt.folder)
  if (present !== undefined) return present
  return yield* Effect.scoped(fetchInto(attempt))
})

interface Attempt {
  readonly id: string
  readonly distribution: Distribution
  readonly host: HostEnvironment
  readonly folder: string
}

const fetchInto = Effect.fnUntraced(function* (attempt: Attempt) {
  yield* deleteAbandoned(agentsFolder(attempt.host))
  const partial = yield* Effect.acquireRelease(makePartial(attempt), deleteFolder)
  const spec = `${packageName(attempt.distribution)}@${attempt.distribution.version}`
  const failure = yield* npmInstall(spec, partial, attempt.host).pipe(
    Effect.timeoutOrElse({
      duration: limits.installMs,
      orElse: () => Effect.fail(failed(attempt, "timed_out", `not done within ${limits.installMs} ms`))
    })
  )
  if (failure !== undefined) return yield* failed(attempt, failure.reason, failure.detail)
  const fetched = yield* presentIn(attempt, partial)
  if (fetched === undefined) {
    return yield* failed(attempt, "executable_missing", `no executable ${attempt.distribution.executable} in ${spec}`)
  }
  return yield* settle(attempt, partial)
})

/** Whoever renames first wins; what they put there is checked like our own. */
const settle = Effect.fnUntraced(function* (attempt: Attempt, partial: string) {
  const renamed = yield* Effect.promise(() => rename(partial, attempt.folder).then(() => undefined, messageOf))
  const present = yield* presentIn(attempt, attempt.folder)
  return present ?? (yield* failed(attempt, "cache_unwritable", renamed ?? "the folder was taken away"))
})

/** The executable below a folder, checked. `undefined`: it is not there. */
const presentIn = Effect.fnUntraced(function* (attempt: Attempt, folder: string) {
  const { distribution } = attempt
  const executable = executableIn(folder, distribution)
  if (!(yield* isExecutable(executable))) return undefined
  const expected = distribution.sha256[platform]
  if (expected !== undefined) {
    const actual = yield* Effect.promise(() => sha256(executable).catch(messageOf))
    if (actual !== expected) return yield* failed(attempt, "hash_mismatch", `${executable} has SHA-256 ${actual}`)
  }
  return { executable, version: distribution.version, verified: expected !== undefined }
})

const sha256 = async (file: string): Promise<string> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest("hex")
}

const partialPrefix = ".partial-"

/** On the same file system as the folder that it becomes. */
const makePartial = (attempt: Attempt): Effect.Effect<string, AgentInstallFailed> =>
  Effect.tryPromise({
    try: async () => {
      const folder = agentsFolder(attempt.host)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return mkdtemp(join(folder, `${partialPrefix}${basename(attempt.folder)}-`))
    },
    catch: (cause) => failed(attempt, "cache_unwritable", messageOf(cause))
  })

const deleteAbandoned = Effect.fnUntraced(function* (agents: string) {
  const now = yield* Clock.currentTimeMillis
  const names = yield* Effect.promise(() => readdir(agents).catch(() => []))
  for (const name of names.filter((one) => one.startsWith(partialPrefix))) {
    const folder = join(agents, name)
    const found = yield* Effect.promise(() => stat(folder).catch(() => undefined))
    if (found !== undefined && now - found.mtimeMs > limits.installAbandonedMs) yield* deleteFolder(folder)
  }
})

const deleteFolder = (folder: string): Effect.Effect<void> =>
  Effect.tryPromise(() => rm(folder, { recursive: true, force: true })).pipe(
    Effect.catch(() => Effect.logWarning("a folder could not be deleted", folder))
  )

const failed = (attempt: Attempt, reason: AgentInstallFailed["reason"], detail: string): AgentInstallFailed =>
  new AgentInstallFailed({ agent: attempt.id, package: packageName(attempt.distribution), reason, detail })

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
