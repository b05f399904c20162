/**
 * The words and numbers of ACP version 1, and the one door to what we decode of it at the edges.
 *
 * Input is read leniently: unknown fields are ignored, unknown values kept, and only what a message cannot do without is
 * required. Updates are read elsewhere, by the projection; here only their address is.
 */
export * from "./initialize.ts"
export * from "./promptResult.ts"
export * from "./sessionSetup.ts"

export const protocolVersion = 1

/** What we ask of the agent, or tell it. */
export const agentMethods = {
  initialize: "initialize",
  authenticate: "authenticate",
  logout: "logout",
  sessionNew: "session/new",
  sessionLoad: "session/load",
  sessionResume: "session/resume",
  sessionList: "session/list",
  sessionClose: "session/close",
  sessionDelete: "session/delete",
  sessionSetMode: "session/set_mode",
  sessionSetConfigOption: "session/set_config_option",
  sessionPrompt: "session/prompt",
  sessionCancel: "session/cancel"
} as const

/** What the agent asks of us, or tells us. */
export const clientMethods = {
  sessionUpdate: "session/update",
  requestPermission: "session/request_permission",
  readTextFile: "fs/read_text_file",
  writeTextFile: "fs/write_text_file",
  terminalCreate: "terminal/create",
  terminalOutput: "terminal/output",
  terminalWaitForExit: "terminal/wait_for_exit",
  terminalKill: "terminal/kill",
  terminalRelease: "terminal/release",
  elicitationCreate: "elicitation/create",
  elicitationComplete: "elicitation/complete"
} as const

/** Either side withdraws a request of its own. Honouring it is optional. */
export const cancelRequestMethod = "$/cancel_request"

/** ACP has no codes for rate limits, overload or unknown models: agents use `internalError` and words of their own. */
export const rpcErrorCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
  authRequired: -32000,
  resourceNotFound: -32002
} as const

/** One update, whatever its kind. */
export interface SessionUpdate {
  readonly sessionUpdate: string
  readonly [field: string]: unknown
}

export interface SessionUpdateParams {
  readonly sessionId: string
  readonly update: SessionUpdate
}

/** The params of a `session/update` themselves, if they name a session and a kind; `undefined` if not. Nothing is copied. */
export const sessionUpdateOf = (params: unknown): SessionUpdateParams | undefined =>
  isSessionUpdate(params) ? params : undefined

const isSessionUpdate = (params: unknown): params is SessionUpdateParams => {
  if (typeof params !== "object" || params === null || !("sessionId" in params) || !("update" in params)) return false
  const { sessionId, update } = params
  return (
    typeof sessionId === "string" &&
    typeof update === "object" &&
    update !== null &&
    "sessionUpdate" in update &&
    typeof update.sessionUpdate === "string"
  )
}
