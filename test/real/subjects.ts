/** The agents that `npm run test:real` plays, how their models call their tools, and what they cannot do. */
import type { Backend } from "../../src/services/Os.ts"
import type { Tools } from "./cues.ts"
import type { CaseName } from "./cases.ts"

export interface Subject {
  readonly id: string
  /** `undefined`: the one that a user gets. */
  readonly backends: ReadonlyArray<Backend | undefined>
  /** `undefined`: it has no model and follows the prompt itself. */
  readonly tools: Tools | undefined
  /** One that is not the default. */
  readonly model: string
  /** Why `deny-all` is refused for it; its denials are then those of `ask` with nobody to ask. */
  readonly denyAllRefused?: string
  /** What the agent itself cannot do, and why. An entry that is not true any more is a failure too. */
  readonly cannot: Partial<Record<CaseName, string>>
}

const bash = (command: string) => ({ name: "bash", args: { command, description: "does what was asked" } })

const bundled: Subject = {
  id: "bundled",
  backends: [undefined],
  tools: undefined,
  model: "demo-lines",
  cannot: { "lets go of its model at a cancel": "it has no model" }
}

const copilot: Subject = {
  id: "copilot",
  backends: [undefined],
  tools: { run: bash, create: (path, line) => ({ name: "create", args: { path, file_text: `${line}\n` } }) },
  model: "gpt-4.1-mini",
  cannot: {
    "goes on behind a denial": "a rejected tool ends its turn, and its model never hears of it",
    "closes its tool calls at a cancel": "it answers the prompt and says nothing more of the call; we close it"
  }
}

const opencode: Subject = {
  id: "opencode",
  backends: [undefined],
  tools: { run: bash, create: (filePath, line) => ({ name: "write", args: { filePath, content: `${line}\n` } }) },
  model: "gpt-4.1-mini",
  cannot: {
    "goes on behind a denial": "a rejected tool ends its turn, and its model never hears of it"
  }
}

/** Its shell tool takes this text for a change of files, and asks as for one. */
const patch = (path: string, line: string) =>
  ["apply_patch <<'END'", "*** Begin Patch", `*** Add File: ${path}`, `+${line}`, "*** End Patch", "END"].join("\n")

const execCommand = (cmd: string) => ({ name: "exec_command", args: { cmd, yield_time_ms: 30_000 } })

const codex: Subject = {
  id: "codex",
  backends: ["namespace", "marked"],
  tools: { run: execCommand, create: (path, line) => execCommand(patch(path, line)) },
  model: "gpt-5.2",
  denyAllRefused: "it runs commands unasked that it takes for reading ones",
  cannot: {
    "ends at the end of its input": "it goes on reading for ever; SIGTERM ends it",
    "goes on behind a denial": "a rejected command cancels its turn, and its model never hears of it",
    "lets go of its model at a cancel": "it leaves the model's answer open until its process ends",
    "closes its tool calls at a cancel": "it answers the prompt and says nothing more of the call; we close it"
  }
}

export const subjects: ReadonlyArray<Subject> = [bundled, copilot, opencode, codex]
