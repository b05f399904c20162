/**
 * The environment of a launch, composed from an allow-list and never by copying and deleting.
 *
 * Guarantees: a variable of the host passes only if it is on the list; a credential passes only by explicit binding; a loader
 * variable never passes, not even when it is asked for. Bounds: one entry and the sum of all, in bytes of UTF-8.
 */
import * as Result from "effect/Result"
import { utf8Bytes } from "../schema/characters.ts"
import { EnvironmentRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import { markerVariable } from "./Os.ts"

export interface EnvironmentParts {
  /** The host's environment, from which the allow-list picks. */
  readonly host: Readonly<Record<string, string | undefined>>
  /** Names beyond the list of the house that this launch takes over from the host. Not for credentials. */
  readonly inherit?: ReadonlyArray<string>
  /** Credentials of the host that the user bound to this launch by name. A missing or blank one is refused. */
  readonly credentials?: ReadonlyArray<string>
  /** Values given in so many words; they win. */
  readonly set?: Readonly<Record<string, string>>
}

/** Composes and checks. Fails with `EnvironmentRefused`, which names the variable and never its value. */
export const composeEnvironment = (
  parts: EnvironmentParts
): Result.Result<Record<string, string>, EnvironmentRefused> => {
  const env: Record<string, string> = {}
  for (const name of Object.keys(parts.host)) if (isAllowed(name)) take(env, name, parts.host[name])
  for (const name of parts.inherit ?? []) {
    if (isLoaderVariable(name)) return refuse(name, loaderReason)
    take(env, name, parts.host[name])
  }
  for (const name of parts.credentials ?? []) {
    const value = parts.host[name]
    if (value === undefined || value.trim() === "") return refuse(name, "a bound credential is missing or blank")
    env[name] = value
  }
  return checkEnvironment(Object.assign(env, parts.set))
}

/** Checks a complete environment: names, NUL, loader variables, bounds. Returns it. */
export const checkEnvironment = <Env extends Readonly<Record<string, string>>>(
  env: Env
): Result.Result<Env, EnvironmentRefused> => {
  let total = 0
  for (const [name, value] of Object.entries(env)) {
    const reason = refusal(name, value)
    if (reason !== undefined) return refuse(name, reason)
    total += entryBytes(name, value)
    if (total > limits.environmentBytesMax)
      return refuse(name, `all entries exceed ${limits.environmentBytesMax} bytes`)
  }
  return Result.succeed(env)
}

/** Variables that make a loader, a runtime or a shell run foreign code before the program itself. */
export const isLoaderVariable = (name: string): boolean =>
  name.startsWith("LD_") || name.startsWith("DYLD_") || loaderVariables.has(name)

/** Whether the house lets this variable of the host pass unasked. */
export const isAllowed = (name: string): boolean => allowed.has(name) || localeVariable.test(name)

const allowed = new Set(
  [
    "PATH LANG LANGUAGE TZ TMPDIR TEMP TMP RUST_BACKTRACE",
    "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy"
  ].flatMap((names) => names.split(" "))
)

const localeVariable = /^LC_[A-Z0-9_]{1,32}$/

const loaderVariables = new Set(["NODE_OPTIONS", "BASH_ENV", "ENV"])

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

const loaderReason = "a loader variable never passes"

const take = (env: Record<string, string>, name: string, value: string | undefined) => {
  if (value !== undefined) env[name] = value
}

const refusal = (name: string, value: string): string | undefined => {
  if (name.includes("\0") || value.includes("\0")) return "a NUL character"
  // Shells drop what they cannot name, so such a variable would reach some agents and not others.
  if (!variableName.test(name)) return "not a name of a variable"
  if (isLoaderVariable(name)) return loaderReason
  if (name === markerVariable) return "reserved for the marker of a launch"
  if (entryBytes(name, value) > limits.environmentEntryBytesMax)
    return `the entry exceeds ${limits.environmentEntryBytesMax} bytes`
  return undefined
}

/** `name=value`, as the kernel counts it but for the closing NUL. */
const entryBytes = (name: string, value: string) => utf8Bytes(name) + 1 + utf8Bytes(value)

const refuse = (variable: string, reason: string) => Result.fail(new EnvironmentRefused({ variable, reason }))
