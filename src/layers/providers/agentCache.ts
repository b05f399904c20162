/** What is below the cache folder: fetched agents, and private homes while they are needed. */
import { join } from "node:path"
import type { Distribution, HostEnvironment } from "../../services/Provider.ts"
import { cacheFolder } from "../folders.ts"

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
