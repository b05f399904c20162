/** What a host imports. */
export * as Greenroom from "./layers/Greenroom.ts"
export * as Actor from "./actors/kernel/Actor.ts"
export * as Registry from "./actors/kernel/Registry.ts"
export * as Supervisor from "./actors/kernel/Supervisor.ts"
export type { Ask, Tell } from "./actors/kernel/Message.ts"
export {
  type OpenedSession,
  type OpenError,
  type OpenOptions,
  type PromptHandle,
  type PromptOptions,
  Runner
} from "./actors/Runner.ts"
export type { Subscription } from "./actors/Journal.ts"
export { type ControlPlane, serveControlPlane } from "./actors/ControlConnection.ts"
export { DurableJournal } from "./actors/durableJournal.ts"
export { Runs, type RunsOptions } from "./actors/Runs.ts"
export * as RunnerClients from "./layers/RunnerClient.ts"
export * as memoryStore from "./layers/store/memory.ts"
export * as sqlite from "./layers/store/sqlite.ts"
export { serveStdio } from "./layers/transport/stdio.ts"
export { tokenFolder } from "./layers/transport/tokenFolder.ts"
export { serveUnixSocket } from "./layers/transport/unixSocket.ts"
export { serveWebSocket } from "./layers/transport/webSocket.ts"
export { catalogue, providerById } from "./layers/providers/catalogue.ts"
export { providerFromCommand } from "./layers/providers/command.ts"
export { readProfiles } from "./layers/providers/profileFile.ts"
export type { CleanupReport, Launch } from "./services/AgentLink.ts"
export type { FrameChannel } from "./services/FrameChannel.ts"
export * as Ids from "./services/Ids.ts"
export { JournalStore } from "./services/JournalStore.ts"
export { type TokenGrant, Tokens } from "./services/Tokens.ts"
export { Providers } from "./services/Providers.ts"
export {
  type CommandOptions,
  type ConnectOptions,
  RunnerClient,
  type RunnerConnection
} from "./services/RunnerClient.ts"
export { AgentLinks } from "./services/AgentLink.ts"
export type { Backend, ProcessExit, ProcessIdentity } from "./services/Os.ts"
export type { GateTrait, Located, Provider, Traits } from "./services/Provider.ts"
export * as errors from "./schema/errors.ts"
export { limits } from "./schema/limits.ts"
export type { PromptInput, PromptPart } from "./schema/acp/prompt.ts"
export type { Authority } from "./schema/authority.ts"
export type { CommandReply, RunStatus } from "./schema/run.ts"
export type { Event, EventDraft } from "./schema/prp/event.ts"
export { validateEvent } from "./schema/prp/event.ts"
export { decodePrp, decodePrpText } from "./schema/prp/contract/decode.ts"
export { type PrpKind, prpSchemas, type PrpValue } from "./schema/prp/contract/kinds.ts"
export type { PermissionPolicy, PermissionRequest, RequestAnswer } from "./schema/request.ts"
export type { TurnOutcome } from "./schema/turn.ts"
