/** A typed failure in words, with what a person can do about it. Words of the agent are shown as such. */
import type { ConnectionClosed, ExitFact } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { RunError } from "./exitCode.ts"
import { shownLine } from "./shownText.ts"

export const errorLines = (error: RunError): ReadonlyArray<string> => [
  ...wordsOf(error).map(shownLine),
  ...("stderrTail" in error ? (error.stderrTail ?? []) : [])
    .slice(-limits.shownOutputLinesMax)
    .map((line) => `stderr: ${shownLine(line)}`)
]

const wordsOf = (error: RunError): ReadonlyArray<string> => {
  switch (error._tag) {
    case "AgentMissing":
      return [`the agent ${error.agent} is missing`, error.hint]
    case "ProfileInvalid":
      return [`${error.file}${error.path === "" ? "" : ` at ${error.path}`}: ${error.reason}`]
    case "LaunchFailed":
      return [`could not start ${error.command}: ${error.reason}`]
    case "ProviderSetupFailed":
      return [`could not prepare the agent ${error.agent}: ${error.reason}`]
    case "PolicyNotEnforceable":
      return [
        `the policy ${error.policy} cannot be kept with ${error.agent}: it does not ask before it does this: ${error.effects.join(", ")}`,
        "no process was started; --policy approve-all promises nothing and works with every agent"
      ]
    case "BackendUnavailable":
      return [`the backend ${error.backend} does not work here: ${error.reason}`]
    case "LedgerUnwritable":
      return [`the ledger of processes cannot be written, so nothing was started: ${error.path}: ${error.reason}`]
    case "PlatformUnsupported":
      return [`${error.platform} is not supported: ${error.reason}`]
    case "EnvironmentRefused":
      return [`the environment variable ${error.variable} is refused: ${error.reason}`]
    case "HandshakeTimeout":
      return [
        `the agent did not answer ${error.method} within ${error.deadlineMs} ms`,
        ...(error.framesSeen === 0 ? [`${unheard(error.noiseLines)}: was it started without its ACP option?`] : [])
      ]
    case "ProtocolVersionUnsupported":
      return [`the agent speaks version ${error.offered} of the protocol, not ${error.requested}`]
    case "ConnectionClosed":
      return [closedText(error)]
    case "FrameTooLarge":
      return [`a message of ${error.bytes} bytes is too large, the limit is ${error.limitBytes}`]
    case "AgentError":
      return [`the agent refused ${error.method}: ${error.rpcMessage} (${error.rpcCode})`]
    case "AnswerMalformed":
      return [`the agent's answer to ${error.method} is not of the protocol's shape: ${error.issue}`]
    case "AuthRequired":
      return [
        `the agent ${error.agent} wants a login first; it offers: ${error.methods.length === 0 ? "nothing" : error.methods.join(", ")}`,
        "log in with the agent's own command, or pass a variable that holds its key with --credential NAME"
      ]
    case "SessionSetupTimeout":
      return [
        `the agent was silent for ${error.quietMs} ms during ${error.method}`,
        ...(error.mcpServers.length === 0 ? [] : [`it may wait for these MCP servers: ${error.mcpServers.join(", ")}`])
      ]
    case "SettingRefused":
      return [
        `the agent has no ${error.setting} ${error.value}; it has: ${error.available.length === 0 ? "none" : error.available.join(", ")}`
      ]
    case "McpServerRefused":
      return [`the MCP server ${error.server} is refused: ${error.reason}`]
    case "PromptRefused":
      return [`the prompt is refused (${error.reason}): ${error.detail}`]
    case "ResourceUnreleased":
      return [`${error.resourceKey} is held by ${error.path}, which could not be ended`]
    case "SessionClosed":
      return ["the session is over"]
    case "ActorCrashed":
      return [`a defect of greenroom: ${error.defect} (${error.path})`]
  }
}

/** An agent that ended by itself is no fault of the connection. */
const closedText = ({ exit, reason }: ConnectionClosed): string => {
  const how = exit === undefined ? "" : exitText(exit)
  return reason === "exited" || reason === "stdin_closed" || reason === "output_ended"
    ? `the agent ended in the middle of the conversation${how === "" ? ` (${reason})` : `: ${how}`}`
    : `the connection to the agent is over: ${reason}${how === "" ? "" : ` (${how})`}`
}

const exitText = (exit: ExitFact): string => {
  switch (exit._tag) {
    case "Code":
      return `exit code ${exit.code}`
    case "Signal":
      return `killed by ${exit.signal}`
    case "Unknown":
      return ""
  }
}

const unheard = (noiseLines: number): string =>
  noiseLines === 0 ? "it sent nothing at all" : `it sent ${noiseLines} lines that are no frames of ACP`
