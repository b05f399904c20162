/**
 * The answer of `initialize`: who the agent is and what it can do. A capability that is not advertised is `false`, and may
 * not be used. Source: ACP v1, initialization.
 */
import * as Schema from "effect/Schema"
import { flag, list, marker, maybe, record } from "./lenient.ts"

export const AgentCapabilities = record({
  loadSession: flag,
  promptCapabilities: record({ image: flag, audio: flag, embeddedContext: flag }),
  mcpCapabilities: record({ http: flag, sse: flag }),
  sessionCapabilities: record({
    list: marker,
    resume: marker,
    close: marker,
    delete: marker,
    fork: marker,
    additionalDirectories: marker
  }),
  auth: record({ logout: marker }),
  /** Extensions, as they came. */
  _meta: maybe(Schema.Unknown)
})
export type AgentCapabilities = typeof AgentCapabilities.Type

export const AuthMethod = Schema.Struct({
  id: Schema.String,
  name: maybe(Schema.String),
  description: maybe(Schema.String),
  /** `agent` when absent; else `terminal`, `env_var` or a word of the agent's own. */
  type: maybe(Schema.String)
})
export type AuthMethod = typeof AuthMethod.Type

export const InitializeResult = Schema.Struct({
  protocolVersion: Schema.Number,
  agentCapabilities: AgentCapabilities,
  agentInfo: maybe(Schema.Struct({ name: Schema.String, title: maybe(Schema.String), version: maybe(Schema.String) })),
  authMethods: list(AuthMethod),
  /** Extensions, as they came. */
  _meta: maybe(Schema.Unknown)
})
export type InitializeResult = typeof InitializeResult.Type
