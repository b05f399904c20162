/** Where the system's own tools are, and with which environment we start them. */
import * as Result from "effect/Result"
import { markerVariable } from "../../services/Os.ts"
import { locateCommand } from "./locateCommand.ts"

/** For what we start for ourselves: no locale, no user's settings, and the markers of a launch that we run in ourselves. */
export const toolEnvironment = (): Record<string, string> => ({
  PATH: `${systemPath}:${process.env["PATH"] ?? ""}`,
  LC_ALL: "C",
  ...(process.env[markerVariable] === undefined ? {} : { [markerVariable]: process.env[markerVariable] })
})

/** The markers of a launch: behind those of the launches that we run in ourselves, so that their owners find it, too. */
export const markersOf = (marker: string): string => {
  const outer = process.env[markerVariable]
  return outer === undefined ? marker : `${outer}:${marker}`
}

/** Absolute path of a system tool; the failure is what to tell the user. */
export const locateTool = (name: string): Result.Result<string, string> =>
  Result.mapError(
    locateCommand({ command: name, cwd: "/", env: toolEnvironment() }),
    (failed) => `${name}: ${failed.reason}`
  )

export const shell = "/bin/sh"

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
