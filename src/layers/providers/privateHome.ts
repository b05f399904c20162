/**
 * A home of the launch's own: no login, no history and no configuration of the user is in it, and nobody else can read it.
 *
 * Guarantees: each folder is 0700 and each file 0600; a home made here is deleted with its scope, after everything that the
 * scope started later has ended. A home that was given stays.
 *
 * Not guaranteed: a host that is killed between making a home and writing the launch to its ledger leaves the home for ever:
 * nobody knows whose it is. Once that line is written a later host deletes it.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"
import { ProviderSetupFailed } from "../../schema/errors.ts"
import type { LaunchOptions } from "../../services/Provider.ts"
import { homesFolder } from "./agentCache.ts"

/** Makes the home, or prepares the one that was given. If interrupted, what it made is deleted. */
export const privateHome = (
  agent: string,
  options: LaunchOptions
): Effect.Effect<string, ProviderSetupFailed, Scope.Scope> =>
  (options.privateHome === undefined
    ? Effect.acquireRelease(
        perform(agent, () => makeHome(agent, homesFolder(options.hostEnv))),
        deleteHome
      )
    : perform(agent, () => adoptHome(options.privateHome ?? ""))
  ).pipe(Effect.tap((home) => perform(agent, () => makeFolders(home))))

/** Writes configuration of the agent below its home. */
export const writeFiles = (
  agent: string,
  home: string,
  files: Readonly<Record<string, string>>
): Effect.Effect<void, ProviderSetupFailed> =>
  perform(agent, async () => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(home, name)), { recursive: true, mode: folderMode })
      await writeFile(join(home, name), content, { mode: fileMode })
    }
  })

/** What makes a program take this folder for its home. */
export const homeVariables = (home: string): Record<string, string> => ({
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_DATA_HOME: join(home, ".local/share"),
  XDG_STATE_HOME: join(home, ".local/state"),
  XDG_CACHE_HOME: join(home, ".cache"),
  XDG_RUNTIME_DIR: join(home, ".run"),
  TMPDIR: join(home, ".tmp")
})

const folderMode = 0o700
const fileMode = 0o600

const makeHome = async (agent: string, folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: folderMode })
  return mkdtemp(join(folder, `${agent}-`))
}

/** A link could lead anywhere, and a folder of somebody else could be read by them. */
const adoptHome = async (home: string): Promise<string> => {
  if (!isAbsolute(home)) throw new Error("the private home is not an absolute path")
  await mkdir(home, { recursive: true, mode: folderMode })
  const found = await lstat(home)
  if (!found.isDirectory()) throw new Error("the private home is not a folder")
  if (process.getuid !== undefined && found.uid !== process.getuid()) throw new Error("the private home is not ours")
  await chmod(home, folderMode)
  return home
}

const makeFolders = async (home: string): Promise<void> => {
  for (const folder of Object.values(homeVariables(home))) await mkdir(folder, { recursive: true, mode: folderMode })
}

const deleteHome = (home: string): Effect.Effect<void> =>
  Effect.tryPromise(() => rm(home, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 })).pipe(
    Effect.catch(() => Effect.logWarning("a private home could not be deleted", home))
  )

const perform = <A>(agent: string, action: () => Promise<A>): Effect.Effect<A, ProviderSetupFailed> =>
  Effect.tryPromise({
    try: action,
    catch: (cause) =>
      new ProviderSetupFailed({ agent, reason: cause instanceof Error ? cause.message : "the private home failed" })
  })
