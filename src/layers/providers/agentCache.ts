/**
 * Where things of this host are kept outside any workspace: fetched agents, and private homes while they are needed.
 *
 * Everything is below one folder, `$XDG_CACHE_HOME/greenroom` or `~/.cache/greenroom`; deleting it loses nothing but time.
 */
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Distribution, HostEnvironment } from "../../services/Provider.ts"

/** A relative `XDG_CACHE_HOME` counts as not set, as the base directory specification demands. */
export const cacheFolder = (host: HostEnvironment): string => {
  const cache = host["XDG_CACHE_HOME"]
  if (cache !== undefined && isAbsolute(cache)) return join(cache, "greenroom")
  const home = host["HOME"]
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), ".cache", "greenroom")
}

export const agentsFolder = (host: HostEnvironment): string => join(cacheFolder(host), "agents")

export const homesFolder = (host: HostEnvironment): string => join(cacheFolder(host), "homes")

/** As npm packages name it, e.g. `linux-x64`. */
export const platform = `${process.platform}-${process.arch}`

export const packageName = (distribution: Distribution): string =>
  distribution.package.replaceAll("{platform}", platform)

/** The folder of one version of one agent. It exists whole or not at all. */
export const installFolder = (id: string, distribution: Distribution, host: HostEnvironment): string =>
  join(agentsFolder(host), `${id}-${distribution.version}`)

/** The executable inside a folder that npm has filled. */
export const executableIn = (folder: string, distribution: Distribution): string =>
  join(folder, "node_modules", packageName(distribution), distribution.executable)
