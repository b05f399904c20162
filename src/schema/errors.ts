/**
 * The one taxonomy of failures. Each is named for what happened, carries the facts an operator acts on and a stable `code`.
 * Provider text never stands in a message; where it is kept, it has a field of its own.
 */
import * as Schema from "effect/Schema"

/**
 * How a process ended; `Unknown` when nobody told us. `inferred`: told by a shell as a status above 128, which may also be a
 * plain exit code.
 */
export const ExitFact = Schema.Union([
  Schema.TaggedStruct("Code", { code: Schema.Int }),
  Schema.TaggedStruct("Signal", { signal: Schema.String, inferred: Schema.Boolean }),
  Schema.TaggedStruct("Unknown", { reason: Schema.String })
])
export type ExitFact = typeof ExitFact.Type

const StderrTail = Schema.Array(Schema.String)

// The actor kernel

/** The actor has stopped, or stopped before it got to this message. The message had no effect unless it had started. */
export class ActorStopped extends Schema.TaggedError<ActorStopped>()("ActorStopped", {
  code: Schema.tag("actor_stopped"),
  path: Schema.String
}) {}

/** The handler of this message died of a defect. Its effects up to there stand. */
export class ActorCrashed extends Schema.TaggedError<ActorCrashed>()("ActorCrashed", {
  code: Schema.tag("actor_crashed"),
  path: Schema.String,
  defect: Schema.String
}) {}

/** The mailbox has policy `reject` and is full. The message was not accepted. */
export class MailboxFull extends Schema.TaggedError<MailboxFull>()("MailboxFull", {
  code: Schema.tag("mailbox_full"),
  path: Schema.String,
  capacity: Schema.Number
}) {}

/** No reply within the deadline of the ask. A later reply is counted and never delivered. */
export class AskTimedOut extends Schema.TaggedError<AskTimedOut>()("AskTimedOut", {
  code: Schema.tag("ask_timed_out"),
  path: Schema.String,
  deadlineMs: Schema.Number
}) {}

/** The resource key is held by an actor that could not be proven released. */
export class ResourceUnreleased extends Schema.TaggedError<ResourceUnreleased>()("ResourceUnreleased", {
  code: Schema.tag("resource_unreleased"),
  resourceKey: Schema.String,
  path: Schema.String
}) {}

/** An invariant of ours does not hold. Always a defect, never a typed failure. */
export class InvariantViolated extends Schema.TaggedError<InvariantViolated>()("InvariantViolated", {
  code: Schema.tag("invariant_violated"),
  invariant: Schema.String,
  detail: Schema.String
}) {}

/** Dies with a typed defect when a condition of ours does not hold. */
export const invariant: (holds: boolean, name: string, detail?: string) => asserts holds = (
  holds,
  name,
  detail = ""
) => {
  if (!holds) throw new InvariantViolated({ invariant: name, detail })
}

// Processes

/** This platform cannot own processes (Windows), or this Node is too old. */
export class PlatformUnsupported extends Schema.TaggedError<PlatformUnsupported>()("PlatformUnsupported", {
  code: Schema.tag("platform_unsupported"),
  platform: Schema.String,
  reason: Schema.String
}) {}

/** The backend does not work on this machine, or failed at this launch. Nothing is left running. */
export class BackendUnavailable extends Schema.TaggedError<BackendUnavailable>()("BackendUnavailable", {
  code: Schema.tag("backend_unavailable"),
  backend: Schema.Literals(["namespace", "marked"]),
  reason: Schema.String
}) {}

/** The launch could not be written to the ledger, so nothing was started. */
export class LedgerUnwritable extends Schema.TaggedError<LedgerUnwritable>()("LedgerUnwritable", {
  code: Schema.tag("ledger_unwritable"),
  path: Schema.String,
  reason: Schema.String
}) {}

/** The command could not be started: not found, not executable, or gone with a status that says so before its first frame. */
export class LaunchFailed extends Schema.TaggedError<LaunchFailed>()("LaunchFailed", {
  code: Schema.tag("launch_failed"),
  command: Schema.String,
  reason: Schema.String,
  exit: Schema.optionalKey(ExitFact),
  stderrTail: Schema.optionalKey(StderrTail)
}) {}

/** The environment of a launch breaks a bound or names a variable that may not pass. */
export class EnvironmentRefused extends Schema.TaggedError<EnvironmentRefused>()("EnvironmentRefused", {
  code: Schema.tag("environment_refused"),
  variable: Schema.String,
  reason: Schema.String
}) {}

export type LaunchError =
  | LaunchFailed
  | BackendUnavailable
  | LedgerUnwritable
  | PlatformUnsupported
  | EnvironmentRefused

/** The agent closed its input (EPIPE) or the pipe failed. */
export class StdinClosed extends Schema.TaggedError<StdinClosed>()("StdinClosed", {
  code: Schema.tag("stdin_closed"),
  reason: Schema.String
}) {}

// Providers

/** The agent is not known, or not installed. `hint` says what to do about it. */
export class AgentMissing extends Schema.TaggedError<AgentMissing>()("AgentMissing", {
  code: Schema.tag("agent_missing"),
  agent: Schema.String,
  hint: Schema.String
}) {}

/** What the launch of the agent needs (a private home, its files, a model server) could not be prepared. */
export class ProviderSetupFailed extends Schema.TaggedError<ProviderSetupFailed>()("ProviderSetupFailed", {
  code: Schema.tag("provider_setup_failed"),
  agent: Schema.String,
  reason: Schema.String
}) {}

/** The agent could not be fetched. Nothing is left of the attempt. `detail` holds the words of npm, or what did not match. */
export class AgentInstallFailed extends Schema.TaggedError<AgentInstallFailed>()("AgentInstallFailed", {
  code: Schema.tag("agent_install_failed"),
  agent: Schema.String,
  package: Schema.String,
  reason: Schema.Literals([
    "npm_missing",
    "npm_failed",
    "package_not_found",
    "platform_unsupported",
    "registry_unreachable",
    "registry_refused",
    "timed_out",
    "executable_missing",
    "hash_mismatch",
    "cache_unwritable"
  ]),
  detail: Schema.String
}) {}

/** A command or a profile of the user does not hold. `path` names the place in it. */
export class ProfileInvalid extends Schema.TaggedError<ProfileInvalid>()("ProfileInvalid", {
  code: Schema.tag("profile_invalid"),
  file: Schema.String,
  path: Schema.String,
  reason: Schema.String
}) {}

/** The policy promises a gate that this agent does not have. Raised before any process exists. */
export class PolicyNotEnforceable extends Schema.TaggedError<PolicyNotEnforceable>()("PolicyNotEnforceable", {
  code: Schema.tag("policy_not_enforceable"),
  agent: Schema.String,
  policy: Schema.String,
  effects: Schema.Array(Schema.String)
}) {}

// Connections

/**
 * `initialize` was not answered in time. `framesSeen` 0 often means: started without its ACP flag; so do `noiseLines`, the lines
 * of its output that were no frames.
 */
export class HandshakeTimeout extends Schema.TaggedError<HandshakeTimeout>()("HandshakeTimeout", {
  code: Schema.tag("handshake_timeout"),
  method: Schema.String,
  deadlineMs: Schema.Number,
  framesSeen: Schema.Number,
  noiseLines: Schema.Number,
  stderrTail: StderrTail
}) {}

/** The agent speaks a protocol version that we do not. */
export class ProtocolVersionUnsupported extends Schema.TaggedError<ProtocolVersionUnsupported>()(
  "ProtocolVersionUnsupported",
  { code: Schema.tag("protocol_version_unsupported"), requested: Schema.Number, offered: Schema.String }
) {}

/** Why a connection is over. */
export const CloseReason = Schema.Literals([
  "exited",
  "output_ended",
  "stdin_closed",
  "write_timed_out",
  "oversized_response",
  "cancel_unacknowledged",
  "guard_violation",
  "retired",
  "crashed",
  "released"
])
export type CloseReason = typeof CloseReason.Type

/** The connection is over. Everything pending on it got this one cause. */
export class ConnectionClosed extends Schema.TaggedError<ConnectionClosed>()("ConnectionClosed", {
  code: Schema.tag("connection_closed"),
  reason: CloseReason,
  exit: Schema.optionalKey(ExitFact),
  stderrTail: StderrTail
}) {}

/** The frame would exceed the limit; nothing was written. */
export class FrameTooLarge extends Schema.TaggedError<FrameTooLarge>()("FrameTooLarge", {
  code: Schema.tag("frame_too_large"),
  bytes: Schema.Number,
  limitBytes: Schema.Number
}) {}

/** The agent answered with an error. Its words are kept as they came. */
export class AgentError extends Schema.TaggedError<AgentError>()("AgentError", {
  code: Schema.tag("agent_error"),
  method: Schema.String,
  rpcCode: Schema.Number,
  rpcMessage: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
}) {}

/** The agent's answer does not have the shape that the protocol demands. */
export class AnswerMalformed extends Schema.TaggedError<AnswerMalformed>()("AnswerMalformed", {
  code: Schema.tag("answer_malformed"),
  method: Schema.String,
  issue: Schema.String
}) {}

// Sessions and turns

/** The agent wants a login before it opens a session. `methods` are the ids of the ways it offers. */
export class AuthRequired extends Schema.TaggedError<AuthRequired>()("AuthRequired", {
  code: Schema.tag("auth_required"),
  agent: Schema.String,
  methods: Schema.Array(Schema.String)
}) {}

/** No frame of the agent for `quietMs` while `method` was open. `mcpServers` names what it may be waiting for. */
export class SessionSetupTimeout extends Schema.TaggedError<SessionSetupTimeout>()("SessionSetupTimeout", {
  code: Schema.tag("session_setup_timeout"),
  method: Schema.String,
  quietMs: Schema.Number,
  mcpServers: Schema.Array(Schema.String),
  stderrTail: StderrTail
}) {}

/** The session is closed, or its connection is over. */
export class SessionClosed extends Schema.TaggedError<SessionClosed>()("SessionClosed", {
  code: Schema.tag("session_closed"),
  sessionId: Schema.String
}) {}

/** The prompt was not accepted; nothing was written. */
export class PromptRefused extends Schema.TaggedError<PromptRefused>()("PromptRefused", {
  code: Schema.tag("prompt_refused"),
  reason: Schema.Literals([
    "empty",
    "image_unsupported",
    "embedded_unsupported",
    "too_large",
    "file_unreadable",
    "part_invalid",
    "queue_full",
    "duplicate_turn_id",
    "turn_id_invalid"
  ]),
  detail: Schema.String
}) {}

/** The agent does not advertise this, or has no such value. */
export class SettingRefused extends Schema.TaggedError<SettingRefused>()("SettingRefused", {
  code: Schema.tag("setting_refused"),
  setting: Schema.String,
  value: Schema.String,
  available: Schema.Array(Schema.String)
}) {}

/** An MCP server given by the user is not valid, or its transport is not advertised by the agent. */
export class McpServerRefused extends Schema.TaggedError<McpServerRefused>()("McpServerRefused", {
  code: Schema.tag("mcp_server_refused"),
  server: Schema.String,
  reason: Schema.String
}) {}

// Requests of the agent

/** The request does not have the shape that the protocol demands. It is answered with -32602. */
export class RequestMalformed extends Schema.TaggedError<RequestMalformed>()("RequestMalformed", {
  code: Schema.tag("request_malformed"),
  method: Schema.String,
  issue: Schema.String
}) {}

/** The answer changed nothing. */
export class AnswerRefused extends Schema.TaggedError<AnswerRefused>()("AnswerRefused", {
  code: Schema.tag("answer_refused"),
  requestId: Schema.String,
  reason: Schema.Literals(["stale", "already_answered", "unknown_request", "option_not_offered", "connection_dead"])
}) {}

// Events

/** Not an event of PRP v1. `issue` says where and why, without the value. */
export class EventInvalid extends Schema.TaggedError<EventInvalid>()("EventInvalid", {
  code: Schema.tag("event_invalid"),
  issue: Schema.String
}) {}

// The durable journal

/** The store could not do this. Of a commit that failed nothing is kept. */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", {
  code: Schema.tag("store_failed"),
  operation: Schema.Literals(["load", "commit", "read"]),
  reason: Schema.String
}) {}

/** The file is not used as a store. It is left as it was. */
export class StoreRefused extends Schema.TaggedError<StoreRefused>()("StoreRefused", {
  code: Schema.tag("store_refused"),
  path: Schema.String,
  reason: Schema.Literals(["locked", "newer", "corrupt", "foreign", "symlink", "not_private", "unusable"]),
  detail: Schema.String
}) {}

/** Events behind this cursor are gone; `oldest` is the first that is still there. */
export class CursorExpired extends Schema.TaggedError<CursorExpired>()("CursorExpired", {
  code: Schema.tag("cursor_expired"),
  after: Schema.Number,
  oldest: Schema.Number
}) {}

/** No event has this number yet. */
export class CursorBeyond extends Schema.TaggedError<CursorBeyond>()("CursorBeyond", {
  code: Schema.tag("cursor_beyond_produced"),
  after: Schema.Number,
  produced: Schema.Number
}) {}

/** The acknowledgement changed nothing. */
export class AcknowledgementRefused extends Schema.TaggedError<AcknowledgementRefused>()("AcknowledgementRefused", {
  code: Schema.Literals(["ack_backward", "ack_beyond_produced", "peer_unknown", "too_many_peers"]),
  peer: Schema.String,
  through: Schema.Number,
  acknowledged: Schema.Number,
  produced: Schema.Number
}) {}

const JournalFailure = Schema.Literals(["store_failed", "p0_storage_exhausted", "journal_closed"])

/** The journal keeps nothing any more until it is opened again. What it has said to be kept is kept. */
export class JournalFailed extends Schema.TaggedError<JournalFailed>()("JournalFailed", {
  code: JournalFailure,
  reason: Schema.String
}) {}

/** No new turn is taken at present: its events could not be kept. */
export class TurnsRefused extends Schema.TaggedError<TurnsRefused>()("TurnsRefused", {
  code: Schema.tag("turns_refused"),
  reason: Schema.Union([Schema.Literal("backpressure"), JournalFailure])
}) {}

// The PRP contract

/**
 * Not a value of the PRP contract. Each issue names a place and what was expected there, never the value: `path` is a JSON
 * Pointer in which a name that the contract does not know stands as its position, `(property 3)`.
 */
export class PrpRejected extends Schema.TaggedError<PrpRejected>()("PrpRejected", {
  code: Schema.Literals(["invalid_json", "schema_validation", "unsupported_required_version", "binding_mismatch"]),
  kind: Schema.String,
  issues: Schema.Array(Schema.Struct({ path: Schema.String, expectation: Schema.String }))
}) {}
export type PrpIssue = PrpRejected["issues"][number]

const VersionRange = Schema.Struct({ min: Schema.Number, max: Schema.Number })

/** The two sides have no version of the protocol in common. */
export class VersionsDisjoint extends Schema.TaggedError<VersionsDisjoint>()("VersionsDisjoint", {
  code: Schema.tag("versions_disjoint"),
  ours: VersionRange,
  theirs: VersionRange
}) {}

/** The value holds what JSON cannot say. `found` names the kind of it. */
export class NotJson extends Schema.TaggedError<NotJson>()("NotJson", {
  code: Schema.tag("not_json"),
  found: Schema.String
}) {}

/** The goal command may not be sent or carried out: the version has no goals, or the capability does not offer this. */
export class GoalCommandRefused extends Schema.TaggedError<GoalCommandRefused>()("GoalCommandRefused", {
  code: Schema.Literals(["session_goal_version_unsupported", "session_goal_action_unavailable"]),
  command: Schema.String,
  reason: Schema.String
}) {}

const Issues = Schema.Array(Schema.Struct({ path: Schema.String, expectation: Schema.String }))

/** A question set of the right shape that cannot be asked. The issues name places and expectations, never values. */
export class QuestionSetRefused extends Schema.TaggedError<QuestionSetRefused>()("QuestionSetRefused", {
  code: Schema.tag("question_set_refused"),
  issues: Issues
}) {}

/** A form of an agent that cannot be asked as it is. The issues name places in it or in the question set made of it. */
export class QuestionFormRefused extends Schema.TaggedError<QuestionFormRefused>()("QuestionFormRefused", {
  code: Schema.tag("question_form_refused"),
  issues: Issues
}) {}

/** The response does not answer its question set. The issues name places and expectations, never values. */
export class QuestionResponseRefused extends Schema.TaggedError<QuestionResponseRefused>()("QuestionResponseRefused", {
  code: Schema.tag("question_response_refused"),
  issues: Issues
}) {}

/** The resolution of a request of the agent changed nothing. `reason` never repeats a value of it. */
export class ResolutionRejected extends Schema.TaggedError<ResolutionRejected>()("ResolutionRejected", {
  code: Schema.Literals(["stale_turn", "already_terminal", "invalid_resolution"]),
  reason: Schema.String
}) {}

/** The command was not taken into the journal, and must not be carried out. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  code: Schema.Literals([
    "command_conflict",
    "controller_sequence_gap",
    "command_history_compacted",
    "command_history_full",
    "command_not_json"
  ]),
  commandId: Schema.String,
  controllerSeq: Schema.Number,
  expectedSeq: Schema.Number
}) {}

/** The outcome of a command was not written: no such command waits for one, or its result is no JSON or too large. */
export class CommandOutcomeRefused extends Schema.TaggedError<CommandOutcomeRefused>()("CommandOutcomeRefused", {
  code: Schema.Literals(["command_not_pending", "command_result_not_json", "command_result_too_large"]),
  commandId: Schema.String,
  limitBytes: Schema.Number
}) {}

// The transport

/** Nothing more can be exchanged with the other side. */
export class FrameChannelClosed extends Schema.TaggedError<FrameChannelClosed>()("FrameChannelClosed", {
  code: Schema.Literals(["channel_closed", "channel_failed", "channel_frame_too_large", "channel_not_text"]),
  reason: Schema.String
}) {}

/** Nothing listens at this address. What was there is left as it was. */
export class ListenRefused extends Schema.TaggedError<ListenRefused>()("ListenRefused", {
  code: Schema.tag("listen_refused"),
  address: Schema.String,
  reason: Schema.Literals(["path_too_long", "in_use", "foreign", "symlink", "not_private", "unusable"]),
  detail: Schema.String,
  limitBytes: Schema.optionalKey(Schema.Number)
}) {}

/** No connection to this address. `unauthorized`: the token is not good, or is of nobody. */
export class ConnectRefused extends Schema.TaggedError<ConnectRefused>()("ConnectRefused", {
  code: Schema.tag("connect_refused"),
  address: Schema.String,
  reason: Schema.Literals(["no_server", "not_allowed", "path_too_long", "timed_out", "unauthorized", "failed"]),
  detail: Schema.String
}) {}

/** The folder is not used for tokens, or cannot be. What is there is left as it was. */
export class TokenFolderUnusable extends Schema.TaggedError<TokenFolderUnusable>()("TokenFolderUnusable", {
  code: Schema.tag("token_folder_unusable"),
  path: Schema.String,
  reason: Schema.Literals(["symlink", "not_private", "unusable"]),
  detail: Schema.String
}) {}

/** No token was made. `limit` is the bound that was passed. */
export class TokenMintRefused extends Schema.TaggedError<TokenMintRefused>()("TokenMintRefused", {
  code: Schema.tag("token_mint_refused"),
  reason: Schema.Literals(["company_id_invalid", "run_id_invalid", "too_many_runs", "ttl_invalid", "too_many_tokens"]),
  limit: Schema.Number
}) {}

/** The text is no token that is good. Its bearer is not told why. */
export class TokenRefused extends Schema.TaggedError<TokenRefused>()("TokenRefused", {
  code: Schema.tag("token_refused"),
  reason: Schema.Literals(["malformed", "unknown", "expired"])
}) {}

/** The runner has ended our connection. `facts` belong to the code. */
export class RunnerRefused extends Schema.TaggedError<RunnerRefused>()("RunnerRefused", {
  code: Schema.String,
  reason: Schema.String,
  facts: Schema.Record(Schema.String, Schema.Unknown)
}) {}

/**
 * The connection was lost before the answer: nobody here knows whether the command was carried out. Sent again as it is, over
 * another connection, it is not carried out twice.
 */
export class CommandUnanswered extends Schema.TaggedError<CommandUnanswered>()("CommandUnanswered", {
  code: Schema.tag("command_unanswered"),
  runId: Schema.NullOr(Schema.String),
  command: Schema.Record(Schema.String, Schema.Unknown),
  /** The code of what ended the connection. */
  cause: Schema.String
}) {}

/** The runner closes the connection of a control plane and says why. `facts` belong to the code; nothing of another tenant. */
export class ControlPlaneRefused extends Schema.TaggedError<ControlPlaneRefused>()("ControlPlaneRefused", {
  code: Schema.Literals([
    "hello_timeout",
    "invalid_json",
    "schema_validation",
    "frame_too_large",
    "frame_not_text",
    "unexpected_frame",
    "versions_disjoint",
    "runner_instance_mismatch",
    "binding_mismatch",
    "too_many_peers",
    "peer_unknown",
    "ack_backward",
    "ack_beyond_produced",
    "cursor_expired",
    "cursor_beyond_produced",
    "subscriber_overloaded",
    "store_failed",
    "p0_storage_exhausted",
    "journal_closed",
    "authority_expired",
    "authority_revoked",
    "runner_stopped",
    "internal_error"
  ]),
  reason: Schema.String,
  facts: Schema.Record(Schema.String, Schema.Unknown)
}) {}

/** A command is not carried out, or could not be (`isTried`). `reason` never repeats a value of it. */
export class CommandRejected extends Schema.TaggedError<CommandRejected>()("CommandRejected", {
  code: Schema.String,
  reason: Schema.String,
  isTried: Schema.Boolean
}) {}

/** What somebody proposes as the result of a run is not taken. The issues name places and expectations, never values. */
export class ResultRefused extends Schema.TaggedError<ResultRefused>()("ResultRefused", {
  code: Schema.Literals(["run_unknown", "run_ended", "result_already_proposed", "result_invalid"]),
  runId: Schema.String,
  issues: Issues
}) {}

// The command

/** The command line cannot be obeyed; nothing was started. `reason` never repeats a secret. */
export class UsageInvalid extends Schema.TaggedError<UsageInvalid>()("UsageInvalid", {
  code: Schema.tag("usage_invalid"),
  option: Schema.String,
  reason: Schema.String
}) {}

/** Nobody reads this stream any more; with `systemCode` it could not be written, and something is lost that somebody wants. */
export class OutputClosed extends Schema.TaggedError<OutputClosed>()("OutputClosed", {
  code: Schema.tag("output_closed"),
  stream: Schema.Literals(["stdout", "stderr"]),
  systemCode: Schema.optionalKey(Schema.String)
}) {}
