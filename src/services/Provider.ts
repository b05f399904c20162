/**
 * What a provider folder exports: how one kind of agent is found, fetched and started, and what is known of it. Only `id`,
 * `name`, `traits`, `locate` and `launch` are required.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentMissing, EnvironmentRefused, ProviderSetupFailed } from "../schema/errors.ts"
import type { Launch } from "./AgentLink.ts"

/** The host's environment as a value: a provider never reads it behind the caller's back. */
export type HostEnvironment = Readonly<Record<string, string | undefined>>

/** Whether an agent asks before an effect. Data measured on the real agent, not a promise of its maker. */
export type GateTrait = "asks" | "silent" | "sandboxed" | "unknown"

export interface Traits {
  readonly gate: {
    readonly edit: GateTrait
    readonly execute: GateTrait
    readonly fetch: GateTrait
    readonly mcp: GateTrait
  }
  /** Where the bounds of the house do not fit this agent. */
  readonly graces?: {
    readonly cancelMs?: number
    readonly eofMs?: number
    readonly termMs?: number
    readonly killMs?: number
  }
  /** Whether `toolCall.kind` of a permission request can be believed (needed by `approve-reads`). */
  readonly toolKindTrusted: boolean
  /** What is expected of the agent at a cancel: it closes its open tool calls, or leaves them open. Checked with the real
   * agent only; nothing depends on it, for whatever is left open is closed with the turn. */
  readonly closesToolsOnCancel: boolean
  /** The launch chooses the model, and the agent may not offer it as a setting of the session. */
  readonly modelAtLaunch?: boolean
  /** The agent drops MCP servers that are processes without a word, although the protocol demands them. */
  readonly dropsStdioMcp?: boolean
}

/** An npm package that holds the agent as one executable. In the name `{platform}` stands for e.g. `linux-x64`. */
export interface Distribution {
  readonly package: string
  readonly version: string
  /** Inside the package. */
  readonly executable: string
  /** SHA-256 of the executable by platform, where it was measured. */
  readonly sha256: Readonly<Record<string, string>>
}

export type Located =
  | {
      readonly _tag: "Found"
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly version: string | undefined
    }
  | { readonly _tag: "Missing"; readonly hint: string }

/** A model server on loopback in place of the provider's own. */
export interface ModelServer {
  /** Without a path, e.g. `http://127.0.0.1:4100`. */
  readonly origin: string
}

export interface LaunchOptions {
  readonly cwd: string
  readonly home: "user" | "private"
  readonly model: string | undefined
  /** Takes the place of the provider's own service. It makes the home private, so that no login of the user is at hand. */
  readonly modelServer: ModelServer | undefined
  /** The host's environment, from which the allow-list picks. */
  readonly hostEnv: HostEnvironment
  /** Names of variables of `hostEnv` that the user binds to this launch. Default: none. */
  readonly credentials?: ReadonlyArray<string>
  /** A private home that outlives the launch, for a session that is resumed. Default: a new one, deleted with the scope. */
  readonly privateHome?: string
}

export interface Provider {
  readonly id: string
  readonly name: string
  readonly traits: Traits
  /** Where the agent can be fetched from, if it can. */
  readonly distribution?: Distribution
  /** Looks, starts nothing. */
  readonly locate: (host: HostEnvironment) => Effect.Effect<Located>
  /** Private folders and files it makes belong to the scope. If interrupted they are deleted. A private home that it makes
   * is the `home` of the launch, so that it does not outlive a killed host. */
  readonly launch: (
    options: LaunchOptions
  ) => Effect.Effect<Launch, AgentMissing | ProviderSetupFailed | EnvironmentRefused, Scope.Scope>
}
