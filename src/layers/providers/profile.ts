/**
 * A profile is a provider as data: where its executable may be and what its launch differs in. Everything else is the same
 * for all agents and done here.
 *
 * Guarantees: the environment of a launch is composed from the allow-list; a home of the user and a private one never mix;
 * a model server is either used or refused, never ignored.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AgentMissing, type EnvironmentRefused, ProviderSetupFailed } from "../../schema/errors.ts"
import type { Launch } from "../../services/AgentLink.ts"
import { composeEnvironment } from "../../services/environment.ts"
import type {
  Distribution,
  HostEnvironment,
  LaunchOptions,
  Located,
  ModelServer,
  Provider,
  Traits
} from "../../services/Provider.ts"
import { executableIn, installFolder } from "./agentCache.ts"
import { candidates, isExecutable, originOf } from "./executable.ts"
import { homeVariables, privateHome, writeFiles } from "./privateHome.ts"

export interface Profile {
  readonly id: string
  readonly name: string
  /** Names of the executable on PATH, best first, or absolute paths. */
  readonly commands: ReadonlyArray<string>
  readonly args?: ReadonlyArray<string>
  /** What is not said here is unknown. */
  readonly traits?: Partial<Traits>
  readonly distribution?: Distribution
  /** Beginnings of the names of npm packages that may bring the command. Others of the same name are other agents. */
  readonly packages?: ReadonlyArray<string>
  readonly version?: string
  /** For every launch. */
  readonly start?: (start: Start) => StartPart
  /** For a launch with a model server, beside `start`. Without it a model server is refused. */
  readonly withModelServer?: (server: ModelServer, start: Start) => StartPart
}

/** What a profile may build on. */
export interface Start {
  readonly options: LaunchOptions
  /** `undefined`: the home of the user. */
  readonly privateHome: string | undefined
}

export interface StartPart {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Variables of the host that pass when the home is the user's. */
  readonly userEnv?: ReadonlyArray<string>
  /** Credentials that the profile itself binds. */
  readonly credentials?: ReadonlyArray<string>
  /** Content by path below the private home. */
  readonly files?: Readonly<Record<string, string>>
}

export const providerOf = (profile: Profile): Provider => ({
  id: profile.id,
  name: profile.name,
  traits: { ...unknownTraits, ...profile.traits },
  ...(profile.distribution === undefined ? {} : { distribution: profile.distribution }),
  locate: (host) => locate(profile, host),
  launch: (options) => launch(profile, options)
})

export const unknownTraits: Traits = {
  gate: { edit: "unknown", execute: "unknown", fetch: "unknown", mcp: "unknown" },
  toolKindTrusted: false,
  closesToolsOnCancel: false
}

/** The variable by which a user names the executable of an agent, e.g. `GREENROOM_AGENT_CODEX`. */
export const overrideVariable = (id: string): string => `GREENROOM_AGENT_${id.toUpperCase().replaceAll("-", "_")}`

/** In this order: the user's own word, what was fetched, PATH. */
const locate = Effect.fnUntraced(function* (profile: Profile, host: HostEnvironment): Effect.fn.Return<Located> {
  const variable = overrideVariable(profile.id)
  const override = host[variable]
  if (override !== undefined && override !== "") {
    const [command] = yield* candidates(override, host["PATH"])
    return command === undefined
      ? { _tag: "Missing", hint: `${variable} does not name an executable file` }
      : yield* found(profile, command)
  }
  const { distribution } = profile
  if (distribution !== undefined) {
    const fetched = executableIn(installFolder(profile.id, distribution, host), distribution)
    if (yield* isExecutable(fetched)) return foundAt(profile, fetched, distribution.version)
  }
  for (const name of profile.commands) {
    for (const command of yield* candidates(name, host["PATH"])) {
      const origin = yield* originOf(command)
      if (belongs(profile, origin?.package)) return foundAt(profile, command, profile.version ?? origin?.version)
    }
  }
  return { _tag: "Missing", hint: missingHint(profile, variable) }
})

const found = (profile: Profile, command: string): Effect.Effect<Located> =>
  Effect.map(originOf(command), (origin) => foundAt(profile, command, profile.version ?? origin?.version))

const foundAt = (profile: Profile, command: string, version: string | undefined): Located => ({
  _tag: "Found",
  command,
  args: profile.args ?? [],
  version
})

const belongs = (profile: Profile, packageName: string | undefined): boolean =>
  profile.packages === undefined ||
  packageName === undefined ||
  profile.packages.some((prefix) => packageName.startsWith(prefix))

const missingHint = (profile: Profile, variable: string): string => {
  const names = profile.commands.join(" or ")
  const fetch = profile.distribution === undefined ? "" : `fetch it with \`greenroom setup ${profile.id}\`, `
  return `no ${names} on PATH; ${fetch}put it there, or set ${variable} to its executable`
}

const launch = Effect.fnUntraced(function* (
  profile: Profile,
  options: LaunchOptions
): Effect.fn.Return<Launch, AgentMissing | ProviderSetupFailed | EnvironmentRefused, Scope.Scope> {
  const { id } = profile
  const located = yield* locate(profile, options.hostEnv)
  if (located._tag === "Missing") return yield* new AgentMissing({ agent: id, hint: located.hint })
  const refusal = modelServerRefusal(profile, options.modelServer)
  if (refusal !== undefined) return yield* new ProviderSetupFailed({ agent: id, reason: refusal })
  const isPrivate = options.home === "private" || options.modelServer !== undefined
  const home = isPrivate ? yield* privateHome(id, options) : undefined
  const parts = startParts(profile, { options, privateHome: home })
  if (home !== undefined) yield* writeFiles(id, home, Object.assign({}, ...parts.map((part) => part.files ?? {})))
  return {
    command: located.command,
    args: [...located.args, ...parts.flatMap((part) => part.args ?? [])],
    env: yield* Effect.fromResult(environment(options, home, parts)),
    cwd: options.cwd,
    ...(home === undefined || options.privateHome !== undefined ? {} : { home }),
    ...(profile.traits?.graces === undefined ? {} : { graces: profile.traits.graces })
  }
})

const modelServerRefusal = (profile: Profile, server: ModelServer | undefined): string | undefined => {
  if (server === undefined) return undefined
  if (profile.withModelServer === undefined) return "this agent cannot be given a model server"
  return URL.canParse(server.origin) ? undefined : "the origin of the model server is not a URL"
}

const startParts = (profile: Profile, start: Start): ReadonlyArray<StartPart> => {
  const { modelServer } = start.options
  return [
    profile.start?.(start) ?? {},
    modelServer === undefined ? {} : (profile.withModelServer?.(modelServer, start) ?? {}),
    modelServer === undefined ? {} : { env: withoutProxy(modelServer, start.options.hostEnv) }
  ]
}

/** A proxy of the host must not stand between the agent and a server on loopback. */
const withoutProxy = (server: ModelServer, host: HostEnvironment): Record<string, string> => {
  const names = [host["NO_PROXY"] ?? host["no_proxy"] ?? "", new URL(server.origin).hostname]
  const value = names.filter((name) => name !== "").join(",")
  return { NO_PROXY: value, no_proxy: value }
}

const environment = (options: LaunchOptions, home: string | undefined, parts: ReadonlyArray<StartPart>) =>
  composeEnvironment({
    host: { ...defaults, ...withoutUndefined(options.hostEnv) },
    inherit: [
      ...personal,
      ...(home === undefined ? [...userHome, ...parts.flatMap((part) => part.userEnv ?? [])] : [])
    ],
    credentials: [...(options.credentials ?? []), ...parts.flatMap((part) => part.credentials ?? [])],
    set: Object.assign({}, plain, home === undefined ? {} : homeVariables(home), ...parts.map((part) => part.env ?? {}))
  })

/** For a host that has none, such as a service. Without a UTF-8 locale agents print file names as question marks. */
const defaults = { PATH: "/usr/local/bin:/usr/bin:/bin", SHELL: "/bin/sh", LANG: "C.UTF-8" }

/** Who the user is, and their shell. Agents start shells by it. */
const personal = ["USER", "LOGNAME", "SHELL"]

const userHome = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"]

/** There is no terminal: what an agent prints is read by a program. */
const plain = { TERM: "dumb", NO_COLOR: "1" }

const withoutUndefined = (host: HostEnvironment): HostEnvironment =>
  Object.fromEntries(Object.entries(host).filter(([, value]) => value !== undefined))
