/** The user's folders in which Greenroom keeps something, by the XDG convention. */
import * as os from "node:os"
import * as path from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

/** `$XDG_STATE_HOME/greenroom`, by default under `~/.local/state`. */
export const stateFolder = (env: Environment = process.env): string =>
  path.join(absolute(env["XDG_STATE_HOME"]) ?? path.join(home(env), ".local", "state"), "greenroom")

/** `$XDG_CACHE_HOME/greenroom`, by default under `~/.cache`. */
export const cacheFolder = (env: Environment = process.env): string =>
  path.join(absolute(env["XDG_CACHE_HOME"]) ?? path.join(home(env), ".cache"), "greenroom")

/** The convention says that a relative path is to be ignored. */
const absolute = (folder: string | undefined) => (folder !== undefined && path.isAbsolute(folder) ? folder : undefined)

const home = (env: Environment) => env["HOME"] ?? os.homedir()
