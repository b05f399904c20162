/** Which provider a runner drives, with which driver, and where that runs. Closed. */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { Name, nullableText, Revision } from "./primitives.ts"

const Version = textOf(1, limits.providerVersionCharactersMax)
const NullableName = nullableText(limits.nameCharactersMax)

const shared = {
  model: NullableName,
  providerVersion: Version,
  providerSessionId: Schema.optionalKey(NullableName)
}

const remoteService = { executionKind: Schema.Literal("remote_service"), processId: Schema.optionalKey(Schema.Null) }
const localProcess = {
  executionKind: Schema.Literal("local_process"),
  processId: Schema.optionalKey(Schema.NullOr(Revision))
}

const agentRuntime = {
  agentRuntimePackage: Schema.optionalKey(NullableName),
  agentRuntimeVersion: Schema.optionalKey(nullableText(limits.providerVersionCharactersMax))
}

/** What one provider demands; any other may have it, too. */
const agentCore = {
  endpointArn: textOf(1, limits.endpointArnCharactersMax),
  endpointQualifier: Name,
  memoryId: Name,
  eventExpiryDays: Schema.Literal(90)
}
const acpx = {
  agent: Schema.Literals(["pi", "claude", "codex"]),
  requestedModel: Name,
  acpProtocolVersion: Schema.Literal(1),
  agentServerPackage: Name,
  agentServerVersion: Version,
  acpxRecordId: NullableName,
  agentProcessId: Schema.NullOr(Revision)
}
const optional = { ...Struct.map(agentCore, Schema.optionalKey), ...Struct.map(acpx, Schema.optionalKey) }
const described = { ...shared, ...agentRuntime, ...optional }

export const CodexDescriptor = Schema.Struct({
  ...described,
  ...localProcess,
  provider: Schema.Literal("codex"),
  driver: Schema.Literal("codex_app_server")
})

export const OpencodeDescriptor = Schema.Struct({
  ...described,
  ...localProcess,
  provider: Schema.Literal("opencode"),
  driver: Schema.Literal("opencode_server")
})

export const AcpxDescriptor = Schema.Struct({
  ...described,
  ...localProcess,
  ...acpx,
  provider: Schema.Literal("acpx"),
  driver: Schema.Literal("acpx_runtime")
})

export const ClaudeManagedDescriptor = Schema.Struct({
  ...described,
  ...remoteService,
  provider: Schema.Literal("claude_managed"),
  driver: Schema.Literal("claude_managed_agents_api"),
  service: Schema.Literal("anthropic_managed_agents")
})

export const AgentCoreDescriptor = Schema.Struct({
  ...described,
  ...remoteService,
  ...agentCore,
  provider: Schema.Literal("aws_agentcore"),
  driver: Schema.Literal("aws_agentcore_harness_api"),
  service: Schema.Literal("aws_bedrock_agentcore_harness")
})

export const ProviderDescriptor = Schema.Union([
  CodexDescriptor,
  OpencodeDescriptor,
  AcpxDescriptor,
  ClaudeManagedDescriptor,
  AgentCoreDescriptor
]).annotate({ expected: "a provider with its driver and kind of execution" })
export type ProviderDescriptor = typeof ProviderDescriptor.Type
