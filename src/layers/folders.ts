/** The user's folders in which Greenroom keeps something, by the XDG convention. A relative path in it counts as not set. */
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { HostEnvironment } from "../services/Provider.ts"

/** `$XDG_CACHE_HOME/greenroom`, by default `~/.cache/greenroom`. Deleting it loses nothing but time. */
export const cacheFolder = (host: HostEnvironment): string => folderOf(host, "XDG_CACHE_HOME", ".cache")

/** `$XDG_CONFIG_HOME/greenroom`, by default `~/.config/greenroom`. */
export const configFolder = (host: HostEnvironment): string => folderOf(host, "XDG_CONFIG_HOME", ".config")

/** `$XDG_STATE_HOME/greenroom`, by default `~/.local/state/greenroom`. */
export const stateFolder = (host: HostEnvironment): string => folderOf(host, "XDG_STATE_HOME", ".local/state")

const folderOf = (host: HostEnvironment, variable: string, inHome: string): string =>
  join(absolute(host[variable]) ?? join(absolute(host["HOME"]) ?? homedir(), inHome), "greenroom")

const absolute = (folder: string | undefined) => (folder !== undefined && isAbsolute(folder) ? folder : undefined)
