/**
 * What a provider folder exports: how one kind of agent is found, started, watched and understood. Only `id`, `traits`,
 * `locate` and `launch` are required.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentMissing, ProviderSetupFailed } from "../schema/errors.ts"
import type { Launch } from "./AgentLink.ts"

/** Whether an agent asks before an effect. Data measured on the real agent, not a promise of its maker. */
export type GateTrait = "asks" | "silent" | "sandboxed" | "unknown"

export interface Traits {
  readonly gate: {
    readonly edit: GateTrait
    readonly execute: GateTrait
    readonly fetch: GateTrait
    readonly mcp: GateTrait
  }
  readonly graces?: { readonly eofMs?: number; readonly termMs?: number; readonly killMs?: number }
  /** Whether `toolCall.kind` of a permission request can be believed (needed by `approve-reads`). */
  readonly toolKindTrusted: boolean
  /** What the agent does with tool calls at cancel: closes them, or leaves them open. */
  readonly closesToolsOnCancel: boolean
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
  readonly modelServer: ModelServer | undefined
  /** The host's environment, from which the allow-list picks. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>
}

export interface Provider {
  readonly id: string
  readonly name: string
  readonly traits: Traits
  readonly locate: Effect.Effect<Located>
  /** Private folders and files it makes belong to the scope. */
  readonly launch: (options: LaunchOptions) => Effect.Effect<Launch, AgentMissing | ProviderSetupFailed, Scope.Scope>
}
