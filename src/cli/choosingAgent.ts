/** Which agents there are, and which one a run means: the built-in ones, the user's own, or a bare command. */
import * as Effect from "effect/Effect"
import { catalogue } from "../layers/providers/catalogue.ts"
import { providerFromCommand } from "../layers/providers/command.ts"
import { profileFilePath, readProfiles } from "../layers/providers/profileFile.ts"
import { AgentMissing, type ProfileInvalid } from "../schema/errors.ts"
import type { HostEnvironment, Provider } from "../services/Provider.ts"
import type { RunOptions } from "./runOptions.ts"

/** The built-in ones first. */
export const allAgents = Effect.fnUntraced(function* (
  host: HostEnvironment
): Effect.fn.Return<ReadonlyArray<Provider>, ProfileInvalid> {
  const builtIn = yield* Effect.forEach(catalogue, (entry) => entry.load)
  return [...builtIn, ...(yield* readProfiles(profileFilePath(host)))]
})

/** The user's file is read only when the agent is not built in. */
export const chosenAgent = Effect.fnUntraced(function* (
  { agent, agentCommand }: Pick<RunOptions, "agent" | "agentCommand">,
  host: HostEnvironment
): Effect.fn.Return<Provider, AgentMissing | ProfileInvalid> {
  if (agentCommand !== undefined) return yield* commandAgent(agentCommand, host)
  const id = agent ?? "bundled"
  const builtIn = catalogue.find((entry) => entry.id === id)
  if (builtIn !== undefined) return yield* builtIn.load
  const file = profileFilePath(host)
  const own = yield* readProfiles(file)
  const found = own.find((provider) => provider.id === id)
  if (found !== undefined) return found
  const known = [...catalogue, ...own].map((entry) => entry.id).join(", ")
  return yield* new AgentMissing({ agent: id, hint: `known agents: ${known}; add your own to ${file}` })
})

/** The agent is called by what the user typed; a relative path is none, for a workspace must not decide what is started. */
const commandAgent = Effect.fnUntraced(function* (command: string, host: HostEnvironment) {
  const provider = yield* Effect.fromResult(providerFromCommand(command))
  const located = yield* provider.locate(host)
  if (located._tag === "Found") return provider
  const hint = provider.name.includes("/")
    ? "the path in --agent-command must be absolute, of an executable file"
    : "--agent-command takes an executable on PATH, or an absolute path"
  return yield* new AgentMissing({ agent: provider.name, hint })
})
