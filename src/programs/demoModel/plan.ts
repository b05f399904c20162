/**
 * What the demo model says without a script: the same rules as the bundled agent (promptRules.ts), done with whatever shell tool
 * the request offers. Then, after the tool's result, one sentence.
 */
import { shellCommandOf, stepsOf } from "../promptRules.ts"
import type { Step } from "../promptRules.ts"
import { isRecord } from "./script.ts"
import type { ModelTurn } from "./script.ts"
import type { ModelRequest, ToolOffer } from "./wire.ts"

export const plannedTurn = (request: ModelRequest): ModelTurn => {
  if (request.toolResult !== undefined) return { text: `The shell said: ${shortened(request.toolResult)}` }
  const seen = request.images.map((image) => `image seen: ${image.type} ${image.bytes}\n`).join("")
  const steps = stepsOf(request.prompt)
  if (request.prompt === "") return { text: seen === "" ? "There is nothing to do." : seen.trimEnd() }
  if (steps.some((step) => step._tag === "Crash")) return { status: 500 }
  if (steps.some((step) => step._tag === "Wait")) return { text: `${seen}waiting`, hang: true }
  const said = steps.flatMap((step) => (step._tag === "Say" ? [step.text] : [])).join("\n")
  const command = steps.flatMap(commandOf).join(" && ")
  if (command === "") return { text: seen + said }
  const tool = shellToolOf(request.tools)
  if (tool === undefined) return { text: `${seen}There is no shell here. I would run: ${command}` }
  const text = `${seen}${said === "" ? "I run a command for this." : said}`
  return { text, calls: [{ name: tool.name, args: argumentsFor(tool, command, request.commandsUntrusted) }] }
}

const shortened = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, " ")
  return line.length <= 200 ? line : `${line.slice(0, 200)}…`
}

const commandOf = (step: Step): ReadonlyArray<string> => {
  if (step._tag === "Run") return [step.command]
  return step._tag === "Edit" ? [shellCommandOf(step)] : []
}

/** Names of shell tools in the field, in lower case. */
const shellTools = [
  "bash",
  "exec_command",
  "shell",
  "shell_command",
  "run_shell_command",
  "execute_command",
  "run_terminal_cmd"
]

const shellToolOf = (tools: ReadonlyArray<ToolOffer>): ToolOffer | undefined =>
  shellTools.flatMap((name) => tools.filter((tool) => tool.name.toLowerCase() === name))[0]

/** Values of the parameters that these tools have beside the command. One that is not offered is not given. */
const known: Readonly<Record<string, unknown>> = {
  description: "Does what the prompt asks for",
  mode: "sync",
  yield_time_ms: 10_000
}

/** Makes Codex ask its user. */
const escalation: Readonly<Record<string, unknown>> = {
  sandbox_permissions: "require_escalated",
  justification: "Do you want this command to run outside of the sandbox?"
}

const argumentsFor = (tool: ToolOffer, command: string, untrusted: boolean): Readonly<Record<string, unknown>> => {
  const offered = (key: string): boolean => Object.hasOwn(tool.parameters, key)
  if (untrusted && offered("cmd")) return { cmd: command }
  const key = offered("cmd") ? "cmd" : "command"
  const asList = typeOf(tool.parameters[key]) === "array"
  const args: Record<string, unknown> = { [key]: asList ? ["bash", "-lc", command] : command }
  for (const [name, value] of Object.entries({ ...known, ...escalation })) if (offered(name)) args[name] = value
  for (const name of tool.required) args[name] ??= emptyValues[typeOf(tool.parameters[name])] ?? ""
  return args
}

const typeOf = (schema: unknown): string => (isRecord(schema) ? String(schema["type"]) : "")

const emptyValues: Readonly<Record<string, unknown>> = { boolean: false, number: 0, integer: 0, array: [], object: {} }
