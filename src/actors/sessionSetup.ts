/**
 * Opening a provider session on a connection: `session/new`, then the mode and model that were asked for.
 *
 * Guarantees: what was asked for is set or the open fails with what is available; nothing that the agent does not advertise is
 * called. Bounds: a quiet time, renewed by every frame, since some agents wait for slow MCP servers here.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { mcpServers } from "../schema/acp/mcpServers.ts"
import {
  agentMethods,
  type ConfigOption,
  type InitializeResult,
  NewSessionResult,
  rpcErrorCodes
} from "../schema/acp/protocol.ts"
import { AuthRequired, type McpServerRefused, SessionSetupTimeout, SettingRefused } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { Traits } from "../services/Provider.ts"
import type { AgentCalls, CallError } from "./agentCalls.ts"

export interface SetupOptions {
  readonly agent: string
  readonly cwd: string
  /** As the user gave them; checked here against what the agent takes. */
  readonly mcpServers: ReadonlyArray<unknown>
  readonly mode: string | undefined
  readonly model: string | undefined
  readonly traits: Pick<Traits, "dropsStdioMcp">
}

export interface SetupContext {
  readonly calls: AgentCalls
  readonly initialized: InitializeResult
  readonly lastFrameMs: () => number
  readonly stderrTail: () => ReadonlyArray<string>
  /** Called in the step that takes the answer, before any entry behind it. */
  readonly sessionKnown: (agentSessionId: string) => void
}

export type SetupError = CallError | AuthRequired | McpServerRefused | SessionSetupTimeout | SettingRefused

export const setUpSession = Effect.fnUntraced(function* (
  options: SetupOptions,
  context: SetupContext
): Effect.fn.Return<NewSessionResult, SetupError> {
  const { calls, initialized } = context
  const transports = { ...initialized.agentCapabilities.mcpCapabilities, stdio: options.traits.dropsStdioMcp !== true }
  const servers = yield* fromResult(mcpServers(options.mcpServers, transports))
  const params = { cwd: options.cwd, mcpServers: servers }
  const created = yield* calls
    .call(agentMethods.sessionNew, params, NewSessionResult, (result) => context.sessionKnown(result.sessionId))
    .pipe(
      withQuietLimit(
        agentMethods.sessionNew,
        servers.map((server) => server.name),
        context
      ),
      Effect.catchTag("AgentError", (error) =>
        Effect.fail(error.rpcCode === rpcErrorCodes.authRequired ? authRequired(options.agent, initialized) : error)
      )
    )
  if (options.mode !== undefined) yield* setMode(created, options.mode, context)
  if (options.model !== undefined) yield* setModel(created, options.model, context)
  return created
})

const authRequired = (agent: string, initialized: InitializeResult) =>
  new AuthRequired({ agent, methods: initialized.authMethods.map((method) => method.id) })

const fromResult = <A, E>(result: Result.Result<A, E>): Effect.Effect<A, E> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(result.failure)

const setMode = (created: NewSessionResult, name: string, context: SetupContext): Effect.Effect<void, SetupError> =>
  withQuietLimit(agentMethods.sessionSetMode, [], context)(callSetMode(created, name, context.calls))

/** Sets one of the modes that the agent names. Some name theirs by URI; the part behind the last `#` is what people say. */
export const callSetMode = (
  created: NewSessionResult,
  name: string,
  calls: AgentCalls
): Effect.Effect<void, CallError | SettingRefused> => {
  const available = created.modes?.availableModes.map((mode) => mode.id) ?? []
  const modeId = available.find((id) => id === name) ?? available.find((id) => id.endsWith(`#${name}`))
  if (modeId === undefined) return Effect.fail(new SettingRefused({ setting: "mode", value: name, available }))
  const params = { sessionId: created.sessionId, modeId }
  return Effect.asVoid(calls.call(agentMethods.sessionSetMode, params, Schema.Unknown))
}

const setModel = (created: NewSessionResult, model: string, context: SetupContext): Effect.Effect<void, SetupError> => {
  const option = created.configOptions.find((one) => one.category === "model")
  const available = option === undefined ? [] : valuesOf(option)
  if (option === undefined || !available.includes(model)) {
    return Effect.fail(new SettingRefused({ setting: "model", value: model, available }))
  }
  if (option.currentValue === model) return Effect.void
  const params = { sessionId: created.sessionId, configId: option.id, value: model }
  return withQuietLimit(
    agentMethods.sessionSetConfigOption,
    [],
    context
  )(Effect.asVoid(context.calls.call(agentMethods.sessionSetConfigOption, params, Schema.Unknown)))
}

const Value = Schema.Struct({ value: Schema.String })
const isValue = Schema.is(Value)
const isGroup = Schema.is(Schema.Struct({ options: Schema.Array(Schema.Unknown) }))

/** The values of a select, flat or grouped. */
const valuesOf = (option: ConfigOption): ReadonlyArray<string> => {
  const entries: ReadonlyArray<unknown> = Array.isArray(option.options) ? option.options : []
  return entries
    .flatMap((entry) => (isGroup(entry) ? entry.options : [entry]))
    .flatMap((entry) => (isValue(entry) ? [entry.value] : []))
}

/** Fails once no frame at all came from the agent for the quiet time. */
const withQuietLimit =
  (method: string, servers: ReadonlyArray<string>, context: SetupContext) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SessionSetupTimeout> =>
    Effect.gen(function* () {
      const begunMs = yield* Clock.currentTimeMillis
      return yield* Effect.raceFirst(effect, quiet(begunMs, method, servers, context))
    })

const quiet = Effect.fnUntraced(function* (
  begunMs: number,
  method: string,
  servers: ReadonlyArray<string>,
  context: SetupContext
): Effect.fn.Return<never, SessionSetupTimeout> {
  for (;;) {
    const now = yield* Clock.currentTimeMillis
    const left = Math.max(begunMs, context.lastFrameMs()) + limits.sessionSetupQuietMs - now
    if (left > 0) {
      yield* Effect.sleep(left)
      continue
    }
    return yield* new SessionSetupTimeout({
      method,
      quietMs: limits.sessionSetupQuietMs,
      mcpServers: servers,
      stderrTail: context.stderrTail()
    })
  }
})
